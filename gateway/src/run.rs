//! One thing asked of many targets at once: bounded, with progress, and stopped by Ctrl-C.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;

use anyhow::bail;
use devgate_schemas::{Level, Listen, Mask};
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
    /// Where what happens is told.
    pub(crate) voice: &'a Voice,
    /// How long the run may wait for this target to recover.
    pub(crate) patience: Patience,
}

impl<'a> Job<'a> {
    /// Whom to tell what happens on the target; the secrets in `mask` are kept out from now on.
    pub(crate) fn listener(&self, mask: Mask) -> Listener<'a> {
        self.voice.hide(&mask);
        Listener::new(self.voice, mask)
    }

    /// The context of calls on the target.
    pub(crate) fn context<'c>(&'c self, listener: &'c dyn Listen) -> Context<'c> {
        Context::new(&self.target.name, listener, &self.patience)
    }
}

/// Does `work` on every target, so many at once as were asked for, and prints each result as it comes.
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
        work(&Job {
            target,
            voice,
            patience: Patience::default(),
        })
        .await
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
