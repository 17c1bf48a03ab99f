//! The context that all jobs of a run share.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use devgate_core::cancel::CancelSource;
use devgate_core::events::Events;
use devgate_core::failure::Failure;
use devgate_core::redactor::Sink;
use devgate_transports::Environment;

use super::failures::interrupted;
use super::{RunId, RunLimits};
use crate::registry::Registry;

/// The context that all jobs of a run share.
pub struct RunContext {
    pub(crate) id: RunId,
    /// The transports and resource types that are available to the run.
    pub registry: Rc<Registry>,
    /// The environment that transports borrow from the engine.
    pub(crate) environment: Arc<Environment>,
    pub(crate) events: Arc<Events>,
    pub(crate) limits: RunLimits,
    pub(crate) cancel_source: CancelSource,
}

impl RunContext {
    /// Creates the context of a run that has not begun.
    pub(crate) fn new(
        id: RunId,
        registry: Rc<Registry>,
        environment: Arc<Environment>,
        events: Arc<Events>,
        limits: RunLimits,
    ) -> Self {
        Self {
            id,
            registry,
            environment,
            events,
            limits,
            cancel_source: CancelSource::with_limit(limits.deadline),
        }
    }

    /// Returns the sink for the messages of the run.
    pub(crate) fn sink(&self) -> &dyn Sink {
        &*self.events
    }

    /// Returns the failure of a target whose work had not begun when the run was cancelled.
    pub(crate) fn interrupted(&self) -> Failure {
        interrupted(&self.cancel_source.token(), false)
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
