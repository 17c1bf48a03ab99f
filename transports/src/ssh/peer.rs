//! The other end of a connection, as errors name it.

use std::sync::Arc;

use russh::ChannelOpenFailure;

use super::handler::PeerMessages;
use crate::Error;

/// The other end of a connection, and the messages received from it.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    name: Arc<str>,
    messages: Arc<PeerMessages>,
}

impl Peer {
    pub(super) fn new(name: &str, messages: Arc<PeerMessages>) -> Self {
        Self {
            name: name.into(),
            messages,
        }
    }

    /// Returns `host:port`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the host's disconnect message, or else its banner.
    pub(crate) fn last_message(&self) -> String {
        self.messages.last_message()
    }

    /// Returns the host's version line (RFC 4253, 4.2).
    pub(crate) fn version(&self) -> String {
        self.messages.version()
    }

    /// Returns why the host refused the last channel: its description, or else the name of the reason.
    pub(super) fn take_refusal(&self, reason: &ChannelOpenFailure) -> String {
        match self.messages.take_refusal() {
            description if description.trim().is_empty() => format!("{reason:?}"),
            description => description,
        }
    }

    /// Returns the error for an operation that failed because the connection ended.
    pub(crate) fn connection_lost(&self) -> Error {
        Error::Lost {
            peer: self.name.to_string(),
            why: self.messages.end(),
        }
    }
}
