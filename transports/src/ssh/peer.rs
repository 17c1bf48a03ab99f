//! The other end of a connection, as errors name it.

use std::sync::Arc;

use russh::ChannelOpenFailure;

use super::handler::Heard;
use crate::Error;

/// The other end of a connection, and the messages received from it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    name: Arc<str>,
    heard: Arc<Heard>,
}

impl Peer {
    pub(super) fn new(name: &str, heard: Arc<Heard>) -> Self {
        Self {
            name: name.into(),
            heard,
        }
    }

    /// Returns `host:port`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the host's disconnect message, or else its banner.
    pub(crate) fn said(&self) -> String {
        self.heard.said()
    }

    /// Returns the host's version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.heard.version()
    }

    /// Returns why the host refused the last channel: its description, or else the name of the reason.
    pub(super) fn refusal(&self, reason: &ChannelOpenFailure) -> String {
        match self.heard.refusal() {
            words if words.trim().is_empty() => format!("{reason:?}"),
            words => words,
        }
    }

    /// Returns the error for an operation that failed because the connection ended.
    pub(crate) fn lost(&self) -> Error {
        Error::Lost {
            peer: self.name.to_string(),
            why: self.heard.end(),
        }
    }
}
