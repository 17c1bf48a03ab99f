//! The resources of one provider call, and what the call has reported about them.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use devgate_schemas::{TypeSchema, Value};

/// Whether a run may change the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bring the target to the desired state.
    Enforce,
    /// Only report what would change.
    Noop,
}

/// The resource type that a provider is called for, and what the call has reported about its resources.
#[derive(Debug)]
pub struct Resources<'a> {
    pub(super) schema: &'a TypeSchema,
    pub(super) mode: Mode,
    /// The titles that the call may report on; `None` if it was not asked to change anything.
    asked: Option<HashSet<&'a str>>,
    /// Whether what the call says that it has done is kept, instead of logged.
    keeps_claims: bool,
    record: Mutex<CallRecord>,
}

/// A resource that could not be brought to its desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceFailure {
    /// The resource's title.
    pub title: String,
    /// What went wrong.
    pub message: String,
}

/// A change of an attribute, as the provider reported it.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeChange {
    /// The resource's title.
    pub title: String,
    /// The attribute's name.
    pub attribute: String,
    /// The previous value; undef if there was none.
    pub is: Value,
    /// The new value; undef if there is none.
    pub should: Value,
    /// The provider's message about the change.
    pub message: Option<String>,
}

/// What a call says that it has done. Nobody has seen it on the device yet.
#[derive(Clone, Debug)]
pub struct Claim {
    pub(super) subject: Option<String>,
    pub(super) operation: Option<String>,
    pub(super) titles: Vec<String>,
    pub(super) message: String,
    /// Whether the titles follow the message.
    pub(super) lists: bool,
}

#[derive(Debug, Default)]
struct CallRecord {
    failed: Vec<ResourceFailure>,
    changes: Vec<AttributeChange>,
    stages: HashMap<String, ResourceStage>,
    previews: Vec<String>,
    claims: Vec<Claim>,
}

/// The state of a resource within a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ResourceStage {
    /// The number of open blocks about it.
    open: usize,
    /// Whether anything was reported about it.
    messages_of: bool,
    /// Whether its outcome was reported.
    settled: bool,
}

impl<'a> Resources<'a> {
    /// Creates the record of one provider call for the resources of one type.
    pub fn new(schema: &'a TypeSchema, mode: Mode) -> Self {
        Self {
            schema,
            mode,
            asked: None,
            keeps_claims: false,
            record: Mutex::default(),
        }
    }

    /// Restricts the call to resources with these titles: the provider may report on no others.
    pub fn restricted_to(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            asked: Some(titles.into_iter().collect()),
            ..self
        }
    }

    /// Keeps what the call says that it has done, until [`Context::confirm`](super::Context::confirm) logs it.
    pub fn keeping_claims(self) -> Self {
        Self {
            keeps_claims: true,
            ..self
        }
    }

    /// Returns what the call says that it has done, if that is kept.
    pub fn claims(&self) -> Vec<Claim> {
        self.with(|record| record.claims.clone())
    }

    /// Returns the resources that the call recorded as failed. Misuses of the context are failures, too, each
    /// under the title it concerned.
    pub fn failed(&self) -> Vec<ResourceFailure> {
        self.with(|record| record.failed.clone())
    }

    /// Returns the attribute changes that the call reported.
    pub fn changes(&self) -> Vec<AttributeChange> {
        self.with(|record| record.changes.clone())
    }

    /// Returns what the device says that the changes would change.
    pub fn previews(&self) -> Vec<String> {
        self.with(|record| record.previews.clone())
    }

    /// Returns whether the call has reported the outcome of a resource: done or failed.
    pub fn is_settled(&self, title: &str) -> bool {
        self.with(|record| record.stages.get(title).is_some_and(|stage| stage.settled))
    }

    fn with<T>(&self, work: impl FnOnce(&mut CallRecord) -> T) -> T {
        work(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the stage of each of these resources, and records a failure where the change is not allowed.
    fn advance<'t>(
        &self,
        titles: impl IntoIterator<Item = &'t str>,
        mut change: impl FnMut(&mut ResourceStage) -> Result<(), &'static str>,
    ) {
        for title in titles {
            self.with(|record| {
                let asked = self.asked.as_ref();
                let outcome = if asked.is_some_and(|asked| !asked.contains(title)) {
                    Err("Managing resource outside of requested set")
                } else {
                    change(record.stages.entry(title.to_owned()).or_default())
                };
                if let Err(problem) = outcome {
                    record.failed.push(ResourceFailure {
                        title: title.to_owned(),
                        message: format!("{problem}: {title}"),
                    });
                }
            });
        }
    }

    pub(super) fn emit(&self, titles: &[&str]) {
        self.advance(titles.iter().copied(), |stage| {
            stage.messages_of = true;
            Ok(())
        });
    }

    pub(super) fn open(&self, titles: &[&str]) {
        self.advance(titles.iter().copied(), |stage| {
            if stage.messages_of && stage.open == 0 {
                return Err("A block must be opened before anything else is said of a resource");
            }
            stage.messages_of = true;
            stage.open += 1;
            Ok(())
        });
    }

    pub(super) fn close(&self, titles: &[&str]) {
        self.advance(titles.iter().copied(), |stage| {
            stage.open = stage.open.saturating_sub(1);
            // A nested block is only a part of the resource's outcome.
            stage.settled |= stage.open == 0;
            Ok(())
        });
    }

    pub(super) fn settle(&self, titles: &[&str]) {
        self.advance(titles.iter().copied(), |stage| {
            (stage.messages_of, stage.settled) = (true, true);
            Ok(())
        });
    }

    pub(super) fn fail(&self, titles: &[&str], message: &str) {
        self.settle(titles);
        self.with(|record| {
            record
                .failed
                .extend(titles.iter().map(|title| ResourceFailure {
                    title: (*title).to_owned(),
                    message: message.to_owned(),
                }));
        });
    }

    /// Keeps a claim, or returns it.
    pub(super) fn keep(&self, claim: Claim) -> Option<Claim> {
        if !self.keeps_claims {
            return Some(claim);
        }
        self.with(|record| record.claims.push(claim));
        None
    }

    pub(super) fn preview(&self, diff: &str) {
        self.with(|record| record.previews.push(diff.to_owned()));
    }

    pub(super) fn change(&self, change: AttributeChange) {
        self.advance([change.title.as_str()], |stage| {
            stage.messages_of = true;
            if stage.settled {
                return Err(
                    "A change of an attribute must be told before the end of the resource's action",
                );
            }
            Ok(())
        });
        self.with(|record| record.changes.push(change));
    }
}
