//! The rollback of a device, and its restore point.

use async_trait::async_trait;
use devgate_schemas::Sensitive;
use devgate_transports::Context;

use crate::Result;

/// Restores a device to its state from before a run. See
/// [`Family::rollback`](crate::Family::rollback).
///
/// A restore point is taken before the first change. At the end of the run it is either restored or dropped.
#[async_trait]
pub trait DeviceRollback: Send + Sync {
    /// Takes a restore point.
    ///
    /// # Errors
    /// Fails with the reason why none can be taken. Nothing should be changed then.
    async fn begin(&self, ctx: &Context<'_>) -> Result<RestorePoint>;

    /// Restores the device to the restore point.
    ///
    /// # Errors
    /// Fails with [`Error::NotRestored`](crate::Error::NotRestored) and the remaining differences, or when
    /// the device cannot be read.
    async fn restore(&self, ctx: &Context<'_>, restore_point: RestorePoint) -> Result<()>;

    /// Keeps the changes since the restore point.
    ///
    /// # Errors
    /// Fails when the device does not keep them. It must be [restored](Self::restore) then.
    async fn keep(&self, _: &Context<'_>, _: &RestorePoint) -> Result<()> {
        Ok(())
    }
}

/// The state of a device at one time. A configuration holds passwords, so a restore point stays in memory and
/// `Debug` shows nothing of it.
#[derive(Clone, Debug)]
pub struct RestorePoint(pub(super) Sensitive<String>);

impl RestorePoint {
    /// A restore point of a text, whose meaning only its [`DeviceRollback`] knows.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Sensitive::new(text.into()))
    }
}
