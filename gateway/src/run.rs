//! One thing asked of many targets at once: bounded, with progress, and stopped by Ctrl-C.

use std::cell::Cell;
use std::future::ready;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use devgate_schemas::{Level, Value};
use devgate_transports::{Context, Patience};
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value as Json, json};
use tokio::time::interval;

use crate::cli::{Ending, Setting};
use crate::failure::Failure;
use crate::interrupt::{self, GRACE, Interrupts};
use crate::inventory::Target;
use crate::output::Output;
use crate::results::{Action, Answer, Results, Status, counted};
use crate::stop::{Stage, Stop, Stopper};
use crate::voice::Listener;

/// How often it is shown that time passes.
const TICK: Duration = Duration::from_millis(250);

/// One target's part of a run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The target.
    pub(crate) target: &'a Target,
    listener: Listener<'a>,
    patience: Patience,
    stop: Stop,
}

/// How a run went.
#[derive(Debug)]
pub(crate) struct Ran {
    /// As a whole.
    pub(crate) ending: Ending,
    /// On each target.
    pub(crate) statuses: Vec<(String, Status)>,
}

impl Ran {
    /// How a run went that nobody has stopped.
    pub(crate) fn new(statuses: Vec<(String, Status)>) -> Self {
        let well = |(_, status): &(String, Status)| *status == Status::Success;
        let ending = if statuses.iter().all(well) {
            Ending::Well
        } else {
            Ending::Badly
        };
        Self { ending, statuses }
    }
}

impl<'a> Job<'a> {
    /// The part of a target in a run that can be stopped by `stop`.
    pub(crate) fn new(target: &'a Target, setting: &'a Setting, stop: Stop) -> Self {
        let job = Self {
            target,
            stop,
            listener: Listener::new(&setting.voice),
            patience: Patience::at_most(setting.patience),
        };
        job.hide(&target.secrets());
        job
    }

    /// Keeps these secrets out of everything that is said or printed of the target from now on.
    pub(crate) fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.listener.hide(secrets);
    }

    /// How its work learns that it is to end.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Why something failed, without the secrets that are known of the target.
    pub(crate) fn failure_without_secrets(&self, failure: Failure) -> Failure {
        let told = self.without_secrets(json!(failure));
        serde_json::from_value(told).unwrap_or(failure)
    }

    /// A text without the secrets that are known of the target.
    pub(crate) fn masked(&self, text: &str) -> String {
        self.listener.masked_text(text)
    }

    /// What a target answers, without the secrets that are known of it.
    pub(crate) fn without_secrets(&self, answer: Json) -> Json {
        self.listener.masked_value(answer)
    }

    /// The context of calls on the target.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.listener, &self.patience)
    }
}

/// Does `work` on every target, so many at once as were asked for, and prints each result as it
/// comes, without the target's secrets.
///
/// A signal stops it by stages ([`Interrupts`]): nothing new is begun, and what is under way is
/// waited for, so that sessions are closed and processes gone; what does not end is dropped. Every
/// target that is not done has failed and says so.
///
/// # Errors
/// That signals cannot be heard; then nothing has been done.
pub(crate) async fn over(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    output: &Output,
    action: Action,
    work: impl AsyncFn(&Job<'_>) -> Result<Answer, Failure>,
) -> anyhow::Result<Ran> {
    let mut interrupts = Interrupts::hear()?;
    let voice = &setting.voice;
    let mut results = Results::begin(output, action.clone());
    voice.begin(targets.len(), output.format());
    let stopper = Stopper::default();
    let (work, begun, stopper, action) = (&work, &Cell::new(0), &stopper, &action);
    let going = stopper.stop();
    let answers = stream::iter(targets.iter().enumerate())
        .take_while(|_| ready(going.stage() == Stage::Go))
        .map(|(at, target)| async move {
            begun.set(begun.get() + 1);
            voice.above(|| action.start(output, &target.name));
            let job = Job::new(target, setting, stopper.stop());
            let answer = match &target.fault {
                Some(fault) => Err(Failure::from(&**fault)),
                // Boxed, so that little is moved when a target is queued.
                None => {
                    let work = AssertUnwindSafe(Box::pin(work(&job))).catch_unwind().await;
                    work.unwrap_or_else(|_| Err(panicked()))
                }
            };
            let answer = answer.unwrap_or_else(Answer::from);
            (at, job.listener.masked(answer))
        });
    let mut answers = Box::pin(answers.buffer_unordered(setting.concurrency(concurrency)));
    let sessions = &setting.sessions;
    sessions.expect(targets.iter().map(|target| target.place()));
    let mut keeping = pin!(sessions.keep(voice));
    let mut done = vec![false; targets.len()];
    let (mut finished, mut failed) = (0, 0);
    let mut ticks = interval(TICK);
    loop {
        tokio::select! {
            _ = ticks.tick() => voice.tick(),
            answer = answers.next() => {
                let Some((at, answer)) = answer else { break };
                done[at] = true;
                sessions.done(|| targets[at].place());
                finished += 1;
                failed += usize::from(answer.status == Status::Failure);
                voice.progress(begun.get() - finished, failed);
                voice.step(|| results.item(&targets[at].name, &answer));
            }
            never = &mut keeping => match never {},
            stage = interrupts.next_unless(|| stopper.is_held()) => {
                let Some(stage) = stage else { break };
                let running = begun.get() - finished;
                // Where all is told, only the sessions are still to be closed.
                if stage == Stage::Finish || running > 0 {
                    voice.say(Level::Err, &told(stage, running, stopper.is_held()));
                }
                stopper.raise(stage);
            }
        }
    }
    // What is still under way ends here, before it is said that it has.
    drop(answers);
    tokio::select! {
        () = sessions.close(voice) => {}
        _ = interrupts.next() => {}
    }
    voice.end();
    // One that has come while this thread was held up may not have been heard here, though the work was left for it.
    let unheard = || interrupt::asked().filter(|_| failed > 0);
    let Some(signal) = interrupts.first().or_else(unheard) else {
        return Ok(Ran::new(results.end(None)));
    };
    for (at, target) in targets.iter().enumerate().filter(|(at, _)| !done[*at]) {
        let failure = interrupted(at < begun.get());
        results.item(&target.name, &failure.into());
    }
    let why = match interrupt::timed_out() {
        Some(timed_out) => format!("the run {timed_out}"),
        None => format!("the run was interrupted by {signal}"),
    };
    let statuses = results.end(Some(Failure::new("devgate/interrupted", why)));
    Ok(Ran {
        ending: Ending::Interrupted(signal),
        statuses,
    })
}

/// That a target was not done with when somebody stopped the run.
pub(crate) fn interrupted(begun: bool) -> Failure {
    let done = if begun {
        "what had been done by then is not known"
    } else {
        "nothing was done"
    };
    let message = format!("{}: {done}", ended_early());
    Failure::new("devgate/interrupted", message).with("begun", begun)
}

fn ended_early() -> String {
    interrupt::timed_out().unwrap_or_else(|| "interrupted".to_owned())
}

/// That the work on a target has met a mistake in devgate, which the other targets do not suffer
/// for.
pub(crate) fn panicked() -> Failure {
    let message = "devgate itself has failed here: what it says on stderr is a bug, and worth a \
                   report; what had been done by then is not known";
    Failure::new("devgate/bug", message)
}

/// What a person hears who stops a run.
fn told(stage: Stage, running: usize, is_held: bool) -> String {
    let (running, why) = (counted(running), ended_early());
    match stage {
        Stage::Go => "going on".to_owned(),
        Stage::Finish if is_held => format!(
            "{why}: nothing new is begun, {running} may end; what is under way is finished, and taken back \
             where more was to come, however long that takes; a second Ctrl-C leaves the device as it is then"
        ),
        Stage::Finish => format!(
            "{why}: nothing new is begun, {running} may end within {} seconds; a second Ctrl-C kills \
             what runs, as a second signal does",
            GRACE.as_secs()
        ),
        Stage::End => format!("{why}: the time is over, ending {running}"),
        Stage::Kill => {
            format!("{why}: killing what runs for {running}; a third Ctrl-C does not wait")
        }
    }
}
