//! What one call of a provider does to the resources of a type.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use devgate_schemas::{TypeSchema, Value};

/// Whether a run may change the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bring the target to the desired state.
    Enforce,
    /// Only tell what would change.
    Noop,
}

/// The resource type that a provider is called for, and what the call said of its resources.
#[derive(Debug)]
pub struct Resources<'a> {
    pub(super) schema: &'a TypeSchema,
    pub(super) mode: Mode,
    /// The titles that the call may speak of; `None` where it was not asked to change anything.
    asked: Option<HashSet<&'a str>>,
    record: Mutex<Record>,
}

/// A resource that could not be brought to its desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceFailure {
    /// The resource's title.
    pub title: String,
    /// What went wrong.
    pub message: String,
}

/// A change of an attribute, as the provider told it.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeChange {
    /// The resource's title.
    pub title: String,
    /// The attribute's name.
    pub attribute: String,
    /// What it was; undef for nothing.
    pub is: Value,
    /// What it is now; undef for nothing.
    pub should: Value,
    /// What the provider says of it.
    pub message: Option<String>,
}

#[derive(Debug, Default)]
struct Record {
    failed: Vec<ResourceFailure>,
    changes: Vec<AttributeChange>,
    stages: HashMap<String, Stage>,
}

/// How far a call has come with a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stage {
    /// How many blocks about it are open.
    open: usize,
    /// Something was said of it.
    told: bool,
    /// What became of it was said.
    settled: bool,
}

impl<'a> Resources<'a> {
    /// The resources of one type, in one call of a provider.
    pub fn new(schema: &'a TypeSchema, mode: Mode) -> Self {
        Self {
            schema,
            mode,
            asked: None,
            record: Mutex::default(),
        }
    }

    /// The same, of a call that is to change resources with these titles, and may speak of no others.
    pub fn asked(self, titles: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            asked: Some(titles.into_iter().collect()),
            ..self
        }
    }

    /// The resources that the call recorded as failed, and misuses of the context, each under the title
    /// that it was about.
    pub fn failed(&self) -> Vec<ResourceFailure> {
        self.with(|record| record.failed.clone())
    }

    /// The changes of attributes that the call told.
    pub fn changes(&self) -> Vec<AttributeChange> {
        self.with(|record| record.changes.clone())
    }

    /// Whether the call has said what became of a resource: done, or failed.
    pub fn is_settled(&self, title: &str) -> bool {
        self.with(|record| record.stages.get(title).is_some_and(|stage| stage.settled))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Record) -> T) -> T {
        work(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes something of each of these resources, and whatever is wrong with saying it now.
    fn note<'t>(
        &self,
        titles: impl IntoIterator<Item = &'t str>,
        mut change: impl FnMut(&mut Stage) -> Result<(), &'static str>,
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

    pub(super) fn tell(&self, titles: &[&str]) {
        self.note(titles.iter().copied(), |stage| {
            stage.told = true;
            Ok(())
        });
    }

    pub(super) fn open(&self, titles: &[&str]) {
        self.note(titles.iter().copied(), |stage| {
            if stage.told && stage.open == 0 {
                return Err("A block must be opened before anything else is said of a resource");
            }
            stage.told = true;
            stage.open += 1;
            Ok(())
        });
    }

    pub(super) fn close(&self, titles: &[&str]) {
        self.note(titles.iter().copied(), |stage| {
            stage.open = stage.open.saturating_sub(1);
            // A block inside of another is only a part of what becomes of the resource.
            stage.settled |= stage.open == 0;
            Ok(())
        });
    }

    pub(super) fn settle(&self, titles: &[&str]) {
        self.note(titles.iter().copied(), |stage| {
            (stage.told, stage.settled) = (true, true);
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

    pub(super) fn change(&self, change: AttributeChange) {
        self.note([change.title.as_str()], |stage| {
            stage.told = true;
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
