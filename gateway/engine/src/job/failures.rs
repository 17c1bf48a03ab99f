//! Failures of targets without a result of their own: the run was cancelled, or devgate has a bug.

use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;

/// Returns the failure of a target that was unfinished when the run was cancelled.
pub(crate) fn interrupted(stop: &CancelToken, begun: bool) -> Failure {
    let done = if begun {
        "what was done is not known"
    } else {
        "nothing was done"
    };
    let message = format!("{}: {done}", stop.message());
    Failure::new("devgate/interrupted", message).with("begun", begun)
}

/// Returns the failure of a target whose work panicked. A bug in devgate fails only this target; the others go on.
pub fn panicked() -> Failure {
    let message = "this is an internal error of devgate: please report the message on stderr as a bug; what was done \
                   is not known";
    Failure::new("devgate/bug", message)
}
