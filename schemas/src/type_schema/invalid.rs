//! The problems of an invalid resource.

use std::fmt;

/// Everything that is wrong with a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidResource(pub(super) Vec<ResourceProblem>);

/// One problem of a resource, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceProblem {
    /// The attribute at fault, if the problem concerns a single attribute.
    pub attribute: Option<String>,
    /// The problem, and what was expected.
    pub message: String,
}

impl InvalidResource {
    /// Returns the problems, each with its attribute.
    pub fn wrong(&self) -> &[ResourceProblem] {
        &self.0
    }

    /// Returns the problems as one sentence each.
    pub fn problems(&self) -> Vec<&str> {
        self.0.iter().map(|wrong| wrong.message.as_str()).collect()
    }
}

impl ResourceProblem {
    /// Creates a problem of one attribute.
    pub fn of(attribute: &str, message: String) -> Self {
        Self {
            attribute: Some(attribute.to_owned()),
            message,
        }
    }

    /// Creates a problem that concerns more than one attribute.
    pub fn of_all(message: String) -> Self {
        Self {
            attribute: None,
            message,
        }
    }
}

impl fmt::Display for InvalidResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems().join("\n"))
    }
}

impl std::error::Error for InvalidResource {}
