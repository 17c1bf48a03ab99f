//! One implementation of a task: its files and its requirements.

use std::collections::BTreeSet;

use devgate_schemas::task::InputMethod;

use super::Layout;
use super::error::MissingFeatures;

/// One implementation of a task, with the defaults of the task.
#[derive(Debug)]
pub(crate) struct Implementation {
    /// The executable and the files that it needs: its own, then the task's.
    pub(crate) layout: Layout,
    /// The features that it needs.
    pub(crate) requirements: Vec<String>,
    /// How it receives its parameters.
    pub(crate) input_method: InputMethod,
    /// Whether it acts on a remote target.
    pub remote: bool,
}

impl Implementation {
    /// Returns the name of the executable.
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

    pub(super) fn missing_features(&self, features: &BTreeSet<String>) -> MissingFeatures {
        MissingFeatures {
            file: self.file_name().to_owned(),
            missing: self.missing(features),
        }
    }
}
