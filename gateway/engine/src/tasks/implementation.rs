//! One implementation of a task: its files, and what it needs.

use std::collections::BTreeSet;

use devgate_schemas::task::InputMethod;

use super::Layout;
use super::error::MissingFeatures;

/// One implementation of a task, with all that the task as a whole says put in.
#[derive(Debug)]
pub(crate) struct Implementation {
    /// The executable, and the files that it needs beside it: its own, then the task's.
    pub(crate) layout: Layout,
    /// The features that it needs.
    pub(crate) requirements: Vec<String>,
    /// How it wants its parameters.
    pub(crate) input_method: InputMethod,
    /// Whether it acts on a remote target.
    pub remote: bool,
}

impl Implementation {
    /// The executable's own name.
    pub(crate) fn file_name(&self) -> &str {
        let name = &self.layout.executable().name;
        name.rsplit('/').next().unwrap_or(name)
    }

    pub(super) fn missing(&self, features: &BTreeSet<String>) -> Vec<String> {
        self.requirements
            .iter()
            .filter(|needed| !features.contains(*needed))
            .cloned()
            .collect()
    }

    pub(super) fn lack(&self, features: &BTreeSet<String>) -> MissingFeatures {
        MissingFeatures {
            file: self.file_name().to_owned(),
            missing: self.missing(features),
        }
    }
}
