//! Collects the results of an action in one document.

use std::time::Instant;

use devgate_core::events::Event;
use devgate_core::failure::Failure;
use devgate_core::results::{Action, Item};
use devgate_engine::run::Run;
use devgate_front::command_context::CommandContext;
use devgate_front::follow::{EventView, SIGNAL, follow_with, interruption, log_event};
use devgate_front::logger::Logger;
use serde_json::{Value as Json, json};

use crate::module::results::Results;

/// Does the work of a run, and collects the results of the targets. Messages go to stderr.
///
/// # Errors
/// Signal handlers cannot be installed. Nothing has been done then.
pub(super) async fn collect<T>(
    context: &CommandContext,
    run: &Run,
    work: impl Future<Output = T>,
) -> Result<(T, Json), Failure> {
    let mut results = Collected::new(&context.logger);
    let done = follow_with(context, run, &mut results, work).await?;
    Ok((done, results.document))
}

struct Collected<'v> {
    logger: &'v Logger,
    action: Option<Action>,
    started: Instant,
    items: Vec<Json>,
    /// Set when the run has ended.
    document: Json,
}

impl<'v> Collected<'v> {
    fn new(logger: &'v Logger) -> Self {
        Self {
            logger,
            action: None,
            started: Instant::now(),
            items: Vec::new(),
            document: Json::Null,
        }
    }
}

impl EventView for Collected<'_> {
    fn show(&mut self, event: &Event) {
        match event {
            Event::Begun { action, targets } => {
                self.items.reserve(*targets);
                self.action = Some(action.clone());
            }
            Event::Finished { target, result, .. } => {
                if let Some(action) = &self.action {
                    let item = Item {
                        target,
                        action,
                        result,
                    };
                    self.items.push(json!(item));
                }
            }
            Event::Ended { reason } => {
                let items = std::mem::take(&mut self.items);
                let count = items.len();
                self.document = json!(Results {
                    items: Some(items),
                    target_count: Some(count),
                    elapsed_time: Some(self.started.elapsed().as_secs()),
                    error: reason.as_ref().map(interruption),
                    ..Results::default()
                });
            }
            event => log_event(self.logger, event, SIGNAL),
        }
    }
}
