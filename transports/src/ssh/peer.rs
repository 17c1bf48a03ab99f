//! The other end of a connection, as errors name it.

use std::sync::Arc;

use russh::ChannelOpenFailure;

use super::handler::Heard;
use crate::Error;

/// The other end of one connection, and what it has said.
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

    /// `host:port`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its last words; before any, its banner.
    pub(crate) fn said(&self) -> String {
        self.heard.said()
    }

    /// Its version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.heard.version()
    }

    /// Why it refused a channel just now: in its words, or else by the reason's name.
    pub(super) fn refusal(&self, reason: &ChannelOpenFailure) -> String {
        match self.heard.refusal() {
            words if words.trim().is_empty() => format!("{reason:?}"),
            words => words,
        }
    }

    /// Why what runs over the connection cannot go on.
    pub(crate) fn lost(&self) -> Error {
        Error::Lost {
            peer: self.name.to_string(),
            why: self.heard.end(),
        }
    }
}
