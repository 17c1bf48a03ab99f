//! What brings a device back to where it was.

use async_trait::async_trait;
use devgate_schemas::Sensitive;
use devgate_transports::Context;

use crate::Result;

/// Brings a device back to where it was when a run began. Found by
/// [`Family::rollback`](crate::Family::rollback).
///
/// The mark is taken before the first change; then it is either gone back to, or left behind.
#[async_trait]
pub trait DeviceRollback: Send + Sync {
    /// Marks where the device is.
    ///
    /// # Errors
    /// Why it cannot be marked; nothing should be changed then.
    async fn begin(&self, ctx: &Context<'_>) -> Result<RestorePoint>;

    /// Goes back to the mark.
    ///
    /// # Errors
    /// [`Error::NotRestored`](crate::Error::NotRestored) with what still differs, or why the device
    /// cannot be asked.
    async fn restore(&self, ctx: &Context<'_>, mark: RestorePoint) -> Result<()>;

    /// Lets what was changed since the mark stand.
    ///
    /// # Errors
    /// Why the device does not keep it: it is to be [restored](Self::restore) then.
    async fn keep(&self, _: &Context<'_>, _: &RestorePoint) -> Result<()> {
        Ok(())
    }
}

/// Where a device was. A configuration holds passwords: a mark stays in memory and shows nothing.
#[derive(Clone, Debug)]
pub struct RestorePoint(pub(super) Sensitive<String>);

impl RestorePoint {
    /// The mark that a text makes: whatever its [`DeviceRollback`] needs to find the way back.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Sensitive::new(text.into()))
    }
}
