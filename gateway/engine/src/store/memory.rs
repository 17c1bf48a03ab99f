//! A store in memory, gone with its process.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use async_trait::async_trait;

use super::{Kept, Kind, Owner, Store};
use devgate_core::failure::Failure;
use devgate_core::lock::locked;

/// Keeps everything, as long as it lives.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<(Kind, Owner), Kept>>);

#[async_trait]
impl Store for Memory {
    fn prepare(&self, _: Kind) -> Result<(), Failure> {
        Ok(())
    }

    async fn kept(&self, kind: Kind, owner: &Owner) -> Result<Option<Kept>, String> {
        Ok(locked(&self.0).get(&(kind, owner.clone())).cloned())
    }

    async fn keep(&self, kind: Kind, owner: &Owner, kept: Kept) -> io::Result<()> {
        locked(&self.0).insert((kind, owner.clone()), kept);
        Ok(())
    }

    async fn prune(&self, _: Kind) {}
}
