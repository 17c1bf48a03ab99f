//! The context of a call: whom it concerns, where to tell what happens, how long to be patient.

use std::any::Any;
use std::sync::LazyLock;

use devgate_schemas::{Event, EventDisplay, EventSink, Level, TypeSchema};

use super::resources::{Mode, Resources};
use super::transport::{CommandLine, DataStore, Transport};
use crate::{Environment, RetryBudget};

/// What a transport or a provider knows of the run it serves, for one call.
///
/// It is borrowed, so nothing can keep a session beyond the call it was lent for.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub(super) target: &'a str,
    pub(super) listen: &'a dyn EventSink,
    pub(super) retry_budget: &'a RetryBudget,
    pub(super) environment: &'a Environment,
    pub(super) transport: Option<&'a dyn Transport>,
    pub(super) resources: Option<&'a Resources<'a>>,
    pub(super) subject: Option<&'a str>,
    /// What a block that is open does to it: `Updating`.
    pub(super) doing: Option<&'a str>,
}

static NOTHING: LazyLock<Environment> = LazyLock::new(Environment::default);

impl<'a> Context<'a> {
    /// The context of a run on one target, to which nothing is lent.
    pub fn new(target: &'a str, listen: &'a dyn EventSink, retry_budget: &'a RetryBudget) -> Self {
        Self {
            target,
            listen,
            retry_budget,
            environment: &NOTHING,
            transport: None,
            resources: None,
            subject: None,
            doing: None,
        }
    }

    /// The same run, to which this is lent.
    pub fn with_environment(self, environment: &'a Environment) -> Self {
        Self {
            environment,
            ..self
        }
    }

    /// The same run, with an open session to lend.
    pub fn with_transport<'b>(&'b self, transport: &'b dyn Transport) -> Context<'b> {
        Context {
            transport: Some(transport),
            ..*self
        }
    }

    /// The same call, with a patience of its own.
    pub fn with_retry_budget<'b>(&'b self, retry_budget: &'b RetryBudget) -> Context<'b> {
        Context {
            retry_budget,
            ..*self
        }
    }

    /// The same run, for the resources of one type.
    pub fn for_resources<'b>(&'b self, resources: &'b Resources<'b>) -> Context<'b> {
        Context {
            resources: Some(resources),
            subject: Some(resources.schema.name()),
            ..*self
        }
    }

    /// The same call, about one thing: `frr_interface[swp1]`.
    pub fn about<'b>(&'b self, subject: &'b str) -> Context<'b> {
        Context {
            subject: Some(subject),
            ..*self
        }
    }

    /// The target's name.
    pub fn target(&self) -> &'a str {
        self.target
    }

    /// What is lent to this run.
    pub fn environment(&self) -> &'a Environment {
        self.environment
    }

    /// How long this run may still wait for the target to recover.
    pub fn retry_budget(&self) -> &'a RetryBudget {
        self.retry_budget
    }

    /// The open session, if it is of this kind or is built on one of this kind.
    pub fn transport<T: Transport>(&self) -> Option<&'a T> {
        let mut transport = self.transport?;
        loop {
            if let Some(found) = (transport as &dyn Any).downcast_ref() {
                return Some(found);
            }
            transport = transport.inner()?;
        }
    }

    /// The command line of the open session, if it is at one.
    pub fn command_line(&self) -> Option<&'a dyn CommandLine> {
        self.transport?.command_line()
    }

    /// The data behind the open session, if it asks for and changes data.
    pub fn data_store(&self) -> Option<&'a dyn DataStore> {
        self.transport?.data_store()
    }

    /// The schema of the resource type that the provider is called for.
    pub fn schema(&self) -> Option<&'a TypeSchema> {
        self.resources.map(|resources| resources.schema)
    }

    /// Whether the call must change nothing.
    pub fn noop(&self) -> bool {
        self.resources
            .is_some_and(|resources| resources.mode == Mode::Noop)
    }

    /// Says something at a level.
    pub fn say(&self, level: Level, message: impl Into<String>) {
        self.tell(level, EventDisplay::Once, message.into());
    }

    /// Says at `notice` that something is tried again, in place of what was said of that before.
    pub fn retry(&self, message: impl Into<String>) {
        self.tell(Level::Notice, EventDisplay::Again, message.into());
    }

    /// Says that what was tried again has come to its end.
    pub(crate) fn settled(&self) {
        self.listen.settled(self.target);
    }

    pub(super) fn tell(&self, level: Level, display: EventDisplay, message: String) {
        self.listen.emit(Event {
            level,
            target: self.target.to_owned(),
            subject: self.subject.map(str::to_owned),
            message: match self.doing {
                Some(doing) => format!("{doing}: {message}"),
                None => message,
            },
            display,
        });
    }

    /// Says what helps to understand the details.
    pub fn debug(&self, message: impl Into<String>) {
        self.say(Level::Debug, message);
    }

    /// Says how the work progresses.
    pub fn info(&self, message: impl Into<String>) {
        self.say(Level::Info, message);
    }

    /// Says what is worth noting: a change, a retry.
    pub fn notice(&self, message: impl Into<String>) {
        self.say(Level::Notice, message);
    }

    /// Says what went wrong without stopping the work.
    pub fn warning(&self, message: impl Into<String>) {
        self.say(Level::Warning, message);
    }

    /// Says what made the work fail.
    pub fn err(&self, message: impl Into<String>) {
        self.say(Level::Err, message);
    }
}
