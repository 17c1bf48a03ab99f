//! One thing asked of many targets at once: bounded, with progress, and stopped by Ctrl-C.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;

use anyhow::bail;
use devgate_schemas::{Level, Value};
use devgate_transports::{Context, Patience};
use futures_util::stream::{self, StreamExt};
use indexmap::IndexSet;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::{Ending, Setting};
use crate::inventory::Target;
use crate::output::Output;
use crate::results::{Item, Results};
use crate::voice::{Listener, Voice};

/// One target's part of a run.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// The target.
    pub(crate) target: &'a Target,
    listener: Listener<'a>,
    patience: Patience,
}

impl<'a> Job<'a> {
    fn new(target: &'a Target, voice: &'a Voice) -> Self {
        let job = Self {
            target,
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

    /// The context of calls on the target.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::new(&self.target.name, &self.listener, &self.patience)
    }
}

/// Does `work` on every target, so many at once as were asked for, and prints each result as it
/// comes, without the target's secrets.
///
/// # Errors
/// That it was interrupted, naming the targets that were not finished.
pub(crate) async fn over(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    output: &Output,
    work: impl AsyncFn(&Job<'_>) -> Item,
) -> anyhow::Result<Ending> {
    let voice = &setting.voice;
    let mut results = Results::begin(output);
    voice.begin(targets.len());
    let work = &work;
    let items = stream::iter(targets).map(|target| async move {
        let job = Job::new(target, voice);
        let item = work(&job).await;
        job.listener.masked(item)
    });
    let mut items = pin!(items.buffer_unordered(setting.concurrency(concurrency)));
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut unfinished: IndexSet<&str> =
        targets.iter().map(|target| target.name.as_str()).collect();
    loop {
        let item = tokio::select! {
            item = items.next() => item,
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        };
        let Some(item) = item else {
            voice.end();
            return Ok(results.end());
        };
        unfinished.swap_remove(item.target.as_str());
        voice.step(|| results.item(item));
    }
    voice.end();
    let unfinished: Vec<&str> = unfinished.into_iter().collect();
    let message = format!("interrupted; not finished: {}", unfinished.join(", "));
    voice.say(Level::Warning, &message);
    results.end();
    bail!("interrupted")
}
