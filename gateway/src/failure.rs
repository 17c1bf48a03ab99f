//! How a failure is told in results: the one place where errors become `_error {kind, msg, details}`.

use std::error::Error;
use std::fmt;

use devgate_schemas::InvalidConnectionInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::inventory::{InventoryError, Target};
use crate::project::ProjectError;
use crate::tasks::TaskError;

/// The kind of what a device refuses, or does not know.
const DEVICE_ERROR: &str = "devgate/device-error";

/// The kind of a failure of a program that is a transport or a resource type, where it names none.
const PROGRAM_ERROR: &str = "devgate/program-error";

/// The kind of what is wrong with a connection.
const CONNECT_ERROR: &str = "puppetlabs.tasks/connect-error";

/// The detail that says that the target is down: it was not reached, or went away, and has refused
/// nothing.
const DOWN: &str = "down";

/// Why it failed.
///
/// It has the form of the task specification ("Errors"), which forbids nothing beside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct Failure {
    /// What kind of failure it is: puppetlabs.tasks/connect-error.
    pub(crate) kind: String,
    /// What happened, and what to do about it, for people.
    pub(crate) msg: String,
    /// More, for programs.
    #[serde(default)]
    pub(crate) details: Map<String, Json>,
}

impl Failure {
    /// A failure of a kind, without details.
    pub(crate) fn new(kind: &str, msg: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            msg: msg.into(),
            details: Map::new(),
        }
    }

    /// That a target's connection info does not fit its transport.
    pub(crate) fn invalid_connection_info(target: &Target, why: &InvalidConnectionInfo) -> Self {
        Self::new(
            "devgate/invalid-connection-info",
            format!("{}: {why}", target.name),
        )
    }

    /// That a name on the command line is no target's, and no address that can be used as it is.
    pub(crate) fn unknown_target(target: &Target) -> Self {
        let name = &target.name;
        let why = match &target.namesake {
            Some(other) => format!(
                " by this name (a URI is the name of a target that has no other); did you mean \
                 `{other}`, which has this URI?"
            ),
            None if name.contains("://") => {
                "; what the group `all` says counts for a URI, and that names no transport of devices"
                    .to_owned()
            }
            None => String::new(),
        };
        let message =
            format!("{name} is not in the inventory{why}; `devgate inventory show` names what is");
        Self::new("devgate/unknown-target", message)
    }

    /// Whether it is the connection that failed, and not what was asked for over it.
    pub(crate) fn is_of_connection(&self) -> bool {
        self.kind == CONNECT_ERROR
    }

    /// The same failure with one more detail.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Whether the target is down.
    pub(crate) fn is_down(&self) -> bool {
        self.details.contains_key(DOWN)
    }

    /// The result value of a target that failed.
    pub(crate) fn into_value(self) -> Json {
        json!({ "_error": self })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.msg)
    }
}

impl Error for Failure {}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(failure) => return failure,
            Err(error) => error,
        };
        let error = match error.downcast::<TaskError>() {
            Ok(error) => return error.into(),
            Err(error) => error,
        };
        let error = match error.downcast::<InventoryError>() {
            Ok(error) => return Self::from(&error),
            Err(error) => error,
        };
        let kind = match error.downcast_ref::<ProjectError>() {
            Some(ProjectError::WorldWritable(_)) => "bolt/world-writable-error",
            Some(ProjectError::Invalid(_)) => "bolt/validation-error",
            Some(_) => "bolt/file-error",
            None => "devgate/error",
        };
        Self::new(kind, format!("{error:#}"))
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

impl From<TaskError> for Failure {
    fn from(error: TaskError) -> Self {
        let (kind, msg, details) = error.to_error();
        let details = details.as_object().cloned().unwrap_or_default();
        Self {
            kind: kind.to_owned(),
            msg,
            details,
        }
    }
}

impl From<devgate_transports::Error> for Failure {
    fn from(error: devgate_transports::Error) -> Self {
        use devgate_transports::Error;
        let kind = match &error {
            // It was reached, and said no; or was not even asked.
            Error::CommandFailed { .. } | Error::Configuration(_) | Error::Refused(_) => {
                DEVICE_ERROR
            }
            Error::ControlCharacter { .. } | Error::Unsupported(_) | Error::Unconfirmed(_) => {
                DEVICE_ERROR
            }
            Error::Program(problem) => problem.kind.as_deref().unwrap_or(PROGRAM_ERROR),
            _ => CONNECT_ERROR,
        };
        let mut failure = Self::new(kind, with_causes(&error));
        if is_down(&error) {
            failure = failure.with(DOWN, true);
        }
        if let Error::Refused(refused) = &error {
            failure = failure.with("status", refused.status.as_str());
            if let Some(details) = &refused.details {
                failure = failure.with("response", details.to_json());
            }
        }
        if let Error::Program(problem) = &error
            && let Some(details) = &problem.details
        {
            failure = failure.with("response", details.to_json());
        }
        match error.partial_output() {
            Some(partial) => failure.with("partial_output", partial),
            None => failure,
        }
    }
}

impl From<devgate_devices::Error> for Failure {
    fn from(error: devgate_devices::Error) -> Self {
        match error {
            devgate_devices::Error::Transport(error) => error.into(),
            error => Self::new(DEVICE_ERROR, with_causes(&error)),
        }
    }
}

/// Whether an error says that the target is down. One that refuses the credentials, or shows
/// another key or certificate, is there: what it says must not be passed over.
fn is_down(error: &devgate_transports::Error) -> bool {
    use devgate_transports::Error;
    use devgate_transports::error::{Obstacle, Phase};
    match error {
        Error::PatienceSpent(spent) => spent.last_error.as_deref().is_none_or(is_down),
        Error::Unreachable { .. } | Error::Resolve { .. } | Error::OnTheWay { .. } => true,
        Error::NotLedOn(problem) => problem.obstacle == Obstacle::ConnectFailed,
        Error::Interrupted(_) => true,
        Error::TimedOut { phase, .. } | Error::Closed { phase, .. } => {
            !matches!(phase, Phase::Authentication | Phase::Enable)
        }
        _ => false,
    }
}

/// An error and what caused it, outermost first.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
