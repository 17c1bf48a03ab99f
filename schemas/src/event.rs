//! Events that operators see while something runs: one event per fact.

use std::fmt;

use serde::Serialize;

/// The severity of an event, in the words of the Resource API ("General messages").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Everything that happens, shown on request.
    Debug,
    /// Regular progress.
    Info,
    /// State changes, retries, and other things of note.
    Notice,
    /// Trouble that does not yet stop the main part of the work.
    Warning,
    /// Trouble that made normal work fail.
    Err,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Err => "err",
        })
    }
}

/// How an event is displayed while the run is being watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventDisplay {
    /// On a line of its own.
    #[default]
    Once,
    /// Replaces the previous event of the same target: an action is being retried.
    Again,
    /// Not displayed where the target's result is shown, which says the same.
    InResult,
}

/// One message and its subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// The severity.
    pub level: Level,
    /// The target it concerns.
    pub target: String,
    /// The resource type, or the type and title (`frr_interface[swp1]`), if the event concerns one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What happened, without the target and the subject.
    pub message: String,
    /// How the event is displayed.
    #[serde(skip)]
    pub display: EventDisplay,
}

/// Receives events as they happen.
pub trait EventSink: Send + Sync {
    /// Receives one event. It must not block.
    fn emit(&self, event: Event);

    /// Called when a retried action ([`EventDisplay::Again`]) has ended.
    fn settled(&self, target: &str) {
        let _ = target;
    }
}

/// An event sink that discards every event.
#[derive(Clone, Copy, Debug)]
pub struct NullSink;

impl EventSink for NullSink {
    fn emit(&self, _: Event) {}
}
