//! The phases of opening a session.

use std::fmt;

/// The phases of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The TCP connection.
    Connection,
    /// SSH's version exchange and key exchange.
    KeyExchange,
    /// TLS's handshake.
    Tls,
    /// The login.
    Authentication,
    /// The exchange of capabilities.
    Hello,
    /// A request, after the session was opened.
    Request,
    /// The request for a terminal or a subsystem.
    Channel,
    /// The wait for the first prompt.
    Prompt,
    /// The change to privileged mode.
    Enable,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connection => "connection",
            Self::KeyExchange => "key exchange",
            Self::Tls => "the TLS handshake",
            Self::Authentication => "authentication",
            Self::Hello => "the exchange of capabilities",
            Self::Request => "a request",
            Self::Channel => "channel request",
            Self::Prompt => "the wait for a prompt",
            Self::Enable => "the change to privileged mode",
        })
    }
}
