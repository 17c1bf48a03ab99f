//! The receiving side of a connection: host key, version, banner and disconnect message.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use devgate_schemas::shortened;
use russh::client::{DisconnectReason, Handler, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{ChannelId, ChannelOpenFailure, Names};

use super::host_keys::HostKeyCheck;
use crate::error::HostKeyProblem;

/// Receives the events of a connection.
pub(super) struct Client {
    pub(super) check: HostKeyCheck,
    pub(super) heard: Arc<Heard>,
}

/// The messages received from the host.
#[derive(Debug, Default)]
pub(super) struct Heard(Mutex<Words>);

#[derive(Debug, Default)]
struct Words {
    version: String,
    banner: String,
    goodbye: String,
    /// The host's description of why it refused a channel.
    refusal: String,
    end: Option<&'static str>,
    /// Whether the host ended the connection with a disconnect message.
    has_disconnected: bool,
    /// How the host violated the protocol.
    breach: Option<String>,
    remembered: Option<std::path::PathBuf>,
}

/// Why the connection's own task ended.
#[derive(Debug)]
pub(super) enum Failure {
    Ssh(russh::Error),
    HostKey(Box<HostKeyProblem>),
}

/// The most likely cause of a message that cannot be decoded (RFC 4252, 5.4: banners are in UTF-8).
const NOT_UTF8: &str = "a message of it cannot be decoded; most likely its login banner is not in UTF-8: \
                        set one there without letters like `ü`";

/// The maximum length of a stored banner.
const LONGEST_BANNER: usize = 4 * 1024;

impl Heard {
    /// Returns the host's version line, without its line end.
    pub(super) fn version(&self) -> String {
        self.words(|words| words.version.clone())
    }

    /// Returns the host's disconnect message, or else its banner.
    pub(super) fn said(&self) -> String {
        self.words(|words| {
            if words.goodbye.is_empty() {
                &words.banner
            } else {
                &words.goodbye
            }
            .clone()
        })
    }

    /// Returns how the connection ended.
    pub(super) fn end(&self) -> String {
        let (end, goodbye) = self.words(|words| (words.end, words.goodbye.clone()));
        match end {
            Some(end) => end.to_owned(),
            None if goodbye.trim().is_empty() => "it was closed".to_owned(),
            None => format!("the host closed it, saying `{}`", goodbye.trim()),
        }
    }

    /// Returns whether the host sent a disconnect message. Any other end may be an accident.
    pub(super) fn has_disconnected(&self) -> bool {
        self.words(|words| words.has_disconnected)
    }

    /// Returns how the host violated the protocol, if that is why the connection ended.
    pub(super) fn breach(&self) -> Option<String> {
        self.words(|words| words.breach.clone())
    }

    /// Takes the host's description of why it refused the last channel.
    pub(super) fn refusal(&self) -> String {
        self.words(|words| std::mem::take(&mut words.refusal))
    }

    /// Takes the path of the file in which the host key was just recorded.
    pub(super) fn remembered(&self) -> Option<std::path::PathBuf> {
        self.words(|words| words.remembered.take())
    }

    fn words<T>(&self, read: impl FnOnce(&mut Words) -> T) -> T {
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Handler for Client {
    type Error = Failure;

    async fn check_server_key(&mut self, key: &PublicKeyOrCertificate) -> Result<bool, Failure> {
        let remembered = self
            .check
            .accept_shown(key)
            .await
            .map_err(Failure::HostKey)?;
        self.heard.words(|words| words.remembered = remembered);
        Ok(true)
    }

    async fn kex_done(
        &mut self,
        _: Option<&[u8]>,
        _: &Names,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let version = String::from_utf8_lossy(session.remote_sshid())
            .trim()
            .to_owned();
        self.heard.words(|words| words.version = version);
        Ok(())
    }

    async fn auth_banner(&mut self, banner: &str, _: &mut Session) -> Result<(), Failure> {
        // A banner may arrive in parts, each in a message of its own.
        self.heard.words(|words| {
            if words.banner.chars().count() <= LONGEST_BANNER {
                words.banner = shortened(&format!("{}{banner}", words.banner), LONGEST_BANNER);
            }
        });
        Ok(())
    }

    async fn channel_open_failure(
        &mut self,
        _: ChannelId,
        _: ChannelOpenFailure,
        description: &str,
        _: &str,
        _: &mut Session,
    ) -> Result<(), Failure> {
        let refusal = shortened(description, LONGEST_BANNER);
        self.heard.words(|words| words.refusal = refusal);
        Ok(())
    }

    async fn disconnected(&mut self, reason: DisconnectReason<Failure>) -> Result<(), Failure> {
        match reason {
            DisconnectReason::ReceivedDisconnect(info) => {
                let goodbye = shortened(&info.message, LONGEST_BANNER);
                self.heard.words(|words| {
                    words.goodbye = goodbye;
                    words.has_disconnected = true;
                });
            }
            DisconnectReason::Error(Failure::Ssh(russh::Error::KeepaliveTimeout)) => {
                let end = "the host has gone silent: it answers no keepalive";
                self.heard.words(|words| words.end = Some(end));
            }
            DisconnectReason::Error(Failure::Ssh(russh::Error::IO(error)))
                if error.kind() == io::ErrorKind::TimedOut =>
            {
                let end = "the host has gone silent: it takes nothing that is sent";
                self.heard.words(|words| words.end = Some(end));
            }
            DisconnectReason::Error(Failure::Ssh(error)) if is_breach(&error) => {
                let breach = match &error {
                    russh::Error::SshEncoding(_) => NOT_UTF8.to_owned(),
                    error => error.to_string().to_lowercase(),
                };
                self.heard.words(|words| words.breach = Some(breach));
            }
            DisconnectReason::Error(_) => {}
        }
        Ok(())
    }
}

/// Returns whether an error is a protocol violation by the peer, as opposed to the end of the connection.
fn is_breach(error: &russh::Error) -> bool {
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

impl From<russh::Error> for Failure {
    fn from(error: russh::Error) -> Self {
        Self::Ssh(error)
    }
}
