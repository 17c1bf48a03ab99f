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
pub(crate) struct MemoryStore(Mutex<HashMap<(StoredKind, StoreKey), StoredValue>>);

#[async_trait]
impl Store for MemoryStore {
    fn prepare(&self, _: StoredKind) -> Result<(), Failure> {
        Ok(())
    }

    async fn load(&self, kind: StoredKind, key: &StoreKey) -> Result<Option<StoredValue>, String> {
        Ok(locked(&self.0).get(&(kind, key.clone())).cloned())
    }

    async fn save(&self, kind: StoredKind, key: &StoreKey, value: StoredValue) -> io::Result<()> {
        locked(&self.0).insert((kind, key.clone()), value);
        Ok(())
    }

    async fn prune(&self, _: StoredKind) {}
}
