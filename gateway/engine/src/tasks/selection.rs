//! Chooses the implementation of a task for a target.

use std::collections::BTreeSet;
use std::sync::Arc;

use devgate_schemas::task::InputMethod;
use devgate_transports::Mode;

use super::{Implementation, Task, TaskError};

/// Where a task is to run: on its target or on a proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RunLocation<'a> {
    /// On a normal target with these features.
    Normal {
        target: &'a str,
        features: &'a BTreeSet<String>,
    },
    /// On a proxy, for a remote target. The features are those of both.
    Remote {
        target: &'a str,
        proxy: &'a str,
        features: &'a BTreeSet<String>,
    },
}

impl Task {
    /// Checks whether the task can run at such a location at all, whatever its features are. This is known before the
    /// location is reached.
    ///
    /// # Errors
    /// Fails for remote tasks on normal targets and normal tasks on remote ones, and in noop mode for tasks that do not
    /// support it (Task Specification, "Executing Remote Tasks").
    pub(crate) fn admit(&self, location: RunLocation<'_>, mode: Mode) -> Result<(), TaskError> {
        self.candidates(location, mode).map(drop)
    }

    /// Returns the implementations up to the chosen one, in the order in which they are tried, with the reasons for
    /// skipping the others.
    pub(crate) fn tried_implementations(
        &self,
        location: RunLocation<'_>,
    ) -> Vec<(String, Option<String>)> {
        let mut tried = Vec::new();
        for implementation in &self.implementations {
            let missing = implementation.missing(location.features());
            let why = match (implementation.remote, location.is_remote()) {
                (true, false) => Some("it is for remote targets".to_owned()),
                (false, true) => Some("it is not for remote targets".to_owned()),
                _ if missing.is_empty() => None,
                _ => Some(format!("{} is missing", missing.join(", "))),
            };
            let selected = why.is_none();
            tried.push((implementation.file_name().to_owned(), why));
            if selected {
                break;
            }
        }
        tried
    }

    fn candidates(
        &self,
        location: RunLocation<'_>,
        mode: Mode,
    ) -> Result<Vec<&Arc<Implementation>>, TaskError> {
        let task = self.name.to_string();
        let target = location.target().to_owned();
        if mode == Mode::Noop && !self.metadata.supports_noop {
            return Err(TaskError::NoopUnsupported { task, target });
        }
        let candidates: Vec<&Arc<Implementation>> = self
            .implementations
            .iter()
            .filter(|implementation| implementation.remote == location.is_remote())
            .collect();
        if candidates.is_empty() {
            return Err(match location {
                RunLocation::Normal { .. } => TaskError::RemoteTaskOnNormalTarget { task, target },
                RunLocation::Remote { proxy, .. } => TaskError::NormalTaskOnRemoteTarget {
                    task,
                    target,
                    proxy: proxy.to_owned(),
                },
            });
        }
        Ok(candidates)
    }

    /// Chooses the first implementation for this kind of target whose requirements the location satisfies (Task
    /// Specification, "Task implementations").
    ///
    /// # Errors
    /// Fails as [`admit`](Self::admit), and when a feature is missing, which is named.
    pub(super) fn select(
        &self,
        location: RunLocation<'_>,
        mode: Mode,
    ) -> Result<Arc<Implementation>, TaskError> {
        let candidates = self.candidates(location, mode)?;
        let features = location.features();
        let Some(selected) = candidates
            .iter()
            .find(|implementation| implementation.missing(features).is_empty())
        else {
            return Err(TaskError::MissingFeatures {
                task: self.name.to_string(),
                target: location.target().to_owned(),
                runner: location.runner().to_owned(),
                features: features.iter().cloned().collect(),
                missing: candidates
                    .iter()
                    .map(|implementation| implementation.missing_features(features))
                    .collect(),
            });
        };
        if selected.input_method == InputMethod::Powershell && !features.contains("powershell") {
            return Err(TaskError::Powershell {
                task: self.name.to_string(),
                file: selected.file_name().to_owned(),
                runner: location.runner().to_owned(),
            });
        }
        Ok(Arc::clone(selected))
    }
}

impl<'a> RunLocation<'a> {
    fn is_remote(self) -> bool {
        matches!(self, Self::Remote { .. })
    }

    fn target(self) -> &'a str {
        match self {
            Self::Normal { target, .. } | Self::Remote { target, .. } => target,
        }
    }

    /// Returns the target that runs the process.
    fn runner(self) -> &'a str {
        match self {
            Self::Normal { target, .. } => target,
            Self::Remote { proxy, .. } => proxy,
        }
    }

    fn features(self) -> &'a BTreeSet<String> {
        match self {
            Self::Normal { features, .. } | Self::Remote { features, .. } => features,
        }
    }
}
