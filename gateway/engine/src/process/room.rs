//! Starts processes when there is room: if this node has too many processes or open files, the start is repeated.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use devgate_core::cancel::{CancelToken, Stage};
use nix::errno::Errno;
use tokio::process::Child;
use tokio::time::interval;

/// Counts one running process until it is dropped.
pub(super) struct Running;

/// The delay after a failed start.
const PAUSE: Duration = Duration::from_millis(50);

/// How many starts may fail while no child of ours runs.
const LONGEST_ALONE: u32 = 200;

/// How many starts may fail because the file is open for writing.
const LONGEST_WRITTEN: u32 = 20;

/// The number of our running children.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether the lack of room was reported.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Starts a process as soon as there is room for it.
///
/// The end of one of our children makes room. While none runs, other programs take the room, and then the number of
/// attempts is limited.
///
/// # Errors
/// Fails when the process cannot be started, or with `None` when the run is cancelled first.
pub(super) async fn wait(
    start: impl Fn() -> io::Result<Child>,
    stop: &CancelToken,
) -> Result<(Child, Running), Option<io::Error>> {
    let mut pause = interval(PAUSE);
    let (mut alone, mut written) = (0, 0);
    loop {
        let error = match start() {
            Ok(child) => {
                RUNNING.fetch_add(1, Ordering::Relaxed);
                return Ok((child, Running));
            }
            Err(error) => error,
        };
        alone += u32::from(RUNNING.load(Ordering::Relaxed) == 0);
        // Another thread still writes the file, or forked while it did. That is over in a moment.
        let is_written = error.kind() == io::ErrorKind::ExecutableFileBusy;
        written += u32::from(is_written);
        if !(is_scarce(&error) || is_written) || alone > LONGEST_ALONE || written > LONGEST_WRITTEN
        {
            return Err(Some(error));
        }
        if !is_written && !TOLD.swap(true, Ordering::Relaxed) {
            tracing::warn!("tasks wait for resources of this node: {error} (see `ulimit -a`)");
        }
        tokio::select! {
            _ = pause.tick() => {}
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

impl Drop for Running {
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
    async fn what_will_not_pass_is_told_at_once_and_scarcity_after_a_while() {
        let (tries, cancel_source) = (Cell::new(0), CancelSource::default());
        let failing = |error: Errno| {
            let tries = &tries;
            move || {
                tries.set(tries.get() + 1);
                Err(io::Error::from_raw_os_error(error as i32))
            }
        };
        assert!(matches!(
            wait(failing(Errno::ENOENT), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert_eq!(tries.take(), 1);
        assert!(matches!(
            wait(failing(Errno::EAGAIN), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert!(tries.take() > 100);
        assert!(matches!(
            wait(failing(Errno::ETXTBSY), &cancel_source.token()).await,
            Err(Some(_))
        ));
        assert_eq!(tries.take(), LONGEST_WRITTEN + 1);
        cancel_source.raise(Stage::Finish, None);
        assert!(matches!(
            wait(failing(Errno::EMFILE), &cancel_source.token()).await,
            Err(None)
        ));
    }
}
