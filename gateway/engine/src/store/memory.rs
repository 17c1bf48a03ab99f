//! A store in memory that lives as long as its process.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;

use async_trait::async_trait;
use devgate_core::failure::Failure;
use devgate_core::lock::locked;

use super::{Store, StoreKey, StoredKind, StoredValue};

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<HashMap<(StoredKind, StoreKey), StoredValue>>);

#[async_trait]
impl Store for Memory {
    fn prepare(&self, _: StoredKind) -> Result<(), Failure> {
        Ok(())
    }

    async fn kept(
        &self,
        kind: StoredKind,
        owner: &StoreKey,
    ) -> Result<Option<StoredValue>, String> {
        Ok(locked(&self.0).get(&(kind, owner.clone())).cloned())
    }

    async fn keep(&self, kind: StoredKind, owner: &StoreKey, kept: StoredValue) -> io::Result<()> {
        locked(&self.0).insert((kind, owner.clone()), kept);
        Ok(())
    }

    async fn prune(&self, _: StoredKind) {}
}
