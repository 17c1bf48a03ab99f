//! What became of targets, one by one.

mod collected;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::collected::{Collected, Origin};
use crate::failure::Failure;

/// What is asked of many targets.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Action {
    /// What was asked of it.
    ///
    /// It is a kind of action: `task`, `explain`, `facts`, `verify`, `device`.
    #[serde(rename = "action")]
    pub name: &'static str,
    /// The task's name.
    ///
    /// Only a task has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Whether people get the texts of the targets alone, to be kept in a file: what is said besides is
    /// a comment.
    #[serde(skip)]
    pub is_document: bool,
}

/// What came of it on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TargetResult {
    /// Whether it went well.
    pub status: Status,
    /// The result; with `_error` where it failed.
    pub value: Json,
    /// What a person reads instead of the value.
    #[serde(skip)]
    pub text: Option<String>,
    /// When the facts were collected, where `cached` or `stale_ok` is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collected: Option<Collected>,
}

/// What became of one target.
///
/// It is a line of the results.
#[derive(Serialize, JsonSchema)]
pub struct Item<'a> {
    /// The target's name.
    pub target: &'a str,
    /// What was done with it.
    #[serde(flatten)]
    pub action: &'a Action,
    /// The result.
    #[serde(flatten)]
    pub result: &'a TargetResult,
}

/// Whether it went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "a word of a schema, which says no more of it")]
pub enum Status {
    Success,
    Failure,
}

/// The action that only explains what another one would do.
pub const EXPLAIN: &str = "explain";

impl Action {
    /// An action that has no object.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            object: None,
            is_document: false,
        }
    }

    /// The same, whose answers are documents.
    pub fn with_document(self) -> Self {
        Self {
            is_document: true,
            ..self
        }
    }
}

impl TargetResult {
    /// A success.
    pub fn success(value: Json) -> Self {
        Self {
            status: Status::Success,
            value,
            text: None,
            collected: None,
        }
    }

    /// The same answer, with a text for people.
    pub fn with_text(self, text: String) -> Self {
        Self {
            text: Some(text),
            ..self
        }
    }
}

impl From<Failure> for TargetResult {
    fn from(failure: Failure) -> Self {
        Self {
            status: Status::Failure,
            value: failure.into_value(),
            text: None,
            collected: None,
        }
    }
}

/// A number of targets as text: `1 target`.
pub fn counted(targets: usize) -> String {
    format!("{targets} target{}", if targets == 1 { "" } else { "s" })
}
