//! Who speaks of a host, and how patient the run is with it.

use std::time::Duration;

use devgate_schemas::Value;
use devgate_transports::{Context, Patience};

use devgate_core::listen::{Listener, Sink};

/// What calls on a host need to know of the run.
#[derive(Debug)]
pub(super) struct Teller<'v> {
    name: String,
    listener: Listener<'v>,
    patience: Patience,
}

impl<'v> Teller<'v> {
    pub(super) fn new(name: &str, sink: &'v dyn Sink, patience: Duration) -> Self {
        Self {
            name: name.to_owned(),
            listener: Listener::new(sink),
            patience: Patience::at_most(patience),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The context of calls on the host.
    pub(super) fn ctx(&self) -> Context<'_> {
        Context::new(&self.name, &self.listener, &self.patience)
    }

    /// Keeps these secrets out of everything that is said from now on.
    pub(super) fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        self.listener.hide(secrets);
    }
}
