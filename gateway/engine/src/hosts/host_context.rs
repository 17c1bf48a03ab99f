//! The context of calls on a host: its name, its redactor and its retry budget.

use std::time::Duration;

use devgate_core::redactor::{Redactor, Sink};
use devgate_schemas::Value;
use devgate_transports::{Context, RetryBudget};

/// What calls on a host need from the run.
#[derive(Debug)]
pub(crate) struct HostContext<'v> {
    name: String,
    redactor: Redactor<'v>,
    retry_budget: RetryBudget,
}

impl<'v> HostContext<'v> {
    pub(crate) fn new(name: &str, sink: &'v dyn Sink, retry_budget: Duration) -> Self {
        Self {
            name: name.to_owned(),
            redactor: Redactor::new(sink),
            retry_budget: RetryBudget::at_most(retry_budget),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the context for calls on the host.
    pub(crate) fn ctx(&self) -> Context<'_> {
        Context::new(&self.name, &self.redactor, &self.retry_budget)
    }

    /// Hides these secrets in all later messages.
    pub(crate) fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.redactor.hide(secrets);
    }
}
