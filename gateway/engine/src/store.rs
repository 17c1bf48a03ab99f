//! The data of targets that outlive a run: their facts, so that a device need not be asked again or may be down, and
//! the recorded states of audited resources.
//!
//! Nothing is stored unless it is requested, and secrets are masked as in all output. Stored data apply only to the
//! same project, the same target and the same way to reach it.

mod file_store;
#[cfg(test)]
mod memory_store;

use std::fmt::Debug;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use devgate_core::failure::Failure;
use devgate_transports::Environment;
use serde_json::{Value as Json, json};

use crate::inventory::Target;

pub use file_store::FileStore;
#[cfg(test)]
pub(crate) use memory_store::MemoryStore;

/// A kind of stored data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredKind {
    /// Facts of targets.
    Facts,
    /// The last known values of audited resources.
    Audits,
}

/// The key of stored data: project, target, transport, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreKey(Json);

/// The stored data of a target, and their time.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    pub(crate) data: Json,
    pub(crate) at: SystemTime,
}

/// A store.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Prepares the store for a kind.
    ///
    /// # Errors
    /// Fails when nothing of this kind can be stored.
    fn prepare(&self, kind: StoredKind) -> Result<(), Failure>;

    /// Returns the stored data of a target, however old they are.
    ///
    /// # Errors
    /// Fails when the data are damaged. The next call of [`save`](Self::save) replaces them.
    async fn load(&self, kind: StoredKind, key: &StoreKey) -> Result<Option<StoredValue>, String>;

    /// Stores data of a target, without secrets. They replace earlier ones.
    ///
    /// # Errors
    /// Fails when the data are too large, or cannot be written.
    async fn save(&self, kind: StoredKind, key: &StoreKey, value: StoredValue) -> io::Result<()>;

    /// Removes the oldest data of a kind, of any project, until their size is within the limit.
    async fn prune(&self, kind: StoredKind);
}

impl StoreKey {
    /// Creates the key of a target in the project of this folder. Another project or another device of this name has
    /// another key.
    pub(crate) fn of(project: &Path, target: &Target) -> Self {
        let info = target.connection_info();
        let option = |key: &str| info.get(key).map(devgate_schemas::Value::to_json);
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        Self(json!([
            project.display().to_string(),
            target.name,
            target.remote_transport(),
            option("host"),
            option("port"),
        ]))
    }
}

impl StoredValue {
    /// Creates data with the current time.
    pub fn now(data: Json) -> Self {
        let at = SystemTime::now();
        Self { data, at }
    }
}

/// Creates a folder that only its user can read, and its parents. An existing folder stays as it is.
///
/// # Errors
/// Fails when it cannot be created.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// Returns a folder of the XDG specification: the value of a variable, or the default below the home folder.
///
/// # Errors
/// Fails when neither is known.
pub fn xdg_folder(
    environment: &Environment,
    variable: &str,
    below_home: &str,
) -> Result<PathBuf, Failure> {
    let option = environment.variable(variable).map(PathBuf::from);
    // The specification requires that a relative path is ignored.
    let option = option.filter(|path| path.is_absolute());
    let xdg_folder = option.or_else(|| Some(environment.home()?.join(below_home)));
    xdg_folder.ok_or_else(|| {
        Failure::other(format!(
            "there is no folder to save data: set {variable}, or HOME"
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    pub(super) fn key(project: &str, name: &str) -> StoreKey {
        let mut target = Target::default();
        name.clone_into(&mut target.name);
        StoreKey::of(Path::new(project), &target)
    }

    #[tokio::test]
    async fn facts_are_stored_for_one_project_and_one_target() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let stores: [&dyn Store; 2] = [&FileStore::in_home(folder.path()), &MemoryStore::default()];
        for store in stores {
            let facts = json!({"os": {"name": "FRRouting"}});
            let r1 = key("/a", "r1");
            store.prepare(StoredKind::Facts)?;
            store
                .save(StoredKind::Facts, &r1, StoredValue::now(facts.clone()))
                .await?;
            let value = store
                .load(StoredKind::Facts, &r1)
                .await
                .expect("sound")
                .expect("kept");
            assert_eq!(value.data, facts);
            assert!(value.at.elapsed().expect("past") < Duration::from_secs(60));
            for other in [key("/a", "r2"), key("/b", "r1")] {
                assert_eq!(store.load(StoredKind::Facts, &other).await, Ok(None));
            }
            store.prepare(StoredKind::Audits)?;
            assert_eq!(store.load(StoredKind::Audits, &r1).await, Ok(None));
        }
        Ok(())
    }
}
