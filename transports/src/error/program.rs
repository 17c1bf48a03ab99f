//! That a program that is a transport, or manages a type of resource, failed or broke its contract.

use std::fmt;

use devgate_schemas::Value;

use super::text::one_line;

/// What went wrong in a program that was asked to do something with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramProblem {
    /// The program's file.
    pub program: String,
    /// What it was asked to do: `verify`, `get`.
    pub action: String,
    /// What it said itself, or what was expected of it.
    pub problem: String,
    /// The kind that it gives its error itself, in the words of the task specification ("Errors").
    pub kind: Option<String>,
    /// What it says of its error for programs.
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
