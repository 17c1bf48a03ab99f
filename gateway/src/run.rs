//! One thing asked of many targets at once: bounded, with progress, and stopped by Ctrl-C.

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;

use devgate_schemas::{Level, Value};
use devgate_transports::{Context, Patience};
use futures_util::stream::{self, StreamExt};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Ending, Setting};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::output::Output;
use crate::results::{Action, Answer, Results};
use crate::stop::{Stop, Stopper};
use crate::voice::{Listener, Voice};

/// One target's part of a run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The target.
    pub(crate) target: &'a Target,
    listener: Listener<'a>,
    patience: Patience,
    stop: Stop,
}

impl<'a> Job<'a> {
    fn new(target: &'a Target, voice: &'a Voice, stop: Stop) -> Self {
        let job = Self {
            target,
            stop,
            listener: Listener::new(voice),
            patience: Patience::default(),
        };
        job.hide(target.connection_info().conventional_secrets());
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

    /// The context of calls on the target.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.listener, &self.patience)
    }
}

/// Does `work` on every target, so many at once as were asked for, and prints each result as it
/// comes, without the target's secrets.
///
/// An interrupt stops it: what is under way is dropped, its processes with it, and every target that
/// is not done has failed and says so.
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
) -> anyhow::Result<Ending> {
    let mut interrupted = pin!(interrupt()?);
    let voice = &setting.voice;
    let mut results = Results::begin(output, action);
    voice.begin(targets.len());
    let stopper = Stopper::default();
    let (work, begun, stopper) = (&work, &Cell::new(0), &stopper);
    let answers = stream::iter(targets).map(|target| async move {
        begun.set(begun.get() + 1);
        let job = Job::new(target, voice, stopper.stop());
        let answer = work(&job).await.unwrap_or_else(Answer::from);
        (target.name.as_str(), job.listener.masked(answer))
    });
    let mut answers = Box::pin(answers.buffer_unordered(setting.concurrency(concurrency)));
    let mut unfinished: HashSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    loop {
        let answer = tokio::select! {
            answer = answers.next() => answer,
            () = &mut interrupted => break,
        };
        let Some((target, answer)) = answer else {
            voice.end();
            return Ok(results.end());
        };
        unfinished.remove(target);
        voice.step(|| results.item(target, &answer));
    }
    // What is under way ends here, before it is said that it has.
    drop(answers);
    voice.end();
    voice.say(Level::Err, "interrupted");
    for (at, target) in targets.iter().enumerate() {
        if unfinished.contains(target.name.as_str()) {
            let what = if at < begun.get() {
                "interrupted: what had been done by then is not known"
            } else {
                "interrupted: nothing was done"
            };
            let failure = Failure::new("devgate/interrupted", what);
            results.item(&target.name, &failure.into());
        }
    }
    results.end();
    Ok(Ending::Interrupted)
}

/// Waits for the wish to stop: Ctrl-C, `kill`, or a terminal that has gone away.
fn interrupt() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
