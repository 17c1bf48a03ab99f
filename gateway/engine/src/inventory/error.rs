//! Errors of inventories and of the words that select from them.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use devgate_core::failure::{Failure, with_causes};
use devgate_schemas::{InvalidConnectionInfo, yaml};
use serde_json::{Value, json};

use super::Target;

/// Why there is no inventory, or no such targets.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InventoryError {
    /// Both an inventory file and the environment variable were given, as in Bolt.
    #[error(
        "expected either an inventory file or BOLT_INVENTORY in the environment, found both; unset one"
    )]
    TwoSources,
    /// A file could not be read.
    #[error("cannot read {what} {}", path.display())]
    Unreadable {
        /// What the file is for: "the inventory file".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The words on standard input could not be read.
    #[error("cannot read targets from standard input")]
    Stdin(#[source] io::Error),
    /// The file is not YAML.
    #[error("{file}: {error}")]
    Syntax {
        /// The file, or `BOLT_INVENTORY`.
        file: String,
        /// The position and the cause.
        error: yaml::Error,
    },
    /// The inventory is invalid; all problems at once.
    #[error("{}", lines(.0))]
    Invalid(Vec<InventoryProblem>),
    /// A plugin does not give a value that the inventory needs.
    #[error("{problem}")]
    Plugin {
        /// The kind of the plugin's error.
        kind: &'static str,
        /// The position of the reference, and why it has no value.
        problem: InventoryProblem,
    },
    /// One target is invalid, and in strict mode the others are not used either.
    #[error("{0}")]
    Strict(Arc<Self>),
    /// The user did not want to wait for plugins any longer.
    #[error("interrupted while plugins were running: nothing was done")]
    Interrupted,
    /// No target matches a pattern.
    #[error("found no target that matches {}; check the pattern and the inventory", .0.join(", "))]
    NoMatch(Vec<String>),
    /// A word names neither a target nor an address.
    #[error("target word {number}: {message}")]
    InvalidWord {
        /// The number of the word, from 1. The word itself may contain a password.
        number: usize,
        /// What was expected.
        message: &'static str,
    },
    /// A target's transport does not exist.
    #[error("target {target}: unknown transport {transport}, expected one of {}{hint}", .known.join(", "))]
    UnknownTransport {
        /// The target's name.
        target: String,
        /// The transport in its URI or config.
        transport: String,
        /// The known transports.
        known: &'static [&'static str],
        /// A suggestion, to end the message with.
        hint: String,
    },
}

/// A problem at a position in an inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InventoryProblem {
    /// The file, or `BOLT_INVENTORY`.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The group and the groups around it, outermost first.
    pub path: Vec<String>,
    /// The description of the problem.
    pub message: String,
}

impl InventoryError {
    /// Returns the kind by which a caller recognizes this error; it is Bolt's where Bolt has one.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TwoSources => "bolt/cli-error",
            Self::Unreadable { .. } | Self::Stdin(_) => "bolt/file-error",
            Self::Syntax { .. } => "bolt/parse-error",
            Self::Invalid(_) | Self::InvalidWord { .. } => "bolt.inventory/validation-error",
            Self::Plugin { kind, .. } => kind,
            Self::Strict(error) => error.kind(),
            Self::Interrupted => "devgate/interrupted",
            Self::NoMatch(_) => "bolt.inventory/wildcard-error",
            Self::UnknownTransport { .. } => "bolt/unknown-transport",
        }
    }

    /// Returns the details that belong to the kind. For an invalid inventory, these are the path of the first problem's
    /// group, as in Bolt, and all problems.
    pub fn details(&self) -> Value {
        match self {
            Self::Invalid(problems) => {
                let all: Vec<Value> = problems.iter().map(InventoryProblem::to_json).collect();
                let mut details = json!({ "problems": all });
                if let Some(first) = problems.first().filter(|first| first.line > 0) {
                    details["path"] = json!(first.path);
                }
                details
            }
            Self::Syntax { file, error } => {
                json!({ "file": file, "line": error.line, "column": error.column })
            }
            Self::Plugin { problem, .. } => problem.to_json(),
            Self::Strict(error) => error.details(),
            Self::Unreadable { path, .. } => json!({ "path": path }),
            Self::NoMatch(patterns) => json!({ "patterns": patterns }),
            Self::UnknownTransport { target, .. } => json!({ "target": target }),
            Self::TwoSources | Self::Stdin(_) | Self::InvalidWord { .. } | Self::Interrupted => {
                json!({})
            }
        }
    }
}

impl InventoryProblem {
    /// Returns the position, as a name for an entry without one.
    pub(super) fn position(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or_default();
        format!("{file}:{}:{}", self.line, self.column)
    }

    /// Creates a problem without a position.
    pub(super) fn nowhere(message: String) -> Self {
        Self {
            file: String::new(),
            line: 0,
            column: 0,
            path: Vec::new(),
            message,
        }
    }

    fn to_json(&self) -> Value {
        if self.line == 0 {
            return json!({ "msg": self.message });
        }
        json!({
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "path": self.path,
            "msg": self.message,
        })
    }
}

impl fmt::Display for InventoryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(
                f,
                "{}: line {}, column {}: ",
                self.file, self.line, self.column
            )?;
        }
        if !self.path.is_empty() {
            write!(f, "in group {}: ", self.path.join("/"))?;
        }
        f.write_str(&self.message)
    }
}

fn lines(problems: &[InventoryProblem]) -> String {
    problems
        .iter()
        .map(InventoryProblem::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the failure of a target whose connection info is invalid for its transport.
pub fn invalid_connection_info(target: &Target, why: &InvalidConnectionInfo) -> Failure {
    let address = match why.lacks("host") {
        true => "\nThe target has no address: set `uri` or `host`",
        false => "",
    };
    Failure::new(
        "devgate/invalid-connection-info",
        format!("{}: {why}{address}", target.name),
    )
}

/// Returns the failure of a name on the command line that is no target and no usable address.
pub fn unknown_target(target: &Target) -> Failure {
    let name = &target.name;
    let why = match &target.namesake {
        Some(other) => format!(
            " by this name (a URI is the name of a target that has no other); did you mean \
             `{other}`, which has this URI?"
        ),
        None if name.contains("://") => {
            "; a URI has the settings of the group `all`, which names no transport of devices"
                .to_owned()
        }
        None => match &target.suggestion {
            Some(other) => format!("; did you mean `{other}`?"),
            None => String::new(),
        },
    };
    let end = if why.ends_with('?') { "" } else { ";" };
    let message = format!(
        "{name} is not in the inventory{why}{end} `devgate inventory show` lists all targets"
    );
    Failure::new("devgate/unknown-target", message)
}

impl From<InventoryError> for Failure {
    fn from(error: InventoryError) -> Self {
        Self::from(&error)
    }
}

impl From<&InventoryError> for Failure {
    fn from(error: &InventoryError) -> Self {
        Self {
            kind: error.kind().to_owned(),
            msg: with_causes(error),
            details: error.details().as_object().cloned().unwrap_or_default(),
        }
    }
}
