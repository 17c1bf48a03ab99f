//! The differences between a value and its type: every violation with its path, in Puppet's wording.

use std::fmt::{self, Display, Formatter};

use super::infer::MAX_DEPTH;
use super::model::{Range, Type};
use super::pattern::Pattern;
use super::wording::{Sizes, match_message, type_message};
use crate::regexp::STEPS;

/// Every difference between a value and its type.
///
/// It displays in Puppet's wording for a schema's attribute, including Puppet's odd leading blanks if there
/// are several violations. With `{:#}`, numbers are shown as they are. Puppet shows the type of the number
/// instead (`Integer[99999, 99999]`).
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    violations: Vec<Violation>,
}

/// One difference between a value and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub(super) path: Vec<Step>,
    pub(super) reason: Reason,
    pub(super) quoting: Quoting,
}

/// One step of a path into a value, or into the alternatives of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A member that the type declares.
    Member(String),
    /// An entry that only the value has.
    Entry(String, Quoting),
    /// The key of an entry.
    Key(String, Quoting),
    Index(usize),
    Variant(usize),
}

/// The problem at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reason {
    MissingKey(String),
    UnrecognisedKey(String),
    Unresolved(String),
    Type {
        expected: Type,
        actual: Type,
    },
    /// A text that is not one of the words, or matches none of the patterns.
    Match {
        expected: Type,
        actual: Type,
    },
    Size {
        expected: Range,
        actual: Range,
    },
    /// The pattern was given up, so it is unknown whether the text matches.
    Runaway(Pattern),
    TooDeep,
}

/// Whether messages may quote the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    Allowed,
    Forbidden,
}

impl Mismatch {
    pub(super) fn new(violations: Vec<Violation>) -> Self {
        Self { violations }
    }

    /// Creates the mismatch of a value that is nested too deeply to be checked.
    pub(super) fn too_deep() -> Self {
        let (path, reason, quoting) = (Vec::new(), Reason::TooDeep, Quoting::Forbidden);
        Self {
            violations: vec![Violation {
                path,
                reason,
                quoting,
            }],
        }
    }

    /// Returns the violations in the order in which Puppet finds them.
    pub fn violations(&self) -> impl ExactSizeIterator<Item = &Violation> {
        self.violations.iter()
    }

    /// Formats the violations one per line, each with its subject: `parameter 'p' index 1 expects a String
    /// value, got Integer`.
    pub fn about(&self, subject: &str) -> String {
        let lines: Vec<String> = self
            .violations
            .iter()
            .map(|one| format!("{subject} {one}"))
            .collect();
        lines.join("\n")
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.violations.as_slice() {
            [] => Ok(()),
            [only] => only.fmt(f),
            [first, rest @ ..] => {
                f.write_str("  ")?;
                first.fmt(f)?;
                rest.iter().try_for_each(|one| {
                    f.write_str("\n   ")?;
                    one.fmt(f)
                })
            }
        }
    }
}

impl std::error::Error for Mismatch {}

impl Violation {
    /// Returns the place within the value, such as `entry 'a' index 1`; empty for the value itself.
    pub fn path(&self) -> String {
        let steps: Vec<String> = self.path.iter().map(Step::to_string).collect();
        steps.join(" ")
    }
}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            write!(f, "{step} ")?;
        }
        match &self.reason {
            Reason::MissingKey(key) => write!(f, "expects a value for key '{key}'"),
            Reason::UnrecognisedKey(key) => match self.quoting {
                Quoting::Allowed => write!(f, "unrecognized key '{key}'"),
                Quoting::Forbidden => write!(f, "unrecognized key"),
            },
            Reason::Runaway(pattern) => {
                write!(
                    f,
                    "cannot be matched: {pattern} was given up after {STEPS} steps"
                )
            }
            Reason::TooDeep => write!(f, "is nested more than {MAX_DEPTH} levels deep"),
            Reason::Unresolved(name) => write!(f, "references an unresolved type '{name}'"),
            Reason::Type { expected, actual } => type_message(expected, actual, self.quoting, f),
            Reason::Match { expected, actual } => match_message(expected, actual, self.quoting, f),
            Reason::Size { expected, actual } => {
                write!(
                    f,
                    "expects size to be {}, got {}",
                    Sizes(*expected),
                    Sizes(*actual)
                )
            }
        }
    }
}

impl Step {
    /// Whether both steps lead to the same place.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Member(key) | Self::Entry(key, _),
                Self::Member(other) | Self::Entry(other, _),
            ) => key == other,
            (one, other) => one == other,
        }
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(key) | Self::Entry(key, Quoting::Allowed) => write!(f, "entry '{key}'"),
            Self::Entry(_, Quoting::Forbidden) => f.write_str("entry"),
            Self::Key(key, Quoting::Allowed) => write!(f, "key of entry '{key}'"),
            Self::Key(_, Quoting::Forbidden) => f.write_str("key of entry"),
            Self::Index(index) => write!(f, "index {index}"),
            Self::Variant(index) => write!(f, "variant {index}"),
        }
    }
}
