//! The receiving side of a connection: host key, version, banner and disconnect message.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use devgate_schemas::shortened;
use russh::client::{DisconnectReason, Handler, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{ChannelId, ChannelOpenFailure, Names};

use super::host_keys::HostKeyCheck;
use crate::error::HostKeyProblem;

/// Receives the events of a connection.
pub(super) struct EventHandler {
    pub(super) check: HostKeyCheck,
    pub(super) messages: Arc<PeerMessages>,
}

/// The messages received from the host.
#[derive(Debug, Default)]
pub(super) struct PeerMessages(Mutex<Messages>);

#[derive(Debug, Default)]
struct Messages {
    version: String,
    banner: String,
    disconnect_message: String,
    /// The host's descriptions of why it refused channels, with the reasons, in the order of their arrival.
    refusals: VecDeque<(ChannelOpenFailure, String)>,
    end: Option<&'static str>,
    /// Whether the host ended the connection with a disconnect message.
    has_disconnected: bool,
    /// How the host violated the protocol.
    violation: Option<String>,
    recorded_in: Option<std::path::PathBuf>,
}

/// Why the connection's own task ended.
#[derive(Debug)]
pub(super) enum HandlerError {
    Ssh(russh::Error),
    HostKey(Box<HostKeyProblem>),
}

/// The most likely cause of a message that cannot be decoded (RFC 4252, 5.4: banners are in UTF-8).
const NOT_UTF8: &str = "a message of it cannot be decoded; most likely its login banner is not in UTF-8: \
                        set one there without letters like `ü`";

/// The maximum length of a stored banner.
const MAX_BANNER_LENGTH: usize = 4 * 1024;

/// How many descriptions of refusals are kept.
const MAX_REFUSALS: usize = 64;

impl PeerMessages {
    /// Returns the host's version line, without its line end.
    pub(super) fn version(&self) -> String {
        self.locked(|messages| messages.version.clone())
    }

    /// Returns the host's disconnect message, or else its banner.
    pub(super) fn last_message(&self) -> String {
        self.locked(|messages| {
            if messages.disconnect_message.is_empty() {
                &messages.banner
            } else {
                &messages.disconnect_message
            }
            .clone()
        })
    }

    /// Returns how the connection ended.
    pub(super) fn end(&self) -> String {
        let (end, disconnect_message) =
            self.locked(|messages| (messages.end, messages.disconnect_message.clone()));
        match end {
            Some(end) => end.to_owned(),
            None if disconnect_message.trim().is_empty() => "it was closed".to_owned(),
            None => format!("the host closed it, saying `{}`", disconnect_message.trim()),
        }
    }

    /// Returns whether the host sent a disconnect message. Any other end may be an accident.
    pub(super) fn has_disconnected(&self) -> bool {
        self.locked(|messages| messages.has_disconnected)
    }

    /// Returns how the host violated the protocol, if that is why the connection ended.
    pub(super) fn violation(&self) -> Option<String> {
        self.locked(|messages| messages.violation.clone())
    }

    /// Takes the host's first description of a refusal for this reason. Refusals of several channels at once reach their
    /// openers in the order of their arrival.
    pub(super) fn take_refusal(&self, reason: &ChannelOpenFailure) -> Option<String> {
        self.locked(|messages| {
            let mut refusals = messages.refusals.iter();
            let at = refusals.position(|(other, _)| other == reason)?;
            messages
                .refusals
                .remove(at)
                .map(|(_, description)| description)
        })
    }

    /// Takes the path of the file in which the host key was just recorded.
    pub(super) fn take_recorded_in(&self) -> Option<std::path::PathBuf> {
        self.locked(|messages| messages.recorded_in.take())
    }

    fn locked<T>(&self, read: impl FnOnce(&mut Messages) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Handler for EventHandler {
    type Error = HandlerError;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, HandlerError> {
        let recorded_in = self
            .check
            .accept_presented(key)
            .await
            .map_err(HandlerError::HostKey)?;
        self.messages
            .locked(|messages| messages.recorded_in = recorded_in);
        Ok(true)
    }

    async fn kex_done(
        &mut self,
        _: Option<&[u8]>,
        _: &Names,
        session: &mut Session,
    ) -> Result<(), HandlerError> {
        let version = String::from_utf8_lossy(session.remote_sshid())
            .trim()
            .to_owned();
        self.messages.locked(|messages| messages.version = version);
        Ok(())
    }

    async fn auth_banner(&mut self, banner: &str, _: &mut Session) -> Result<(), HandlerError> {
        // A banner may arrive in parts, each in a message of its own.
        self.messages.locked(|messages| {
            if messages.banner.chars().count() <= MAX_BANNER_LENGTH {
                messages.banner =
                    shortened(&format!("{}{banner}", messages.banner), MAX_BANNER_LENGTH);
            }
        });
        Ok(())
    }

    async fn channel_open_failure(
        &mut self,
        _: ChannelId,
        reason: ChannelOpenFailure,
        description: &str,
        _: &str,
        _: &mut Session,
    ) -> Result<(), HandlerError> {
        let refusal = shortened(description, MAX_BANNER_LENGTH);
        self.messages.locked(|messages| {
            // Openers that have given up leave theirs behind.
            if messages.refusals.len() == MAX_REFUSALS {
                messages.refusals.pop_front();
            }
            messages.refusals.push_back((reason, refusal));
        });
        Ok(())
    }

    async fn disconnected(
        &mut self,
        reason: DisconnectReason<HandlerError>,
    ) -> Result<(), HandlerError> {
        match reason {
            DisconnectReason::ReceivedDisconnect(info) => {
                let disconnect_message = shortened(&info.message, MAX_BANNER_LENGTH);
                self.messages.locked(|messages| {
                    messages.disconnect_message = disconnect_message;
                    messages.has_disconnected = true;
                });
            }
            DisconnectReason::Error(HandlerError::Ssh(russh::Error::KeepaliveTimeout)) => {
                let end = "the host has gone silent: it answers no keepalive";
                self.messages.locked(|messages| messages.end = Some(end));
            }
            DisconnectReason::Error(HandlerError::Ssh(russh::Error::IO(error)))
                if error.kind() == io::ErrorKind::TimedOut =>
            {
                let end = "the host has gone silent: it takes nothing that is sent";
                self.messages.locked(|messages| messages.end = Some(end));
            }
            DisconnectReason::Error(HandlerError::Ssh(error)) if is_violation(&error) => {
                let violation = match &error {
                    russh::Error::SshEncoding(_) => NOT_UTF8.to_owned(),
                    error => error.to_string().to_lowercase(),
                };
                self.messages
                    .locked(|messages| messages.violation = Some(violation));
            }
            DisconnectReason::Error(_) => {}
        }
        Ok(())
    }
}

/// Returns whether an error is a protocol violation by the peer, as opposed to the end of the connection.
fn is_violation(error: &russh::Error) -> bool {
    use russh::Error;
    match error {
        Error::IO(cause) => cause.kind() == io::ErrorKind::InvalidData,
        Error::Disconnect
        | Error::HUP
        | Error::ConnectionTimeout
        | Error::InactivityTimeout
        | Error::KeepaliveTimeout
        | Error::NoAuthMethod
        | Error::SendError
        | Error::RecvError
        | Error::Join(_)
        | Error::Elapsed(_) => false,
        _ => true,
    }
}

impl From<russh::Error> for HandlerError {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}
