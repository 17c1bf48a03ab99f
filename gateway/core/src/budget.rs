//! The resource limits of this node. The limit of open files is raised at the start, and restored for child processes.
//! Threads and memory are checked at the start.

use std::fs::{self, File};
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// The number of files that the runtime and one session need.
const MIN_FILES: usize = 16;

/// The address space in bytes that a thread and a session need in addition to that at the start.
const MIN_MEMORY: u64 = 64 << 20;

/// The limit of open files at the start of this process.
static ORIGINAL_LIMIT: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files to the hard limit.
pub fn raise() {
    let original = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: original.maximum,
        maximum: original.maximum,
    };
    if original.current != original.maximum && setrlimit(Resource::Nofile, raised).is_ok() {
        ORIGINAL_LIMIT.get_or_init(|| original);
    }
}

/// Restores the original limit for a child process: some programs close every possible file one by one.
pub fn restore_for(child: u32) {
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let (Some(original), Some(child)) = (ORIGINAL_LIMIT.get(), child) {
        // A child that has ended does not need it.
        let _ = prlimit(Some(child), Resource::Nofile, *original);
    }
}

/// The limit of open files.
pub fn files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    })
}

/// The runtime, with one permanent thread for blocking work, so that such work is always possible.
///
/// # Errors
/// The limits of this node are too low. Without this check, a library would panic.
pub fn runtime() -> Result<Runtime, Failure> {
    check_memory()?;
    check_files().map_err(|error| {
        let limit = files();
        no_resources(&format!(
            "cannot open {MIN_FILES} files ({error}), because the limit is {limit}: raise it (`ulimit -n`)"
        ))
    })?;
    let thread = thread::Builder::new().spawn(|| ());
    let thread = thread.map_err(|error| {
        no_resources(&format!(
            "cannot start a thread ({error}): this user has reached the limit of processes (`ulimit -u`, `pids.max` \
             of a container), or memory is low (`ulimit -v`)"
        ))
    })?;
    let _ = thread.join();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(Duration::MAX)
        .build()
        .map_err(|error| no_resources(&format!("cannot start the runtime: {error}")))?;
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}

fn check_files() -> io::Result<()> {
    let one = File::open("/dev/null")?;
    let more = (1..MIN_FILES).map(|_| one.try_clone());
    more.collect::<io::Result<Vec<File>>>().map(drop)
}

/// Checks the memory beforehand, because a failed allocation aborts the program.
fn check_memory() -> Result<(), Failure> {
    let Some(limit) = getrlimit(Resource::As).current else {
        return Ok(());
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kibibytes = size.and_then(|size| size.trim().strip_suffix(" kB"));
    let used = kibibytes.and_then(|size| size.trim().parse::<u64>().ok());
    let used = used.unwrap_or_default() << 10;
    if limit.saturating_sub(used) >= MIN_MEMORY {
        return Ok(());
    }
    let [limit, needed] = [limit, used + MIN_MEMORY].map(|bytes| bytes >> 10);
    Err(no_resources(&format!(
        "at least {needed} KiB of address space are needed, but the limit is {limit} KiB: raise it (`ulimit -v`)"
    )))
}

fn no_resources(problem: &str) -> Failure {
    Failure::new("devgate/no-resources", problem)
}
