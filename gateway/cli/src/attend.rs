//! Attending a run at a terminal: results and words as they come.

use std::num::NonZeroUsize;
use std::rc::Rc;

use devgate_core::events::Event;
use devgate_core::failure::Failure;
use devgate_engine::operations::{Operation, Summary};
use devgate_engine::project::Format;
use devgate_engine::run::Run;
use devgate_engine::workspace::Chosen;
use devgate_front::attend::{SIGNAL, Show, attend_for, cut_short, said};
use devgate_front::interrupt;
use devgate_front::output::Output;
use devgate_front::setting::Setting;
use devgate_front::voice::Voice;
use nix::sys::signal::Signal;

use crate::results::Results;

/// Does the work of a run, and prints what it tells.
///
/// The first signal lets what is under way come to its end, the second ends it, at the third nothing is waited for.
///
/// # Errors
/// That signals cannot be heard; then nothing has been done.
pub(crate) async fn attend<T>(
    setting: &Setting,
    run: &Run,
    output: &Output,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    attend_for(setting, run, &mut Shown::new(&setting.voice, output), work).await
}

/// Has the engine do something on targets, and prints what it tells.
///
/// # Errors
/// Why nothing could be begun.
pub(crate) async fn perform(
    setting: &Setting,
    chosen: Chosen,
    concurrency: Option<NonZeroUsize>,
    operation: Operation,
    output: &Output,
) -> Result<Rc<Summary>, Failure> {
    let handle = setting.submit(chosen, concurrency, operation)?;
    attend(setting, handle.run(), output, handle.summary()).await?
}

/// What the terminal shows of a run: results, and what is said.
pub(super) struct Shown<'s> {
    voice: &'s Voice,
    output: &'s Output,
    results: Option<Results<'s>>,
}

impl<'s> Shown<'s> {
    pub(super) fn new(voice: &'s Voice, output: &'s Output) -> Self {
        Self {
            voice,
            output,
            results: None,
        }
    }
}

impl Show for Shown<'_> {
    fn show(&mut self, event: &Event) {
        let (voice, output) = (self.voice, self.output);
        match event {
            Event::Begun { action, targets } => {
                self.results = Some(Results::begin(output, action.clone()));
                voice.begin(*targets, output.format());
            }
            Event::Started { target } => {
                if let Some(results) = &self.results {
                    voice.above(|| results.start(target));
                }
            }
            Event::Said(_) | Event::Settled { .. } | Event::Stopping { .. } => {
                said(voice, event, again());
            }
            // On stdout where people read that, else on stderr.
            Event::Wrote { line } if output.format() == Format::Human => {
                voice.above(|| output.text(line));
            }
            Event::Wrote { line } => voice.print(line),
            Event::Finished {
                target,
                answer,
                running,
                failed,
            } => {
                voice.progress(*running, *failed);
                if let Some(results) = &mut self.results {
                    voice.step(|| results.item(target, answer));
                }
            }
            Event::Ended { reason } => {
                voice.end();
                if let Some(results) = self.results.take() {
                    results.end(reason.as_ref().map(cut_short));
                }
            }
        }
    }
}

/// By what a person at a command line asks once more that it stop: as was asked before.
fn again() -> &'static str {
    match interrupt::asked() {
        Some(Signal::SIGINT) => "Ctrl-C",
        _ => SIGNAL,
    }
}
