//! Locks on devices, which all runs on this node respect, in this process and in others: two runs never change
//! one device at once.
//!
//! A lock is a locked file, which the system unlocks when its process ends, however it ends. It stands in
//! a folder of this user, so that it does not block runs of other users.

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

use nix::fcntl::OFlag;
use nix::unistd::{AccessFlags, Uid, access};
use tempfile::NamedTempFile;
use tokio::time::{Instant, interval, timeout};

use crate::inventory::DeviceKey;
use crate::job::{RunId, TargetJob};
use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;

/// What becomes of a run on a device that another run is changing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BusyPolicy {
    /// It fails at once.
    Refuse,
    /// It waits at most so long.
    Wait(Duration),
}

/// How long another run is waited for when nobody says.
pub(crate) const WAIT: Duration = Duration::from_secs(300);

/// How often one looks whether the other is done.
const LOOK: Duration = Duration::from_millis(500);

/// Where the members of a group keep the claims that they respect, if whoever has installed devgate has made it.
const SHARED: &str = "/run/devgate";

/// How many bytes a process's number has at most.
const LONGEST_OWNER: u64 = 32;

/// What stands for the number of a process that does not say it.
const UNKNOWN: &str = "unknown";

/// How often, and after which time, one who has locked a file is asked again who he is.
const ASKED: u32 = 5;
const MOMENT: Duration = Duration::from_millis(4);

/// How often it is told that one waits, in looks.
const TELL: u32 = 10;

impl Default for BusyPolicy {
    fn default() -> Self {
        Self::Wait(WAIT)
    }
}

impl FromStr for BusyPolicy {
    type Err = &'static str;

    /// `refuse`, `wait`, or `wait=SECONDS`.
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

/// The locks of this process. Targets of one run in one place share theirs: the pool lets them take turns.
#[derive(Debug, Default)]
pub(crate) struct DeviceLocks(RefCell<HashMap<(DeviceKey, RunId), Weak<DeviceLock>>>);

/// That no other run changes a device, in this process or in another, as long as it lives.
#[derive(Debug)]
pub(crate) struct DeviceLock(
    #[expect(dead_code, reason = "they are locked as long as they are open")] Vec<File>,
);

impl DeviceLocks {
    /// Locks the device of a job's target.
    ///
    /// # Errors
    /// Another run is changing it, or locks cannot be kept.
    pub(crate) async fn take(
        &self,
        job: &TargetJob<'_>,
        busy: BusyPolicy,
    ) -> Result<Rc<DeviceLock>, Failure> {
        let place = job.place();
        let key = (place, job.run.id);
        let unusable = |error: io::Error| {
            let message = format!("cannot see whether other runs change the device: {error}");
            Failure::new("devgate/cannot-claim", message)
        };
        let folders = folders().map_err(unusable)?;
        let name = format!("{place}.lock");
        let begun = Instant::now();
        let mut looks = interval(LOOK);
        for look in 0_u32.. {
            if let Some(ours) = self.0.borrow().get(&key).and_then(Weak::upgrade) {
                return Ok(ours);
            }
            let owner = match claimed(&folders, &name).await.map_err(unusable)? {
                Ok(claim) => {
                    let claim = Rc::new(claim);
                    let mut claims = self.0.borrow_mut();
                    claims.retain(|_, claim| claim.strong_count() > 0);
                    claims.insert(key, Rc::downgrade(&claim));
                    return Ok(claim);
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
            if look.is_multiple_of(TELL) {
                job.context().notice(format!(
                    "another run is changing the device (process {owner}): waiting for it, at most \
                     {} s",
                    limit.as_secs()
                ));
            }
            tokio::select! {
                _ = looks.tick() => {}
                () = job.stop().reaches(Stage::Finish) => return Err(job.interrupted(false)),
            }
        }
        unreachable!("a wait has an end")
    }
}

/// The same as [`claim`], but for who has locked a file a moment ago and has not said yet who he is: that is awaited,
/// for not long.
async fn claimed(folders: &[PathBuf], name: &str) -> io::Result<Result<DeviceLock, String>> {
    for _ in 0..ASKED {
        match claim(folders, name)? {
            Err(owner) if owner.is_empty() => drop(timeout(MOMENT, pending::<()>()).await),
            claimed => return Ok(claimed),
        }
    }
    let claimed = claim(folders, name)?;
    Ok(claimed.map_err(|owner| match owner.is_empty() {
        true => UNKNOWN.to_owned(),
        false => owner,
    }))
}

/// Locks a file in each of these folders and writes into it whose it is; or whose one is already, which is empty where
/// it does not say that yet.
fn claim(folders: &[PathBuf], name: &str) -> io::Result<Result<DeviceLock, String>> {
    let mut files = Vec::new();
    for folder in folders {
        match lock(&folder.join(name))? {
            Ok(file) => files.push(file),
            Err(owner) => return Ok(Err(owner)),
        }
    }
    Ok(Ok(DeviceLock(files)))
}

fn lock(path: &Path) -> io::Result<Result<File, String>> {
    let mut file = open(path).map_err(|error| {
        let message = format!("{}: {error}: remove it", path.display());
        io::Error::new(error.kind(), message)
    })?;
    let data = file.metadata()?;
    if !data.is_file() || data.nlink() != 1 {
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

/// Opens the file of a lock, which is made where it is not there: whole, so that nobody finds one that he may not open.
fn open(path: &Path) -> io::Result<File> {
    let there = || {
        File::options()
            .read(true)
            .write(true)
            // A lock is a file: no link is followed, and no pipe waited for.
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(path)
    };
    match there() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let made = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
            // Others of the folder's group are to see who has it, whatever our umask says.
            made.as_file()
                .set_permissions(Permissions::from_mode(0o660))?;
            match made.persist_noclobber(path) {
                Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error.error);
                }
                _ => {}
            }
            there()
        }
        opened => opened,
    }
}

/// The folders of claims: that of a group whose members change the same devices, where there is one, and this user's,
/// which nobody else can write in: runs of this user that are not of the group see that.
///
/// It does not depend on the environment, or a run of cron would not see what a run at a terminal claims. In a
/// folder that everybody can write in, somebody else may have taken its name: then all our runs find it
/// taken alike, and the next place is the same for all of them.
fn folders() -> io::Result<Vec<PathBuf>> {
    let shared = is_shared(Path::new(SHARED), Uid::from_raw(0)).then(|| PathBuf::from(SHARED));
    let own = Uid::effective();
    let private = folder_in(&places(own), &format!("devgate-{own}"))?;
    Ok(shared.into_iter().chain([private]).collect())
}

/// Whether a folder is one that a group shares, and we are in it: `owner` alone has made it, and nobody else may write
/// in it.
fn is_shared(folder: &Path, owner: Uid) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|data| {
        let of_group = data.is_dir()
            && data.uid() == owner.as_raw()
            && data.permissions().mode() & 0o2022 == 0o2020;
        of_group && access(folder, AccessFlags::W_OK).is_ok()
    })
}

/// Where claims may be kept, the best place first: root has one that nobody else can write in.
fn places(own: Uid) -> Vec<PathBuf> {
    let of_root = own.is_root().then(|| PathBuf::from("/run"));
    let of_user = PathBuf::from(format!("/run/user/{own}"));
    let common = ["/run/lock", "/var/lock", "/tmp"].map(PathBuf::from);
    let [lock, old, temporary] = common;
    let places = of_root.into_iter();
    places.chain([lock, of_user, old, temporary]).collect()
}

fn folder_in(places: &[PathBuf], name: &str) -> io::Result<PathBuf> {
    let mut problems = Vec::new();
    for place in places.iter().filter(|place| place.is_dir()) {
        match private_folder(place.join(name)) {
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
    let data = fs::symlink_metadata(&folder)?;
    let is_ours = data.is_dir()
        && data.uid() == Uid::effective().as_raw()
        && data.permissions().mode() & 0o022 == 0;
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
