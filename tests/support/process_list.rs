//! The processes that the runs of a test start, as `ps` shows them: their command lines and environments.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::lab::pause;
use super::run::CANARY;

/// Repeatedly reads the command lines and environments of all processes that the runs start, as `ps` does.
pub(crate) struct ProcessList {
    stop: Arc<AtomicBool>,
    found: std::thread::JoinHandle<BTreeSet<String>>,
}

impl ProcessList {
    /// Starts to watch the descendants of this process, and orphaned processes with the project's folder in
    /// their environment.
    pub(crate) fn watch(project: &Path) -> Self {
        let project = project.to_owned();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let found = std::thread::spawn(move || {
            let mut found = BTreeSet::new();
            while !stopped.load(Ordering::SeqCst) {
                for process in fs::read_dir("/proc").expect("/proc is there").flatten() {
                    let name = process.file_name().to_string_lossy().into_owned();
                    let number = name.parse();
                    if number.is_ok_and(|number| is_ours(number) || belongs_to(number, &project)) {
                        found.extend(visible_secrets(&process.path()));
                    }
                }
                pause(Duration::from_millis(2));
            }
            found
        });
        Self { stop, found }
    }

    #[track_caller]
    pub(crate) fn assert_no_secret(self) {
        self.stop.store(true, Ordering::SeqCst);
        let leaks = self.found.join().expect("the watch does not panic");
        let leaks: Vec<_> = leaks.into_iter().collect();
        assert!(
            leaks.is_empty(),
            "the process list shows secrets:\n{}",
            leaks.join("\n")
        );
    }
}

/// Whether a process has the project's folder in its environment.
fn belongs_to(process: u32, project: &Path) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let project = project.as_os_str().as_encoded_bytes();
    environment
        .windows(project.len())
        .any(|part| part == project)
}

/// Whether this process is its ancestor: other processes on this machine may contain canaries, too.
fn is_ours(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name is in parentheses and may contain anything; the state and the parent follow.
    let parent = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.split(' ').nth(1));
    match parent.and_then(|parent| parent.parse().ok()) {
        None | Some(0) => false,
        Some(parent) => parent == std::process::id() || is_ours(parent),
    }
}

/// Returns the command line and the environment of a process if they contain a secret.
pub(crate) fn visible_secrets(process: &Path) -> Vec<String> {
    let files = ["cmdline", "environ"].into_iter();
    files
        .map(|file| {
            let text = fs::read(process.join(file)).unwrap_or_default();
            format!(
                "{file}: {}",
                String::from_utf8_lossy(&text).replace('\0', " ")
            )
        })
        .filter(|text| text.contains(CANARY))
        .collect()
}
