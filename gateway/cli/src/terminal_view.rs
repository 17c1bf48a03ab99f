//! Attending a run at a terminal: results and words as they come.

use std::num::NonZeroUsize;
use std::rc::Rc;

use devgate_core::events::Event;
use devgate_core::failure::Failure;
use devgate_engine::operations::{Operation, Summary};
use devgate_engine::project::Format;
use devgate_engine::run::Run;
use devgate_engine::workspace::SelectedTargets;
use devgate_front::command_context::CommandContext;
use devgate_front::follow::{EventView, SIGNAL, follow_with, interruption, log_event};
use devgate_front::logger::Logger;
use devgate_front::printer::Printer;
use devgate_front::signals;
use nix::sys::signal::Signal;

use crate::results::Results;

/// Does the work of a run, and prints what it tells.
///
/// The first signal lets what is under way come to its end, the second ends it, at the third nothing is waited for.
///
/// # Errors
/// Signal handlers cannot be installed. Nothing has been done then.
pub(crate) async fn follow<T>(
    context: &CommandContext,
    run: &Run,
    printer: &Printer,
    work: impl Future<Output = T>,
) -> Result<T, Failure> {
    follow_with(
        context,
        run,
        &mut TerminalView::new(&context.logger, printer),
        work,
    )
    .await
}

/// Has the engine do something on targets, and prints what it tells.
///
/// # Errors
/// Why nothing could be begun.
pub(crate) async fn run_operation(
    context: &CommandContext,
    chosen: SelectedTargets,
    concurrency: Option<NonZeroUsize>,
    operation: Operation,
    printer: &Printer,
) -> Result<Rc<Summary>, Failure> {
    let handle = context.submit(chosen, concurrency, operation)?;
    follow(context, handle.run(), printer, handle.summary()).await?
}

/// What the terminal shows of a run: results, and what is said.
pub(super) struct TerminalView<'s> {
    logger: &'s Logger,
    printer: &'s Printer,
    results: Option<Results<'s>>,
}

impl<'s> TerminalView<'s> {
    pub(super) fn new(logger: &'s Logger, printer: &'s Printer) -> Self {
        Self {
            logger,
            printer,
            results: None,
        }
    }
}

impl EventView for TerminalView<'_> {
    fn show(&mut self, event: &Event) {
        let (logger, printer) = (self.logger, self.printer);
        match event {
            Event::Begun { action, targets } => {
                self.results = Some(Results::begin(printer, action.clone()));
                logger.begin(*targets, printer.format());
            }
            Event::Started { target } => {
                if let Some(results) = &self.results {
                    logger.above(|| results.start(target));
                }
            }
            Event::Message(_) | Event::RetriesEnded { .. } | Event::Stopping { .. } => {
                log_event(logger, event, again());
            }
            // On stdout where people read that, else on stderr.
            Event::Output { line } if printer.format() == Format::Human => {
                logger.above(|| printer.text(line));
            }
            Event::Output { line } => logger.print(line),
            Event::Finished {
                target,
                result,
                running,
                failed,
            } => {
                logger.progress(*running, *failed);
                if let Some(results) = &mut self.results {
                    logger.step(|| results.item(target, result));
                }
            }
            Event::Ended { reason } => {
                logger.end();
                if let Some(results) = self.results.take() {
                    results.end(reason.as_ref().map(interruption));
                }
            }
        }
    }
}

/// By what a person at a command line asks once more that it stop: as was asked before.
fn again() -> &'static str {
    match signals::asked() {
        Some(Signal::SIGINT) => "Ctrl-C",
        _ => SIGNAL,
    }
}
