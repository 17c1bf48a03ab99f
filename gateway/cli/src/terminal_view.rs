//! Following a run on a terminal: results and messages as they arrive.

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

use crate::results::ResultPrinter;

/// Does the work of a run, and prints its events.
///
/// After the first signal, running work may finish. The second signal ends it. After the third, nothing is waited for.
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

/// Submits an operation on targets to the engine, and prints its events.
///
/// # Errors
/// Why nothing could be started.
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

/// Shows the results and messages of a run on the terminal.
pub(super) struct TerminalView<'s> {
    logger: &'s Logger,
    printer: &'s Printer,
    results: Option<ResultPrinter<'s>>,
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
                self.results = Some(ResultPrinter::begin(printer, action.clone()));
                logger.begin_progress(*targets, printer.format());
            }
            Event::Started { target } => {
                if let Some(results) = &self.results {
                    logger.above_bar(|| results.start(target));
                }
            }
            Event::Message(_) | Event::RetriesEnded { .. } | Event::Stopping { .. } => {
                log_event(logger, event, again());
            }
            // On stdout if people read it, else on stderr.
            Event::Output { line } if printer.format() == Format::Human => {
                logger.above_bar(|| printer.text(line));
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
                    logger.count_finished(|| results.item(target, result));
                }
            }
            Event::Ended { reason } => {
                logger.end_progress();
                if let Some(results) = self.results.take() {
                    results.end(reason.as_ref().map(interruption));
                }
            }
        }
    }
}

/// How a user requests a stop once more: in the same way as before.
fn again() -> &'static str {
    match signals::stop_signal() {
        Some(Signal::SIGINT) => "Ctrl-C",
        _ => SIGNAL,
    }
}
