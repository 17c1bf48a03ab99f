//! Failures in results: the only place where errors become `_error {kind, msg, details}`.

use std::error::Error;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The kind of a request that a device rejects or does not know.
const DEVICE_ERROR: &str = "devgate/device-error";

/// The kind of a failure of an external program that names none.
const PROGRAM_ERROR: &str = "devgate/program-error";

/// The kind of a connection error.
const CONNECT_ERROR: &str = "puppetlabs.tasks/connect-error";

/// The detail for a target that is down: it could not be reached or disconnected, and rejected nothing.
const DOWN: &str = "down";

/// The detail for the proxies that failed: the kind and message of each, by name.
const PROXIES: &str = "proxies";

/// The detail for the proxy that the session went through.
const PROXY: &str = "proxy";

/// Why it failed.
///
/// It has the form of the task specification ("Errors"), which allows more keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Failure {
    /// What kind of failure it is: puppetlabs.tasks/connect-error.
    pub kind: String,
    /// What happened, and what to do about it, for people.
    pub msg: String,
    /// More, for programs.
    #[serde(default)]
    pub details: Map<String, Json>,
}

impl Failure {
    /// A failure of a kind, without details.
    pub fn new(kind: &str, msg: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            msg: msg.into(),
            details: Map::new(),
        }
    }

    /// A failure of no special kind.
    pub fn other(msg: impl Into<String>) -> Self {
        Self::new("devgate/error", msg)
    }

    /// Whether the connection failed, and not the request.
    pub fn is_of_connection(&self) -> bool {
        self.kind == CONNECT_ERROR
    }

    /// Adds a detail.
    pub fn with(mut self, key: &str, value: impl Into<Json>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds why this proxy failed.
    pub fn with_failed_proxy(mut self, name: &str, why: Json) -> Self {
        let proxies = self.details.entry(PROXIES).or_insert_with(|| json!({}));
        proxies[name] = why;
        self
    }

    /// Returns the message of a proxy that failed.
    pub fn failed_proxy(&self, name: &str) -> Option<&str> {
        self.details.get(PROXIES)?.get(name)?.get("msg")?.as_str()
    }

    /// Adds the proxy that the session went through.
    pub fn with_proxy(self, name: &str) -> Self {
        self.with(PROXY, name)
    }

    /// Returns the proxy that the session went through.
    pub fn proxy(&self) -> Option<&str> {
        self.details.get(PROXY)?.as_str()
    }

    /// Whether the target is down.
    pub fn is_down(&self) -> bool {
        self.details.contains_key(DOWN)
    }

    /// The result value of a target that failed.
    pub fn into_value(self) -> Json {
        json!({ "_error": self })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.msg)
    }
}

impl Error for Failure {}

/// Adds context to an error.
pub trait ErrorContext<T> {
    /// Adds what failed before the error: `cannot read x: no such file`.
    ///
    /// # Errors
    /// The same, with the context.
    fn context(self, what: impl fmt::Display) -> Result<T, Failure>;

    /// The same, with a text that is made only for an error.
    ///
    /// # Errors
    /// The same, with the context.
    fn with_context<C: fmt::Display>(self, what: impl FnOnce() -> C) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> ErrorContext<T> for Result<T, E> {
    fn context(self, what: impl fmt::Display) -> Result<T, Failure> {
        self.with_context(|| what)
    }

    fn with_context<C: fmt::Display>(self, what: impl FnOnce() -> C) -> Result<T, Failure> {
        self.map_err(|error| {
            let mut failure = error.into();
            failure.msg = format!("{}: {}", what(), failure.msg);
            failure
        })
    }
}

impl<T> ErrorContext<T> for Option<T> {
    fn context(self, what: impl fmt::Display) -> Result<T, Failure> {
        self.with_context(|| what)
    }

    fn with_context<C: fmt::Display>(self, what: impl FnOnce() -> C) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::other(what().to_string()))
    }
}

/// Errors of the system and of libraries have no kind of their own.
macro_rules! without_kind {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::other(with_causes(&error))
            }
        }
    )*};
}

without_kind!(std::io::Error, serde_json::Error, nix::errno::Errno);

impl From<devgate_transports::Error> for Failure {
    fn from(error: devgate_transports::Error) -> Self {
        use devgate_transports::Error;
        let kind = match &error {
            // The target rejected the request, or was not asked.
            Error::CommandFailed { .. } | Error::Configuration(_) | Error::Refused(_) => {
                DEVICE_ERROR
            }
            Error::ControlCharacter { .. }
            | Error::Unsupported(_)
            | Error::CandidateInUse(_)
            | Error::CommitPending(_)
            | Error::UnconfirmedChange(_) => DEVICE_ERROR,
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
        if let Error::NoProxy(problem) = &error
            && !problem.proxies.is_empty()
        {
            let proxies = problem.proxies.iter();
            let each = proxies.map(|proxy| {
                let why = json!({ "kind": CONNECT_ERROR, "msg": proxy.message });
                (proxy.name.clone(), why)
            });
            failure = failure.with(PROXIES, each.collect::<Map<_, _>>());
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

/// Whether an error means that the target is down. A target that rejects the credentials, or shows another key or
/// certificate, is not down: such an error must not be ignored.
fn is_down(error: &devgate_transports::Error) -> bool {
    use devgate_transports::Error;
    use devgate_transports::error::{ForwardingObstacle, Phase};
    match error {
        Error::RetryBudgetSpent(spent) => spent.last_error.as_deref().is_none_or(is_down),
        Error::Unreachable { .. } | Error::Resolve { .. } | Error::JumpHostUnreachable { .. } => {
            true
        }
        Error::ForwardingRefused(problem) => problem.obstacle == ForwardingObstacle::ConnectFailed,
        Error::Interrupted(_) => true,
        Error::TimedOut { phase, .. } | Error::Closed { phase, .. } => {
            !matches!(phase, Phase::Authentication | Phase::Enable)
        }
        _ => false,
    }
}

/// An error and its causes, outermost first.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
