//! How much this node allows at once: files, by a limit that is raised at the start and given back
//! to children; threads and memory, of which there must be enough to begin.

use std::fs::{self, File};
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};
use tokio::runtime::{Builder, Runtime};

use crate::failure::Failure;

/// How many files the runtime and one session need.
const FEWEST_FILES: usize = 16;

/// How many bytes of address space are needed behind what is taken at the start: those of a thread and of
/// a session.
const LEAST_MEMORY: u64 = 64 << 20;

/// What a program of ours finds that reads its limit: what we found.
static FOUND: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files as far as that needs no permission.
pub fn raise() {
    let found = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: found.maximum,
        maximum: found.maximum,
    };
    if found.current != found.maximum && setrlimit(Resource::Nofile, raised).is_ok() {
        FOUND.get_or_init(|| found);
    }
}

/// Gives a child the limit that this process was started with: some programs close as many files as
/// there might be, one by one.
pub fn give_back(child: u32) {
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let (Some(found), Some(child)) = (FOUND.get(), child) {
        // One that has ended meanwhile needs it no more.
        let _ = prlimit(Some(child), Resource::Nofile, *found);
    }
}

/// How many files may be open.
pub fn files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    })
}

/// What all work is done on, with one more thread for what blocks: it is there for good, so that such work
/// can always be done, if only one thing after the other.
///
/// # Errors
/// That this node does not allow what is needed: a library would panic where we look first.
pub fn runtime() -> Result<Runtime, Failure> {
    memory()?;
    enough_files().map_err(|error| {
        let most = files();
        short(&format!(
            "cannot open {FEWEST_FILES} files ({error}), because the limit is {most}: raise it (`ulimit -n`)"
        ))
    })?;
    let thread = thread::Builder::new().spawn(|| ());
    let thread = thread.map_err(|error| {
        short(&format!(
            "cannot start a thread ({error}): this user has reached the limit of processes (`ulimit -u`, `pids.max` \
             of a container), or memory is low (`ulimit -v`)"
        ))
    })?;
    let _ = thread.join();
    let runtime = Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(Duration::MAX)
        .build()
        .map_err(|error| short(&format!("cannot start the runtime: {error}")))?;
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}

fn enough_files() -> io::Result<()> {
    let one = File::open("/dev/null")?;
    let more = (1..FEWEST_FILES).map(|_| one.try_clone());
    more.collect::<io::Result<Vec<File>>>().map(drop)
}

/// Where memory is not to be had, a program is aborted: there must be some before it is asked for.
fn memory() -> Result<(), Failure> {
    let Some(limit) = getrlimit(Resource::As).current else {
        return Ok(());
    };
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kibibytes = size.and_then(|size| size.trim().strip_suffix(" kB"));
    let taken = kibibytes.and_then(|size| size.trim().parse::<u64>().ok());
    let taken = taken.unwrap_or_default() << 10;
    if limit.saturating_sub(taken) >= LEAST_MEMORY {
        return Ok(());
    }
    let [limit, least] = [limit, taken + LEAST_MEMORY].map(|bytes| bytes >> 10);
    Err(short(&format!(
        "at least {least} KiB of address space are needed, but the limit is {limit} KiB: raise it (`ulimit -v`)"
    )))
}

fn short(problem: &str) -> Failure {
    Failure::new("devgate/no-resources", problem)
}
