//! Chooses the implementation of a task for a target.

use std::collections::BTreeSet;
use std::sync::Arc;

use devgate_schemas::task::InputMethod;
use devgate_transports::Mode;

use super::{Implementation, Task, TaskError};

/// The place where a task is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TaskPlace<'a> {
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
    /// Checks whether the task can run at such a place at all, whatever its features are. This is known before the
    /// place is reached.
    ///
    /// # Errors
    /// Fails for remote tasks on normal targets and normal tasks on remote ones, and in noop mode for tasks that do not
    /// support it (Task Specification, "Executing Remote Tasks").
    pub(crate) fn admit(&self, place: TaskPlace<'_>, mode: Mode) -> Result<(), TaskError> {
        self.fitting(place, mode).map(drop)
    }

    /// Returns the implementations up to the chosen one, in the order in which they are tried, with the reasons for
    /// skipping the others.
    pub(crate) fn passed_over(&self, place: TaskPlace<'_>) -> Vec<(String, Option<String>)> {
        let mut tried = Vec::new();
        for one in &self.implementations {
            let missing = one.missing(place.features());
            let why = match (one.remote, place.is_remote()) {
                (true, false) => Some("it is for remote targets".to_owned()),
                (false, true) => Some("it is not for remote targets".to_owned()),
                _ if missing.is_empty() => None,
                _ => Some(format!("{} is missing", missing.join(", "))),
            };
            let chosen = why.is_none();
            tried.push((one.file_name().to_owned(), why));
            if chosen {
                break;
            }
        }
        tried
    }

    fn fitting(
        &self,
        place: TaskPlace<'_>,
        mode: Mode,
    ) -> Result<Vec<&Arc<Implementation>>, TaskError> {
        let task = self.name.to_string();
        let target = place.target().to_owned();
        if mode == Mode::Noop && !self.metadata.supports_noop {
            return Err(TaskError::NoopUnsupported { task, target });
        }
        let fitting: Vec<&Arc<Implementation>> = self
            .implementations
            .iter()
            .filter(|one| one.remote == place.is_remote())
            .collect();
        if fitting.is_empty() {
            return Err(match place {
                TaskPlace::Normal { .. } => TaskError::RemoteTaskOnNormalTarget { task, target },
                TaskPlace::Remote { proxy, .. } => TaskError::NormalTaskOnRemoteTarget {
                    task,
                    target,
                    proxy: proxy.to_owned(),
                },
            });
        }
        Ok(fitting)
    }

    /// Chooses the first implementation for this kind of target whose requirements the place satisfies (Task
    /// Specification, "Task implementations").
    ///
    /// # Errors
    /// Fails as [`admit`](Self::admit), and when a feature is missing, which is named.
    pub(super) fn choose(
        &self,
        place: TaskPlace<'_>,
        mode: Mode,
    ) -> Result<Arc<Implementation>, TaskError> {
        let fitting = self.fitting(place, mode)?;
        let features = place.features();
        let Some(chosen) = fitting.iter().find(|one| one.missing(features).is_empty()) else {
            return Err(TaskError::MissingFeatures {
                task: self.name.to_string(),
                target: place.target().to_owned(),
                runner: place.runner().to_owned(),
                features: features.iter().cloned().collect(),
                lacks: fitting.iter().map(|one| one.lack(features)).collect(),
            });
        };
        if chosen.input_method == InputMethod::Powershell && !features.contains("powershell") {
            return Err(TaskError::Powershell {
                task: self.name.to_string(),
                file: chosen.file_name().to_owned(),
                runner: place.runner().to_owned(),
            });
        }
        Ok(Arc::clone(chosen))
    }
}

impl<'a> TaskPlace<'a> {
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
