//! A store in files: one for each target, readable only by its user, and written atomically.

use std::cmp::Reverse;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use devgate_core::atomic_file;
use devgate_core::failure::Failure;
use devgate_core::hex::hexadecimal;
use devgate_transports::Environment;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::{Store, StoreKey, StoredKind, StoredValue, private_folder, xdg_folder};

/// The largest value of one target, in bytes.
const MAX_VALUE: u64 = 4 << 20;

/// The largest total of a kind, in bytes. Beyond it, the oldest values are removed.
const MAX_TOTAL: u64 = 256 << 20;

/// The version of the format. Files of another version are ignored.
const VERSION: u32 = 1;

/// Files in `$XDG_CACHE_HOME/devgate/facts` (`~/.cache/devgate/facts`) and `$XDG_STATE_HOME/devgate/audit`
/// (`~/.local/state/devgate/audit`).
#[derive(Debug)]
pub struct FileStore {
    environment: Arc<Environment>,
    /// The existing folders.
    facts: OnceLock<PathBuf>,
    audits: OnceLock<PathBuf>,
}

/// A file of the store.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    #[serde(rename = "of")]
    key: Json,
    /// Seconds since 1970, in UTC.
    at: u64,
    #[serde(rename = "what")]
    data: Json,
}

impl FileStore {
    /// Creates the store of the user in this environment.
    pub fn new(environment: Arc<Environment>) -> Self {
        Self {
            environment,
            facts: OnceLock::new(),
            audits: OnceLock::new(),
        }
    }

    /// Creates the store of a user with this home folder.
    #[cfg(test)]
    pub(super) fn in_home(home: &Path) -> Self {
        Self::new(Arc::new(Environment::new(Some(home.to_owned()), [])))
    }

    fn folder_cell(&self, kind: StoredKind) -> &OnceLock<PathBuf> {
        match kind {
            StoredKind::Facts => &self.facts,
            StoredKind::Audits => &self.audits,
        }
    }

    /// Returns the folder of a kind, and creates it if necessary.
    fn folder(&self, kind: StoredKind) -> Result<PathBuf, Failure> {
        let cell = self.folder_cell(kind);
        // It may have been removed since.
        if let Some(folder) = cell.get().filter(|folder| folder.is_dir()) {
            return Ok(folder.clone());
        }
        let (variable, below_home, name) = match kind {
            StoredKind::Facts => ("XDG_CACHE_HOME", ".cache", "devgate/facts"),
            StoredKind::Audits => ("XDG_STATE_HOME", ".local/state", "devgate/audit"),
        };
        let folder = xdg_folder(&self.environment, variable, below_home)?.join(name);
        private_folder(&folder).map_err(|error| {
            Failure::other(format!(
                "cannot save data in {}: {error}: set {variable} to a folder where you may write",
                folder.display()
            ))
        })?;
        Ok(cell.get_or_init(|| folder).clone())
    }
}

#[async_trait]
impl Store for FileStore {
    fn prepare(&self, kind: StoredKind) -> Result<(), Failure> {
        self.folder(kind).map(drop)
    }

    async fn load(&self, kind: StoredKind, key: &StoreKey) -> Result<Option<StoredValue>, String> {
        let folder = self.folder(kind).map_err(|error| format!("{error:#}"))?;
        let key = key.clone();
        run_blocking(move || read(&folder, &key)).await
    }

    async fn save(&self, kind: StoredKind, key: &StoreKey, value: StoredValue) -> io::Result<()> {
        let folder = self.folder(kind).map_err(io::Error::other)?;
        let key = key.clone();
        run_blocking(move || write(&folder, kind, key, value)).await
    }

    async fn prune(&self, kind: StoredKind) {
        if let Ok(folder) = self.folder(kind) {
            run_blocking(move || prune(&folder, MAX_TOTAL)).await;
        }
    }
}

/// Runs blocking file operations on another thread.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = spawn_blocking(work).await;
    done.expect("files do not panic")
}

fn read(folder: &Path, key: &StoreKey) -> Result<Option<StoredValue>, String> {
    let file = file(folder, key);
    let text = match text(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
    };
    // The parser's error may quote the contents.
    let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
        return Err(format!("{} is damaged", file.display()));
    };
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.at));
    // A time in the future comes from another clock, so that the age is unknown.
    let at = at.filter(|at| *at <= SystemTime::now());
    Ok(at
        .filter(|_| entry.version == VERSION && entry.key == key.0 && entry.data.is_object())
        .map(|at| StoredValue {
            data: entry.data,
            at,
        }))
}

fn write(folder: &Path, kind: StoredKind, key: StoreKey, value: StoredValue) -> io::Result<()> {
    let file = file(folder, &key);
    let since = value.at.duration_since(SystemTime::UNIX_EPOCH);
    let entry = Entry {
        version: VERSION,
        key: key.0,
        at: since.unwrap_or_default().as_secs(),
        data: value.data,
    };
    let text = serde_json::to_vec(&entry)?;
    if text.len() as u64 > MAX_VALUE {
        let message = format!("they are larger than {MAX_VALUE} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    match kind {
        // Facts can be collected again.
        StoredKind::Facts => atomic_file::replace(&file, &text, atomic_file::OWNER),
        StoredKind::Audits => atomic_file::write(&file, &text),
    }
}

fn prune(folder: &Path, limit: u64) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort_by_key(|(modified, _, _)| Reverse(*modified));
    let mut size = 0;
    for (_, length, path) in files {
        size += length;
        if size > limit {
            // A file that was removed meanwhile is no problem.
            let _ = fs::remove_file(path);
        }
    }
}

fn file(folder: &Path, key: &StoreKey) -> PathBuf {
    let name = hexadecimal(Sha256::digest(key.0.to_string()));
    folder.join(format!("{name}.json"))
}

/// Reads a file up to the largest size.
fn text(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(file)?
        .take(MAX_VALUE)
        .read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::super::tests::key;
    use super::*;

    #[tokio::test]
    async fn only_the_user_can_read_stored_data() -> Result<(), Failure> {
        let home = tempfile::tempdir()?;
        let store = FileStore::in_home(home.path());
        let value = StoredValue::now(json!({}));
        store
            .save(StoredKind::Facts, &key("/a", "r1"), value)
            .await?;
        let mode = |path: &Path| fs::metadata(path).map(|m| m.permissions().mode() & 0o777);
        let folder = store.folder(StoredKind::Facts)?;
        assert_eq!(mode(&folder)?, 0o700);
        let files: Vec<PathBuf> = fs::read_dir(&folder)?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(mode(&files[0])?, 0o600);
        Ok(())
    }

    #[test]
    fn without_a_home_the_message_names_the_variables() {
        let store = FileStore::new(Arc::default());
        let message = store
            .prepare(StoredKind::Facts)
            .expect_err("nowhere")
            .to_string();
        assert!(message.contains("set XDG_CACHE_HOME, or HOME"), "{message}");
    }

    #[test]
    fn a_damaged_file_is_reported_without_a_quote_and_a_future_time_is_ignored()
    -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        let r1 = key("/a", "r1");
        fs::write(file(folder, &r1), "{\"version\": \"canary\"")?;
        let message = read(folder, &r1).expect_err("damaged");
        assert!(
            message.ends_with("is damaged") && !message.contains("canary"),
            "{message}"
        );
        let at = SystemTime::now() + Duration::from_secs(3600);
        write(
            folder,
            StoredKind::Facts,
            r1.clone(),
            StoredValue {
                at,
                data: json!({}),
            },
        )?;
        assert_eq!(read(folder, &r1), Ok(None));
        Ok(())
    }

    #[test]
    fn the_oldest_values_are_removed_beyond_the_limit() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        for (age, name) in [(300, "r1"), (200, "r2"), (100, "r3")] {
            let key = key("/a", name);
            write(
                folder,
                StoredKind::Facts,
                key.clone(),
                StoredValue::now(json!({"n": name})),
            )?;
            let old = SystemTime::now() - Duration::from_secs(age);
            fs::File::options()
                .write(true)
                .open(file(folder, &key))?
                .set_modified(old)?;
        }
        let one = fs::metadata(file(folder, &key("/a", "r1")))?.len();
        prune(folder, 2 * one + 1);
        let load = |name| read(folder, &key("/a", name)).map(|value| value.is_some());
        assert_eq!(
            [load("r1"), load("r2"), load("r3")],
            [Ok(false), Ok(true), Ok(true)]
        );
        let huge = json!({"x": "x".repeat(usize::try_from(MAX_VALUE).expect("it fits"))});
        assert!(
            write(
                folder,
                StoredKind::Facts,
                key("/a", "r1"),
                StoredValue::now(huge)
            )
            .is_err()
        );
        Ok(())
    }
}
