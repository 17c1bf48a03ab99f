//! What is wrong with a resource.

use std::fmt;

/// Everything that is wrong with a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidResource(pub(super) Vec<ResourceProblem>);

/// One thing that is wrong with a resource, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceProblem {
    /// The attribute that is wrong, where it is one.
    pub attribute: Option<String>,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl InvalidResource {
    /// What is wrong, each with its attribute.
    pub fn wrong(&self) -> &[ResourceProblem] {
        &self.0
    }

    /// The same, a sentence each.
    pub fn problems(&self) -> Vec<&str> {
        self.0.iter().map(|wrong| wrong.message.as_str()).collect()
    }
}

impl ResourceProblem {
    /// That one attribute is wrong.
    pub fn of(attribute: &str, message: String) -> Self {
        Self {
            attribute: Some(attribute.to_owned()),
            message,
        }
    }

    /// That something is wrong which is not one attribute.
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
