//! Locks on devices that all runs on this node respect, in this process and in others. Two runs never change one device
//! at once.
//!
//! A lock is a locked file. The system unlocks it when its process ends, however that happens. The file is in a folder
//! of this user, so that it does not block runs of other users.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::future::pending;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::str::FromStr;
use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use nix::fcntl::OFlag;
use nix::unistd::{AccessFlags, Uid, access};
use tempfile::NamedTempFile;
use tokio::time::{Instant, interval, timeout};

use crate::inventory::DeviceKey;
use crate::job::{RunId, TargetJob};

/// What a run does about a device that another run is changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyPolicy {
    /// Fails at once.
    Refuse,
    /// Waits for at most this time.
    Wait(Duration),
}

/// The default time to wait for another run.
pub(crate) const WAIT: Duration = Duration::from_secs(300);

/// How often a locked device is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The folder of locks that the members of a group share, if the installation has created it.
const SHARED: &str = "/run/devgate";

/// The longest process number, in bytes.
const LONGEST_OWNER: u64 = 32;

/// Stands for the number of a process that has not recorded it.
const UNKNOWN: &str = "unknown";

/// How often, and after which delay, the owner of a locked file is read again.
const OWNER_READS: u32 = 5;
const OWNER_READ_DELAY: Duration = Duration::from_millis(4);

/// After how many attempts the wait is reported again.
const REPORT_EVERY: u32 = 10;

impl Default for BusyPolicy {
    fn default() -> Self {
        Self::Wait(WAIT)
    }
}

impl FromStr for BusyPolicy {
    type Err = &'static str;

    /// Parses `refuse`, `wait`, or `wait=SECONDS`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=').unwrap_or((text, "")) {
            ("refuse", "") => Ok(Self::Refuse),
            ("wait", "") => Ok(Self::Wait(WAIT)),
            ("wait", seconds) => seconds
                .parse()
                .map(|seconds| Self::Wait(Duration::from_secs(seconds)))
                .map_err(|_| "expected a number of seconds after `wait=`"),
            _ => Err("expected `wait`, `wait=SECONDS` or `refuse`"),
        }
    }
}

/// The device locks of this process. The targets of a run on one device share a lock; the pool gives them turns.
#[derive(Debug, Default)]
pub(crate) struct DeviceLocks(RefCell<HashMap<(DeviceKey, RunId), Weak<DeviceLock>>>);

/// The lock of a device. While it lives, no other run changes the device, in this process or in another.
#[derive(Debug)]
pub(crate) struct DeviceLock(
    #[expect(dead_code, reason = "they are locked as long as they are open")] Vec<File>,
);

impl DeviceLocks {
    /// Locks the device of a job's target.
    ///
    /// # Errors
    /// Fails when another run is changing the device, or when the lock files cannot be used.
    pub(crate) async fn take(
        &self,
        job: &TargetJob<'_>,
        busy: BusyPolicy,
    ) -> Result<Rc<DeviceLock>, Failure> {
        let device_key = job.device_key();
        let key = (device_key, job.run.id);
        let unusable = |error: io::Error| {
            let message = format!("cannot see whether other runs change the device: {error}");
            Failure::new("devgate/cannot-claim", message)
        };
        let folders = folders().map_err(unusable)?;
        let name = format!("{device_key}.lock");
        let begun = Instant::now();
        let mut ticks = interval(RETRY_INTERVAL);
        for attempt in 0_u32.. {
            if let Some(ours) = self.0.borrow().get(&key).and_then(Weak::upgrade) {
                return Ok(ours);
            }
            let owner = match lock_files_or_read_owner(&folders, &name)
                .await
                .map_err(unusable)?
            {
                Ok(lock) => {
                    let lock = Rc::new(lock);
                    let mut locks = self.0.borrow_mut();
                    locks.retain(|_, lock| lock.strong_count() > 0);
                    locks.insert(key, Rc::downgrade(&lock));
                    return Ok(lock);
                }
                Err(owner) => owner,
            };
            let limit = match busy {
                BusyPolicy::Refuse => Duration::ZERO,
                BusyPolicy::Wait(limit) => limit,
            };
            if begun.elapsed() >= limit {
                let message = format!(
                    "another run is changing the device (process {owner}): nothing was done; \
                     `busy` of `wait=SECONDS` waits for it"
                );
                return Err(Failure::new("devgate/busy", message));
            }
            if attempt.is_multiple_of(REPORT_EVERY) {
                job.context().notice(format!(
                    "another run is changing the device (process {owner}): waiting for it, at most \
                     {} s",
                    limit.as_secs()
                ));
            }
            tokio::select! {
                _ = ticks.tick() => {}
                () = job.stop().reaches(Stage::Finish) => return Err(job.interrupted(false)),
            }
        }
        unreachable!("a wait has an end")
    }
}

/// Works as [`lock_files`], but waits a short time for an owner that has locked a file and has not recorded its number yet.
async fn lock_files_or_read_owner(
    folders: &[PathBuf],
    name: &str,
) -> io::Result<Result<DeviceLock, String>> {
    for _ in 0..OWNER_READS {
        match lock_files(folders, name)? {
            Err(owner) if owner.is_empty() => {
                drop(timeout(OWNER_READ_DELAY, pending::<()>()).await)
            }
            result => return Ok(result),
        }
    }
    let result = lock_files(folders, name)?;
    Ok(result.map_err(|owner| match owner.is_empty() {
        true => UNKNOWN.to_owned(),
        false => owner,
    }))
}

/// Locks a file in each of these folders and writes our number into it. If one of them is locked, returns its owner,
/// which is empty where it has not been recorded yet.
fn lock_files(folders: &[PathBuf], name: &str) -> io::Result<Result<DeviceLock, String>> {
    let mut files = Vec::new();
    for folder in folders {
        match lock_file(&folder.join(name))? {
            Ok(file) => files.push(file),
            Err(owner) => return Ok(Err(owner)),
        }
    }
    Ok(Ok(DeviceLock(files)))
}

fn lock_file(path: &Path) -> io::Result<Result<File, String>> {
    let mut file = open(path).map_err(|error| {
        let message = format!("{}: {error}: remove it", path.display());
        io::Error::new(error.kind(), message)
    })?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 {
        let message = format!("{} is not a plain file: remove it", path.display());
        return Err(io::Error::other(message));
    }
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())?;
            Ok(Ok(file))
        }
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            let read = file.take(LONGEST_OWNER).read_to_string(&mut owner);
            let is_number = owner.is_empty() || owner.parse::<u32>().is_ok();
            Ok(Err(if read.is_ok() && is_number {
                owner
            } else {
                UNKNOWN.to_owned()
            }))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a lock file. If there is none, it is created completely before it appears, so that nobody finds one without
/// the right permissions.
fn open(path: &Path) -> io::Result<File> {
    let open_existing = || {
        File::options()
            .read(true)
            .write(true)
            // A lock is a regular file: links are not followed, and a pipe does not block.
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(path)
    };
    match open_existing() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let created = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
            // Other members of the folder's group must see the owner, whatever our umask is.
            created
                .as_file()
                .set_permissions(Permissions::from_mode(0o660))?;
            match created.persist_noclobber(path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error.error);
                }
                _ => {}
            }
            open_existing()
        }
        opened => opened,
    }
}

/// Returns the folders of lock files: that of a group whose members change the same devices, if there is one, and this
/// user's own folder. Nobody else can write in the latter, and it is seen by runs of this user that are not in the
/// group.
///
/// The folders do not depend on the environment; otherwise a run of cron would not see the locks of a run at a
/// terminal. In a directory that everybody can write in, another user may have taken the name. All our runs then find
/// it taken, and all use the same next directory.
fn folders() -> io::Result<Vec<PathBuf>> {
    let shared = is_shared(Path::new(SHARED), Uid::from_raw(0)).then(|| PathBuf::from(SHARED));
    let own = Uid::effective();
    let private = folder_in(&base_folders(own), &format!("devgate-{own}"))?;
    Ok(shared.into_iter().chain([private]).collect())
}

/// Whether a folder is shared by a group that we are in: it belongs to `owner`, only its group may write in it, too,
/// and new files inherit the group.
fn is_shared(folder: &Path, owner: Uid) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|metadata| {
        let of_group = metadata.is_dir()
            && metadata.uid() == owner.as_raw()
            && metadata.permissions().mode() & 0o2022 == 0o2020;
        of_group && access(folder, AccessFlags::W_OK).is_ok()
    })
}

/// Returns the directories for lock files, the best first. Root has one that nobody else can write in.
fn base_folders(own: Uid) -> Vec<PathBuf> {
    let of_root = own.is_root().then(|| PathBuf::from("/run"));
    let of_user = PathBuf::from(format!("/run/user/{own}"));
    let common = ["/run/lock", "/var/lock", "/tmp"].map(PathBuf::from);
    let [lock, old, temporary] = common;
    let base_folders = of_root.into_iter();
    base_folders
        .chain([lock, of_user, old, temporary])
        .collect()
}

fn folder_in(base_folders: &[PathBuf], name: &str) -> io::Result<PathBuf> {
    let mut problems = Vec::new();
    for base in base_folders.iter().filter(|base| base.is_dir()) {
        match private_folder(base.join(name)) {
            Ok(folder) => return Ok(folder),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    Err(io::Error::other(problems.join("; ")))
}

fn private_folder(folder: PathBuf) -> io::Result<PathBuf> {
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            let message = format!("{}: {error}", folder.display());
            return Err(io::Error::new(error.kind(), message));
        }
        _ => {}
    }
    let metadata = fs::symlink_metadata(&folder)?;
    let is_ours = metadata.is_dir()
        && metadata.uid() == Uid::effective().as_raw()
        && metadata.permissions().mode() & 0o022 == 0;
    if is_ours {
        Ok(folder)
    } else {
        let message = format!(
            "{} exists, but is not a private folder of this user: remove it",
            folder.display()
        );
        Err(io::Error::other(message))
    }
}
