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

    /// Returns why the host refused a channel: its description, or else the reason of the protocol (RFC 4254, 5.1).
    pub(super) fn take_refusal(&self, reason: &ChannelOpenFailure) -> String {
        let description = self.messages.take_refusal(reason);
        let described = description.filter(|description| !description.trim().is_empty());
        described.unwrap_or_else(|| {
            let words = match reason {
                ChannelOpenFailure::AdministrativelyProhibited => "administratively prohibited",
                ChannelOpenFailure::ConnectFailed => "connect failed",
                ChannelOpenFailure::UnknownChannelType => "unknown channel type",
                ChannelOpenFailure::ResourceShortage => "resource shortage",
                _ => "unknown reason",
            };
            words.to_owned()
        })
    }

    /// Returns the error for an operation that failed because the connection ended.
    pub(crate) fn connection_lost(&self) -> Error {
        Error::Lost {
            peer: self.name.to_string(),
            why: self.messages.end(),
        }
    }
}
