//! How a provider reports on its resources: the Resource API's actions and blocks ("Logging reference"),
//! with the message texts of its Ruby gem.
//!
//! A provider opens a block, works in the block's context, and ends the block with the outcome:
//!
//! ```ignore
//! let block = ctx.block(Doing::UPDATING, &[title]);
//! let outcome = self.update(&block.context(), title).await;
//! block.end(outcome);
//! ```

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use devgate_schemas::{EventDisplay, Level, Resource, Value};

use super::context::Context;
use super::resources::{AttributeChange, Claim};

/// The action that a block performs on its resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceAction<'m> {
    /// The text of its log messages: `Updating`, unless the provider supplies another one.
    pub message: &'m str,
    fails: bool,
}

/// An open block. Every message of its context is about these resources and this action.
///
/// The resources are not settled before [`end`](Self::end).
#[must_use = "a block that is not ended says nothing of its resources"]
pub struct Block<'c> {
    ctx: Context<'c>,
    titles: Vec<&'c str>,
    subject: String,
    operation: ResourceAction<'c>,
    /// ` processing swp1`; empty where the messages only say that something began or ended.
    what: String,
    /// The previous and the desired state of the resource, if the block covers the whole change.
    states: Option<(Option<&'c Resource>, Option<&'c Resource>)>,
    started: Instant,
}

impl<'m> ResourceAction<'m> {
    /// Resources are created.
    pub const CREATING: ResourceAction<'static> = ResourceAction::new("Creating");
    /// Resources are changed.
    pub const UPDATING: ResourceAction<'static> = ResourceAction::new("Updating");
    /// Resources are deleted.
    pub const DELETING: ResourceAction<'static> = ResourceAction::new("Deleting");
    /// Resources are marked as failed, whatever the outcome of the block.
    pub const FAILING: ResourceAction<'static> = ResourceAction {
        message: "Failing",
        fails: true,
    };

    const fn new(message: &'m str) -> Self {
        Self {
            message,
            fails: false,
        }
    }

    /// Returns the same action with another message text.
    pub const fn quoted_message(self, message: &str) -> ResourceAction<'_> {
        ResourceAction {
            message,
            fails: self.fails,
        }
    }
}

impl Context<'_> {
    /// Opens a block about one or more resources.
    pub fn block<'c>(&'c self, operation: ResourceAction<'c>, titles: &[&'c str]) -> Block<'c> {
        let what = if operation.fails { " failing" } else { "" };
        let block = Block {
            ctx: *self,
            titles: titles.to_vec(),
            subject: self.subject_of(titles),
            operation,
            what: what.to_owned(),
            states: None,
            started: Instant::now(),
        };
        block.begin("Start")
    }

    /// Opens a block that covers the whole change of a resource from one state to another.
    pub fn processing<'c>(
        &'c self,
        title: &'c str,
        is: Option<&'c Resource>,
        should: Option<&'c Resource>,
    ) -> Block<'c> {
        let states = Some((is, should));
        let (is, should) = (self.inspected(is), self.inspected(should));
        let block = Block {
            ctx: *self,
            titles: vec![title],
            subject: self.subject_of(&[title]),
            operation: ResourceAction::new("Processing"),
            what: format!(" processing {title}"),
            states,
            started: Instant::now(),
        };
        block.begin(&format!(
            "Starting processing of {title} from {is} to {should}"
        ))
    }

    /// Reports that a resource was created.
    pub fn created(&self, title: &str) {
        self.report_action("Created", &[title]);
    }

    /// Reports that a resource was updated.
    pub fn updated(&self, title: &str) {
        self.report_action("Updated", &[title]);
    }

    /// Reports that a resource was deleted.
    pub fn deleted(&self, title: &str) {
        self.report_action("Deleted", &[title]);
    }

    /// Reports that resources are in their desired state and were not changed.
    pub fn unchanged(&self, titles: &[&str]) {
        self.settle(titles);
        self.debug(format!("Unchanged: {}", listed(titles)));
    }

    /// Reports an action on resources in the provider's words: `Created: swp1`.
    pub fn report_action(&self, message: &str, titles: &[&str]) {
        self.settle(titles);
        self.claim(titles, message.to_owned(), true);
    }

    /// Logs what a provider says that it has done, or keeps it until it was read back.
    fn claim(&self, titles: &[&str], message: String, lists: bool) {
        let claim = Claim {
            subject: self.subject.map(str::to_owned),
            operation: self.operation.map(str::to_owned),
            titles: titles.iter().map(|&title| title.to_owned()).collect(),
            message,
            lists,
        };
        let claim = match self.resources {
            Some(resources) => resources.keep(claim),
            None => Some(claim),
        };
        self.confirm(claim.as_slice(), |_| true);
    }

    /// Logs what a call has said that it has done, of the resources for which that is true.
    pub fn confirm(&self, claims: &[Claim], is_true: impl Fn(&str) -> bool) {
        for claim in claims {
            let titles = claim.titles.iter().map(String::as_str);
            let titles: Vec<&str> = titles.filter(|title| is_true(title)).collect();
            if titles.is_empty() {
                continue;
            }
            let ctx = Context {
                subject: claim.subject.as_deref(),
                operation: claim.operation.as_deref(),
                ..*self
            };
            ctx.notice(match claim.lists {
                true => format!("{}: {}", claim.message, listed(&titles)),
                false => claim.message.clone(),
            });
        }
    }

    /// Reports that a resource was brought from one state to another, with each attribute that differs.
    pub fn processed(&self, title: &str, is: Option<&Resource>, should: Option<&Resource>) {
        self.attributes_changed(title, is, should);
        self.settle(&[title]);
        let (is, should) = (self.inspected(is), self.inspected(should));
        let message = format!("Processed {title} from {is} to {should}");
        self.claim(&[title], message, false);
    }

    /// Reports each attribute that differs as changed, unless its change was reported already.
    fn attributes_changed(&self, title: &str, is: Option<&Resource>, should: Option<&Resource>) {
        let messages_of = self.resources.map(|resources| resources.changes());
        let messages_of = messages_of.unwrap_or_default();
        let is_told = |name: &str| {
            let mut messages_of = messages_of.iter();
            messages_of.any(|change| change.title == title && change.attribute == name)
        };
        for (attribute, value) in should.into_iter().flat_map(Resource::iter) {
            let was = is.and_then(|is| is.get(attribute));
            if was != Some(value) && !is_told(attribute) {
                self.attribute_changed(title, attribute, was, Some(value), None);
            }
        }
    }

    /// Reports that an attribute was changed. This must come before the resource's own action.
    pub fn attribute_changed(
        &self,
        title: &str,
        attribute: &str,
        is: Option<&Value>,
        should: Option<&Value>,
        message: Option<&str>,
    ) {
        let wrapped = |value: Option<&Value>| {
            value.map_or(Value::Undef, |value| self.without_secret(attribute, value))
        };
        let (is, should) = (wrapped(is), wrapped(should));
        let why = message.map(|why| format!(": {why}")).unwrap_or_default();
        let changed = format!(
            "{title}: attribute '{attribute}' changed from {} to {}{why}",
            is.inspect(),
            should.inspect()
        );
        self.claim(&[title], changed, false);
        if let Some(resources) = self.resources {
            resources.change(AttributeChange {
                title: title.to_owned(),
                attribute: attribute.to_owned(),
                is,
                should,
                message: message.map(str::to_owned),
            });
        }
    }

    /// Logs a message about resources, without reporting their outcome.
    pub fn log_about(&self, level: Level, titles: &[&str], message: impl Into<String>) {
        if let Some(resources) = self.resources {
            resources.emit(titles);
        }
        let subject = self.subject_of(titles);
        self.about(&subject).log(level, message);
    }

    /// Records that a resource could not be brought to its desired state, and logs the reason.
    pub fn failed(&self, title: &str, message: impl Into<String>) {
        let message = message.into();
        if let Some(resources) = self.resources {
            resources.fail(&[title], &message);
        }
        let subject = self.subject_of(&[title]);
        let display = match self.resources {
            Some(_) => EventDisplay::InResult,
            None => EventDisplay::Once,
        };
        self.about(&subject).emit(Level::Err, display, message);
    }

    /// Records what the device says that the changes of this call would change, without secrets.
    pub fn preview(&self, diff: &str) {
        if let Some(resources) = self.resources {
            resources.preview(diff);
        }
    }

    /// Returns an attribute's value, wrapped if the attribute is sensitive: providers may hold secrets in clear text.
    fn without_secret(&self, attribute: &str, value: &Value) -> Value {
        let attribute = self
            .schema()
            .and_then(|schema| schema.attributes().get(attribute));
        let is_secret = attribute.is_some_and(|attribute| attribute.sensitive);
        if is_secret && !value.is_undef() {
            value.clone().into_sensitive()
        } else {
            value.clone()
        }
    }

    fn inspected(&self, resource: Option<&Resource>) -> String {
        let Some(resource) = resource else {
            return "nil".to_owned();
        };
        let mut shown = Resource::new();
        for (attribute, value) in resource.iter() {
            shown.set(attribute, self.without_secret(attribute, value));
        }
        shown.inspect().to_string()
    }

    fn settle(&self, titles: &[&str]) {
        if let Some(resources) = self.resources {
            resources.settle(titles);
        }
    }

    fn subject_of(&self, titles: &[&str]) -> String {
        let type_name = self.schema().map_or("", |schema| schema.name());
        format!("{type_name}[{}]", titles.join(", "))
    }
}

impl Block<'_> {
    fn begin(self, line: &str) -> Self {
        if let Some(resources) = self.ctx.resources {
            resources.open(&self.titles);
        }
        self.context().debug(line);
        self
    }

    /// Returns the context for the work in this block.
    pub fn context(&self) -> Context<'_> {
        Context {
            subject: Some(&self.subject),
            operation: Some(self.operation.message),
            ..self.ctx
        }
    }

    /// Ends the block: logs the outcome and records it. Consumes an error; returns the value of a
    /// success.
    pub fn end<T, E: Display>(self, outcome: Result<T, E>) -> Option<T> {
        let (ctx, what) = (self.context(), &self.what);
        let seconds = Seconds(self.started.elapsed());
        let done = match outcome {
            Ok(_) if self.operation.fails => {
                ctx.warning(format!("Finished{what} in {seconds} seconds"));
                Err(self.operation.message.to_owned())
            }
            Ok(value) => {
                let mut result = String::new();
                if let (Some((is, should)), [title]) = (self.states, self.titles.as_slice()) {
                    let settled = ctx.resources.is_some_and(|all| all.is_settled(title));
                    if !settled {
                        ctx.attributes_changed(title, is, should);
                    }
                    result = format!(": {}", ctx.inspected(should));
                }
                ctx.notice(format!("Finished{what} in {seconds} seconds{result}"));
                Ok(value)
            }
            Err(error) => {
                ctx.err(format!("Failed{what} after {seconds} seconds: {error}"));
                Err(error.to_string())
            }
        };
        if let Some(resources) = self.ctx.resources {
            resources.close(&self.titles);
            if let Err(message) = &done {
                resources.fail(&self.titles, message);
            }
        }
        done.ok()
    }
}

/// A duration as the Ruby gem formats it.
struct Seconds(Duration);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        let digits = if seconds < 1.0 { 6 } else { 2 };
        write!(f, "{seconds:.digits$}")
    }
}

/// Formats one title as it is, and several as an array.
fn listed(titles: &[&str]) -> String {
    match titles {
        [one] => (*one).to_owned(),
        several => {
            let titles = several.iter().map(|&title| Value::from(title)).collect();
            Value::Array(titles).inspect().to_string()
        }
    }
}
