//! Starts processes, and repeats the start while this node has too many processes or open files.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use devgate_core::cancel::{CancelToken, Stage};
use nix::errno::Errno;
use tokio::process::Child;
use tokio::time::interval;

/// Counts one running process until it is dropped.
pub(super) struct RunningCount;

/// The delay after a failed start.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// How many starts may fail while no child of ours runs.
const MAX_FAILURES_ALONE: u32 = 200;

/// How many starts may fail because the file is open for writing.
const MAX_FAILURES_BUSY: u32 = 20;

/// The number of our running children.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether the lack of resources was reported.
static IS_REPORTED: AtomicBool = AtomicBool::new(false);

/// Starts a process as soon as the resources allow it.
///
/// The end of one of our children frees resources. While none runs, other programs use them, and then the number of
/// attempts is limited.
///
/// # Errors
/// Fails when the process cannot be started, or with `None` when the run is cancelled first.
pub(super) async fn start(
    spawn: impl Fn() -> io::Result<Child>,
    stop: &CancelToken,
) -> Result<(Child, RunningCount), Option<io::Error>> {
    let mut retry = interval(RETRY_INTERVAL);
    let (mut alone, mut busy) = (0, 0);
    loop {
        let error = match spawn() {
            Ok(child) => {
                RUNNING.fetch_add(1, Ordering::Relaxed);
                return Ok((child, RunningCount));
            }
            Err(error) => error,
        };
        alone += u32::from(RUNNING.load(Ordering::Relaxed) == 0);
        // Another thread still writes the file, or forked while it did. That is over in a moment.
        let is_busy = error.kind() == io::ErrorKind::ExecutableFileBusy;
        busy += u32::from(is_busy);
        if !(is_scarce(&error) || is_busy) || alone > MAX_FAILURES_ALONE || busy > MAX_FAILURES_BUSY
        {
            return Err(Some(error));
        }
        if !is_busy && !IS_REPORTED.swap(true, Ordering::Relaxed) {
            tracing::warn!("tasks wait for resources of this node: {error} (see `ulimit -a`)");
        }
        tokio::select! {
            _ = retry.tick() => {}
            () = stop.reaches(Stage::Finish) => return Err(None),
        }
    }
}

/// Whether there are too many processes or files at the moment.
fn is_scarce(error: &io::Error) -> bool {
    let error = Errno::from_raw(error.raw_os_error().unwrap_or_default());
    matches!(
        error,
        Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE
    )
}

impl Drop for RunningCount {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use devgate_core::cancel::CancelSource;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn permanent_errors_are_reported_at_once_and_scarcity_after_a_while() {
        let (attempts, cancel_source) = (Cell::new(0), CancelSource::default());
        let failing = |error: Errno| {
            let attempts = &attempts;
            move || {
                attempts.set(attempts.get() + 1);
                Err(io::Error::from_raw_os_error(error as i32))
            }
        };
        assert!(matches!(
            start(failing(Errno::ENOENT), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert_eq!(attempts.take(), 1);
        assert!(matches!(
            start(failing(Errno::EAGAIN), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert!(attempts.take() > 100);
        assert!(matches!(
            start(failing(Errno::ETXTBSY), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert_eq!(attempts.take(), MAX_FAILURES_BUSY + 1);
        cancel_source.raise(Stage::Finish, None);
        assert!(matches!(
            start(failing(Errno::EMFILE), &cancel_source.token()).await,
            Err(None)
        ));
    }
}
