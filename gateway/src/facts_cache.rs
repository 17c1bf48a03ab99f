//! Facts that are kept on this node: so that a device need not be asked again, or cannot be.
//!
//! One file a target in `$XDG_CACHE_HOME/devgate/facts` (`~/.cache/devgate/facts`), which only its
//! user can read: written whole or not at all, masked like everything that is printed. Nothing is
//! kept unless somebody asks for it. What is there counts only for the same project, the same
//! target and the same way to reach it.

use std::cmp::Reverse;
use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::inventory::Target;

/// How large the facts of one target may be, in bytes.
const LARGEST: u64 = 4 << 20;

/// How large all that is kept may be, in bytes: then the oldest go.
const MOST: u64 = 256 << 20;

/// The form of the files; another is collected anew.
const VERSION: u32 = 1;

/// The facts that are kept for one project.
#[derive(Debug)]
pub(crate) struct FactsCache {
    folder: PathBuf,
    project: String,
}

/// Facts, and when the device told them.
#[derive(Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) facts: Json,
    pub(crate) at: SystemTime,
}

/// A file of the cache.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    /// Whose facts these are: project, target, transport, host and port.
    of: Json,
    /// Seconds since 1970, in UTC.
    at: u64,
    facts: Json,
}

impl FactsCache {
    /// The facts that are kept for the project in this folder.
    ///
    /// # Errors
    /// Nobody says where caches are, or the folder cannot be made.
    pub(crate) fn open(project: &Path) -> anyhow::Result<Self> {
        let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        // The XDG specification: a relative path is to be ignored.
        let caches = caches.filter(|path| path.is_absolute());
        let caches = caches.or_else(|| Some(std::env::home_dir()?.join(".cache")));
        let caches = caches.ok_or_else(|| {
            anyhow!("there is no place to keep facts: set XDG_CACHE_HOME, or HOME")
        })?;
        Self::at(caches.join("devgate/facts"), project)
    }

    fn at(folder: PathBuf, project: &Path) -> anyhow::Result<Self> {
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&folder);
        made.with_context(|| format!("cannot keep facts in {}", folder.display()))?;
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        Ok(Self {
            folder,
            project: project.display().to_string(),
        })
    }

    /// What is kept of a target, however old it is.
    ///
    /// # Errors
    /// What is wrong with its file; it will be written anew.
    pub(crate) fn kept(&self, target: &Target) -> Result<Option<Kept>, String> {
        let of = self.identity(target);
        let file = self.file(&of);
        let text = match read(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("cannot read {}: {error}", file.display())),
        };
        // Its errors may quote what stands there.
        let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
            return Err(format!("{} is damaged", file.display()));
        };
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(entry.at));
        // Facts of the future were collected by another clock: nobody knows how old they are.
        let at = at.filter(|at| *at <= SystemTime::now());
        Ok(at
            .filter(|_| entry.version == VERSION && entry.of == of && entry.facts.is_object())
            .map(|at| Kept {
                facts: entry.facts,
                at,
            }))
    }

    /// Keeps the facts of a target, without secrets, as told by it now.
    ///
    /// # Errors
    /// They are too large, or cannot be written.
    pub(crate) fn keep(&self, target: &Target, facts: &Json, at: SystemTime) -> io::Result<()> {
        let of = self.identity(target);
        let file = self.file(&of);
        let since = at
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let entry = Entry {
            version: VERSION,
            of,
            at: since.as_secs(),
            facts: facts.clone(),
        };
        let text = serde_json::to_vec(&entry)?;
        if text.len() as u64 > LARGEST {
            let message = format!("they are larger than {LARGEST} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        // A temporary file is its owner's alone, and so is what it becomes.
        let mut whole = tempfile::Builder::new()
            .prefix(".")
            .tempfile_in(&self.folder)?;
        whole.write_all(&text)?;
        whole.persist(file)?;
        Ok(())
    }

    /// Removes the oldest, of whatever project, until no more is kept than may be.
    pub(crate) fn prune(&self) {
        self.prune_to(MOST);
    }

    fn prune_to(&self, most: u64) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
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
            if size > most {
                // One that somebody else has removed meanwhile is gone as well.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Whose facts are meant: of another project, or of another device by this name, they are not.
    fn identity(&self, target: &Target) -> Json {
        let info = target.connection_info();
        let said = |key: &str| info.get(key).map(devgate_schemas::Value::to_json);
        json!([
            self.project,
            target.name,
            target.remote_transport(),
            said("host"),
            said("port"),
        ])
    }

    fn file(&self, of: &Json) -> PathBuf {
        let hash = Sha256::digest(of.to_string());
        let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(format!("{name}.json"))
    }
}

/// The bytes of a file that is no larger than one may be.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    fs::File::open(file)?.take(LARGEST).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn target(name: &str) -> Target {
        let mut target = Target::default();
        name.clone_into(&mut target.name);
        target
    }

    fn now() -> SystemTime {
        SystemTime::now()
    }

    #[test]
    fn facts_are_kept_for_one_project_and_one_target_alone() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = FactsCache::at(folder.path().join("facts"), Path::new("/a"))?;
        let other = FactsCache::at(folder.path().join("facts"), Path::new("/b"))?;
        let facts = json!({"os": {"name": "FRRouting"}});
        cache.keep(&target("r1"), &facts, now())?;
        let kept = cache.kept(&target("r1")).expect("sound").expect("kept");
        assert_eq!(kept.facts, facts);
        assert!(kept.at.elapsed()? < Duration::from_secs(60));
        assert_eq!(cache.kept(&target("r2")), Ok(None));
        assert_eq!(other.kept(&target("r1")), Ok(None));
        Ok(())
    }

    #[test]
    fn only_its_user_can_read_what_is_kept() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = FactsCache::at(folder.path().join("facts"), Path::new("/a"))?;
        cache.keep(&target("r1"), &json!({}), now())?;
        let mode = |path: &Path| fs::metadata(path).map(|m| m.permissions().mode() & 0o777);
        assert_eq!(mode(&cache.folder)?, 0o700);
        let files: Vec<PathBuf> = fs::read_dir(&cache.folder)?
            .flatten()
            .map(|entry| entry.path())
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(mode(&files[0])?, 0o600);
        Ok(())
    }

    #[test]
    fn a_damaged_file_is_told_and_not_quoted_and_the_future_is_not_believed() -> anyhow::Result<()>
    {
        let folder = tempfile::tempdir()?;
        let cache = FactsCache::at(folder.path().to_owned(), Path::new("/a"))?;
        let file = cache.file(&cache.identity(&target("r1")));
        fs::write(&file, "{\"version\": \"canary\"")?;
        let told = cache.kept(&target("r1")).expect_err("damaged");
        assert!(
            told.ends_with("is damaged") && !told.contains("canary"),
            "{told}"
        );
        cache.keep(&target("r1"), &json!({}), now() + Duration::from_secs(3600))?;
        assert_eq!(cache.kept(&target("r1")), Ok(None));
        Ok(())
    }

    #[test]
    fn the_oldest_go_when_there_is_too_much() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = FactsCache::at(folder.path().to_owned(), Path::new("/a"))?;
        for (age, name) in [(300, "r1"), (200, "r2"), (100, "r3")] {
            cache.keep(&target(name), &json!({"n": name}), now())?;
            let file = cache.file(&cache.identity(&target(name)));
            let old = now() - Duration::from_secs(age);
            fs::File::options()
                .write(true)
                .open(&file)?
                .set_modified(old)?;
        }
        let one = fs::metadata(cache.file(&cache.identity(&target("r1"))))?.len();
        cache.prune_to(2 * one + 1);
        let kept = |name| cache.kept(&target(name)).map(|kept| kept.is_some());
        assert_eq!(
            [kept("r1"), kept("r2"), kept("r3")],
            [Ok(false), Ok(true), Ok(true)]
        );
        let huge = json!({"x": "x".repeat(usize::try_from(LARGEST)?)});
        assert!(cache.keep(&target("r1"), &huge, now()).is_err());
        Ok(())
    }
}
