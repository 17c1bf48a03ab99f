//! The error for a program that implements a transport or manages resources, and failed or broke its contract.

use std::fmt;

use devgate_schemas::Value;

use super::text::one_line;

/// A failure of a program that was called for a target.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramProblem {
    /// The program's file.
    pub program: String,
    /// The requested action: `verify`, `get`.
    pub action: String,
    /// The program's message, or what was expected of it.
    pub problem: String,
    /// The kind that the program gives its error, as in the task specification ("Errors").
    pub kind: Option<String>,
    /// The program's machine-readable details of its error.
    pub details: Option<Value>,
}

impl fmt::Display for ProgramProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            action,
            problem,
            ..
        } = self;
        write!(f, "{program} {action}: {}", one_line(problem))
    }
}

impl std::error::Error for ProgramProblem {}
