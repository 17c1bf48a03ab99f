//! What operators hear while something runs: one event per fact.

use std::fmt;

use serde::Serialize;

/// How much an event matters, in the words of the Resource API ("General messages").
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

/// How an event may be shown to somebody who watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventDisplay {
    /// On a line of its own.
    #[default]
    Once,
    /// In place of the one before it of the same target: something is tried again.
    Again,
    /// Not at all where the target's result is shown: it says the same.
    InResult,
}

/// One thing that was said, and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// How much it matters.
    pub level: Level,
    /// The target it concerns.
    pub target: String,
    /// The resource type, or type and title (`frr_interface[swp1]`), where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What happened, without the target and the subject.
    pub message: String,
    /// How it may be shown.
    #[serde(skip)]
    pub display: EventDisplay,
}

/// Hears events as they happen.
pub trait EventSink: Send + Sync {
    /// Takes one event; it must not block.
    fn emit(&self, event: Event);

    /// Takes that what was tried again ([`EventDisplay::Again`]) has come to its end.
    fn settled(&self, target: &str) {
        let _ = target;
    }
}

/// Forgets every event.
#[derive(Clone, Copy, Debug)]
pub struct NullSink;

impl EventSink for NullSink {
    fn emit(&self, _: Event) {}
}
