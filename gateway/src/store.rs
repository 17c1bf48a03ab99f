//! What is kept on this node of targets: their facts, so that a device need not be asked again or
//! cannot be, and what was seen of resources that are audited.
//!
//! One file a target, which only its user can read: written whole or not at all, masked like
//! everything that is printed. Nothing is kept unless somebody asks for it. What is there counts only
//! for the same project, the same target and the same way to reach it.

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

/// How large what is kept of one target may be, in bytes.
const LARGEST: u64 = 4 << 20;

/// How large all facts that are kept may be, in bytes: then the oldest go.
const MOST: u64 = 256 << 20;

/// The form of the files; another does not count.
const VERSION: u32 = 1;

/// What is kept of one kind for one project.
#[derive(Debug)]
pub(crate) struct Store {
    folder: PathBuf,
    project: String,
}

/// What is kept of a target, and when it was so.
#[derive(Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) what: Json,
    pub(crate) at: SystemTime,
}

/// A file of the store.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    /// Whose this is: project, target, transport, host and port.
    of: Json,
    /// Seconds since 1970, in UTC.
    at: u64,
    what: Json,
}

impl Store {
    /// The facts that are kept for the project in this folder, in `$XDG_CACHE_HOME/devgate/facts`
    /// (`~/.cache/devgate/facts`).
    ///
    /// # Errors
    /// Nobody says where caches are, or the folder cannot be made.
    pub(crate) fn of_facts(project: &Path) -> anyhow::Result<Self> {
        Self::at(
            place("XDG_CACHE_HOME", ".cache")?.join("devgate/facts"),
            project,
        )
    }

    /// What was seen of audited resources, in `$XDG_STATE_HOME/devgate/audit`
    /// (`~/.local/state/devgate/audit`).
    ///
    /// # Errors
    /// Nobody says where state is kept, or the folder cannot be made.
    pub(crate) fn of_audits(project: &Path) -> anyhow::Result<Self> {
        let place = place("XDG_STATE_HOME", ".local/state")?;
        Self::at(place.join("devgate/audit"), project)
    }

    fn at(folder: PathBuf, project: &Path) -> anyhow::Result<Self> {
        let made = private_folder(&folder);
        made.with_context(|| format!("cannot keep anything in {}", folder.display()))?;
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
            .filter(|_| entry.version == VERSION && entry.of == of && entry.what.is_object())
            .map(|at| Kept {
                what: entry.what,
                at,
            }))
    }

    /// Keeps something of a target, without secrets, as it was at a time.
    ///
    /// # Errors
    /// They are too large, or cannot be written.
    pub(crate) fn keep(&self, target: &Target, what: &Json, at: SystemTime) -> io::Result<()> {
        let of = self.identity(target);
        let file = self.file(&of);
        let since = at
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let entry = Entry {
            version: VERSION,
            of,
            at: since.as_secs(),
            what: what.clone(),
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

    /// Who is meant: of another project, or of another device by this name, nothing is kept.
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
        let name = hexadecimal(Sha256::digest(of.to_string()));
        self.folder.join(format!("{name}.json"))
    }
}

/// Makes a folder that only its user can read, and those that it is in; one that is there stays as it is.
///
/// # Errors
/// It cannot be made.
pub(crate) fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

/// A digest in hexadecimal digits, as names of files have it.
pub(crate) fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let bytes = digest.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// A folder of the XDG specification: what the environment says, or else its place below HOME.
///
/// # Errors
/// Nobody says where.
pub(crate) fn place(variable: &str, below_home: &str) -> anyhow::Result<PathBuf> {
    let said = std::env::var_os(variable).map(PathBuf::from);
    // The specification: a relative path is to be ignored.
    let said = said.filter(|path| path.is_absolute());
    let place = said.or_else(|| Some(std::env::home_dir()?.join(below_home)));
    place.ok_or_else(|| anyhow!("there is no place to keep anything: set {variable}, or HOME"))
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
        let cache = Store::at(folder.path().join("facts"), Path::new("/a"))?;
        let other = Store::at(folder.path().join("facts"), Path::new("/b"))?;
        let facts = json!({"os": {"name": "FRRouting"}});
        cache.keep(&target("r1"), &facts, now())?;
        let kept = cache.kept(&target("r1")).expect("sound").expect("kept");
        assert_eq!(kept.what, facts);
        assert!(kept.at.elapsed()? < Duration::from_secs(60));
        assert_eq!(cache.kept(&target("r2")), Ok(None));
        assert_eq!(other.kept(&target("r1")), Ok(None));
        Ok(())
    }

    #[test]
    fn only_its_user_can_read_what_is_kept() -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let cache = Store::at(folder.path().join("facts"), Path::new("/a"))?;
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
        let cache = Store::at(folder.path().to_owned(), Path::new("/a"))?;
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
        let cache = Store::at(folder.path().to_owned(), Path::new("/a"))?;
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
