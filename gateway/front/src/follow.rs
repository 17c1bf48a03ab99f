//! Following a run: its events are shown as they arrive, and signals cancel it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::cancel::{GRACE, Reason, Stage};
use devgate_core::events::{Event, RUN, Received};
use devgate_core::failure::Failure;
use devgate_core::redactor::Sink;
use devgate_core::results::counted;
use devgate_engine::run::{Run, RunSummary};
use devgate_schemas::Level;
use nix::sys::signal::Signal;
use tokio::time::interval;

use crate::command_context::CommandContext;
use crate::exit_status::ExitStatus;
use crate::logger::Logger;
use crate::signals::{self, SignalListener};

/// How often the progress display is updated.
const TICK: Duration = Duration::from_millis(250);

/// A view that shows the events of a run.
pub trait EventView {
    /// Shows an event.
    fn show(&mut self, event: &Event);
}

/// Does the work of a run, and passes its events to `show`. Each signal cancels the run.
///
/// # Errors
/// Signal handlers cannot be installed. Nothing has been done then.
pub async fn follow_with<T>(
    context: &CommandContext,
    run: &Run,
    show: &mut impl EventView,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    let cancel = |signal| {
        run.cancel(signals::reason(signal));
        context.engine.hurry();
        None
    };
    let listener = Some(SignalListener::listen()?);
    Ok(follow_until(context, run, show, work, listener, cancel).await)
}

/// Does the work of a run, and shows its events, until the run ends or `on_signal` returns a value for a signal.
pub async fn follow_until<T>(
    context: &CommandContext,
    run: &Run,
    show: &mut impl EventView,
    work: impl Future<Output = T>,
    mut listener: Option<SignalListener>,
    mut on_signal: impl FnMut(Signal) -> Option<T>,
) -> T {
    let mut events = run.events().follow(0);
    let mut ticks = interval(TICK);
    let queue = context.logger.queue();
    // A slow reader delays only the run. Timers and signals still work.
    queue.stop_blocking();
    let done = {
        let work = RUN.scope(Arc::clone(run.events()), work);
        let mut work = pin!(context.engine.drive(work));
        loop {
            let next = async {
                queue.wait_for_capacity().await;
                events.next().await
            };
            tokio::select! {
                Some(received) = next => {
                    show_event(received, show);
                    while queue.has_capacity() && let Some(received) = events.try_next() {
                        show_event(received, show);
                    }
                }
                done = &mut work => break done,
                Some(signal) = signals::next(listener.as_mut()) => {
                    queue.give_up_stuck();
                    if let Some(done) = on_signal(signal) {
                        break done;
                    }
                }
                _ = ticks.tick() => {
                    queue.give_up_stuck();
                    context.logger.tick();
                }
            }
        }
    };
    while let Some(received) = events.try_next() {
        show_event(received, show);
    }
    done
}

fn show_event(received: Received, show: &mut impl EventView) {
    // The run waits for this follower, so no event is missed.
    if let Received::Event(_, event) = received {
        show.show(&event);
    }
}

/// The exit status for a run.
pub fn exit_status(summary: &RunSummary) -> ExitStatus {
    match &summary.reason {
        Some(reason) => ExitStatus::Interrupted(signals::signal_of(reason)),
        None if summary.is_success() => ExitStatus::Success,
        None => ExitStatus::Failure,
    }
}

/// The name of the second request to stop, if there is no terminal.
pub const SIGNAL: &str = "signal";

/// Logs the events that are messages. `again` names the next request to stop.
pub fn log_event(logger: &Logger, event: &Event, again: &str) {
    match event {
        Event::Message(event) => logger.accept(event.clone()),
        Event::RetriesEnded { target } => logger.retries_ended(target),
        Event::Stopping {
            stage,
            message,
            running,
            is_held,
        } => logger.log(
            Level::Err,
            &stopping(*stage, message, *running, *is_held, again),
        ),
        Event::Begun { .. }
        | Event::Started { .. }
        | Event::Output { .. }
        | Event::Finished { .. }
        | Event::Ended { .. } => {}
    }
}

/// The error for a run that was interrupted.
pub fn interruption(reason: &Reason) -> Failure {
    let why = match reason {
        Reason::Signal(signal) => format!("the run was interrupted by {signal}"),
        Reason::Deadline(_) => format!("the run {reason}"),
        reason => format!("the run was {reason}"),
    };
    Failure::new("devgate/interrupted", why)
}

/// The message for the person who stops a run.
fn stopping(stage: Stage, reason: &str, targets: usize, is_held: bool, again: &str) -> String {
    let running = counted(targets);
    match stage {
        Stage::Go => "going on".to_owned(),
        Stage::Finish if targets == 0 => format!("{reason}: no new target starts"),
        Stage::Finish if is_held => format!(
            "{reason}: no new target starts, {running} may finish; changes in progress are completed, or undone if they \
             are part of a larger change, without a time limit; a second {again} leaves the device as it is then"
        ),
        Stage::Finish => format!(
            "{reason}: no new target starts, {running} may finish within {} seconds; a second {again} kills what is \
             still running",
            GRACE.as_secs()
        ),
        Stage::End => format!("{reason}: time is up, terminating {running}"),
        Stage::Kill => {
            format!(
                "{reason}: killing the processes of {running}; a third {again} exits without waiting"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_by_a_signal_does_not_mention_a_key() {
        for stage in [Stage::Finish, Stage::Kill] {
            for is_held in [false, true] {
                let message = |again| stopping(stage, "interrupted", 2, is_held, again);
                assert!(
                    message("Ctrl-C").contains("d Ctrl-C "),
                    "{}",
                    message("Ctrl-C")
                );
                assert!(message(SIGNAL).contains("d signal "), "{}", message(SIGNAL));
                assert!(!message(SIGNAL).contains("Ctrl-C"), "{}", message(SIGNAL));
            }
        }
    }
}
