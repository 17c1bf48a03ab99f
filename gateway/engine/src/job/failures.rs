//! Why work on a target gives no result of its own: it was stopped, or devgate has a bug.

use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;

/// That a target was not done with when somebody stopped the run.
pub(crate) fn interrupted(stop: &CancelToken, begun: bool) -> Failure {
    let done = if begun {
        "what was done is not known"
    } else {
        "nothing was done"
    };
    let message = format!("{}: {done}", stop.told());
    Failure::new("devgate/interrupted", message).with("begun", begun)
}

/// That the work on a target has met a mistake in devgate, which the other targets do not suffer
/// for.
pub fn panicked() -> Failure {
    let message = "this is an internal error of devgate: please report the message on stderr as a bug; what was done \
                   is not known";
    Failure::new("devgate/bug", message)
}
