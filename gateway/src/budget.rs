//! How much this node allows at once: files, by a limit that is raised at the start and given back
//! to children.

use std::sync::OnceLock;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// What a program of ours finds that reads its limit: what we found.
static FOUND: OnceLock<Rlimit> = OnceLock::new();

/// Raises the limit of open files as far as that needs no permission.
pub(crate) fn raise() {
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
pub(crate) fn give_back(child: u32) {
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    if let (Some(found), Some(child)) = (FOUND.get(), child) {
        // One that has ended meanwhile needs it no more.
        let _ = prlimit(Some(child), Resource::Nofile, *found);
    }
}

/// How many files may be open.
pub(crate) fn files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    })
}
