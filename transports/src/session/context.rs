//! The context of a call: its target, the event sink, and the retry budget.

use std::any::Any;
use std::sync::LazyLock;

use devgate_schemas::{Event, EventDisplay, EventSink, Facts, Level, TypeSchema};

use super::resources::{Mode, Resources};
use super::transport::{CommandLine, DataStore, Transport};
use crate::{Dial, Environment, RetryBudget};

/// What a transport or a provider knows about the run that calls it.
///
/// It borrows everything, so that nothing can keep a session beyond the call.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(super) target: &'a str,
    pub(super) listen: &'a dyn EventSink,
    pub(super) retry_budget: &'a RetryBudget,
    pub(super) environment: &'a Environment,
    pub(super) dialer: Option<&'a dyn Dial>,
    pub(super) transport: Option<&'a dyn Transport>,
    pub(super) facts: Option<&'a Facts>,
    pub(super) resources: Option<&'a Resources<'a>>,
    pub(super) subject: Option<&'a str>,
    /// The action of the open block: `Updating`.
    pub(super) operation: Option<&'a str>,
}

static NOTHING: LazyLock<Environment> = LazyLock::new(Environment::default);

impl<'a> Context<'a> {
    /// Creates the context of a run on one target, with an empty environment.
    pub fn new(target: &'a str, listen: &'a dyn EventSink, retry_budget: &'a RetryBudget) -> Self {
        Self {
            target,
            listen,
            retry_budget,
            environment: &NOTHING,
            dialer: None,
            transport: None,
            facts: None,
            resources: None,
            subject: None,
            operation: None,
        }
    }

    /// Uses this environment.
    pub fn with_environment(self, environment: &'a Environment) -> Self {
        Self {
            environment,
            ..self
        }
    }

    /// Returns this context with the dialer that opens the connections of sessions.
    pub fn with_dialer<'b>(&'b self, dialer: Option<&'b dyn Dial>) -> Context<'b> {
        Context { dialer, ..*self }
    }

    /// Returns this context with an open session.
    pub fn with_transport<'b>(&'b self, transport: &'b dyn Transport) -> Context<'b> {
        Context {
            transport: Some(transport),
            ..*self
        }
    }

    /// Returns this context with another retry budget.
    pub fn with_retry_budget<'b>(&'b self, retry_budget: &'b RetryBudget) -> Context<'b> {
        Context {
            retry_budget,
            ..*self
        }
    }

    /// Returns this context with the facts of the device, if they were read.
    pub fn with_facts<'b>(&'b self, facts: Option<&'b Facts>) -> Context<'b> {
        Context { facts, ..*self }
    }

    /// Returns this context for the resources of one type.
    pub fn for_resources<'b>(&'b self, resources: &'b Resources<'b>) -> Context<'b> {
        Context {
            resources: Some(resources),
            subject: Some(resources.schema.name()),
            ..*self
        }
    }

    /// Returns this context with a subject for its messages: `frr_interface[swp1]`.
    pub fn about<'b>(&'b self, subject: &'b str) -> Context<'b> {
        Context {
            subject: Some(subject),
            ..*self
        }
    }

    /// Returns the target's name.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// Returns the user environment of the run.
    pub fn environment(&self) -> &'a Environment {
        self.environment
    }

    /// Returns the dialer that opens the connections of sessions. Without one, they begin at this node.
    pub fn dialer(&self) -> Option<&'a dyn Dial> {
        self.dialer
    }

    /// Returns the retry budget of the run for this target.
    pub fn retry_budget(&self) -> &'a RetryBudget {
        self.retry_budget
    }

    /// Returns the open session as `T`, if it or an inner session is of this type.
    pub fn transport<T: Transport>(&self) -> Option<&'a T> {
        let mut transport = self.transport?;
        loop {
            if let Some(found) = (transport as &dyn Any).downcast_ref() {
                return Some(found);
            }
            transport = transport.inner()?;
        }
    }

    /// Returns the command line of the open session, if it has one.
    pub fn command_line(&self) -> Option<&'a dyn CommandLine> {
        self.transport?.command_line()
    }

    /// Returns the datastore of the open session, if it has one.
    pub fn data_store(&self) -> Option<&'a dyn DataStore> {
        self.transport?.data_store()
    }

    /// Returns the facts of the device, if this run has read them.
    pub fn facts(&self) -> Option<&'a Facts> {
        self.facts
    }

    /// Returns the schema of the resource type that the provider is called for.
    pub fn schema(&self) -> Option<&'a TypeSchema> {
        self.resources.map(|resources| resources.schema)
    }

    /// Returns whether the call must change nothing.
    pub fn noop(&self) -> bool {
        self.resources
            .is_some_and(|resources| resources.mode == Mode::Noop)
    }

    /// Logs a message at a level.
    pub fn log(&self, level: Level, message: impl Into<String>) {
        self.emit(level, EventDisplay::Once, message.into());
    }

    /// Logs at `notice` that something is tried again. It replaces the previous message of this kind.
    pub fn retry(&self, message: impl Into<String>) {
        self.emit(Level::Notice, EventDisplay::Again, message.into());
    }

    /// Reports that retries of a request have ended.
    pub(crate) fn settled(&self) {
        self.listen.settled(self.target);
    }

    pub(super) fn emit(&self, level: Level, display: EventDisplay, message: String) {
        self.listen.emit(Event {
            level,
            target: self.target.to_owned(),
            subject: self.subject.map(str::to_owned),
            message: match self.operation {
                Some(operation) => format!("{operation}: {message}"),
                None => message,
            },
            display,
        });
    }

    /// Logs details that help with debugging.
    pub fn debug(&self, message: impl Into<String>) {
        self.log(Level::Debug, message);
    }

    /// Logs progress of the work.
    pub fn info(&self, message: impl Into<String>) {
        self.log(Level::Info, message);
    }

    /// Logs something worth noting: a change, a retry.
    pub fn notice(&self, message: impl Into<String>) {
        self.log(Level::Notice, message);
    }

    /// Logs a problem that does not stop the work.
    pub fn warning(&self, message: impl Into<String>) {
        self.log(Level::Warning, message);
    }

    /// Logs the reason why the work failed.
    pub fn err(&self, message: impl Into<String>) {
        self.log(Level::Err, message);
    }
}
