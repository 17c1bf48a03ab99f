//! A NETCONF session: hellos, then one request at a time, each with its own reply.

use std::fmt;
use std::time::Duration;

use devgate_schemas::{shortened, values};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout, timeout_at};

use super::capabilities::Capabilities;
use super::framing::{Decoder, Framing, FramingError, frame};
use super::hello::{self, Hello};
use super::operation::Operation;
use super::reply::{Message, Reply};
use super::rpc_error::refused;
use super::xml::{BASE, Element};
use crate::error::{Interrupted, Interruption, Phase};
use crate::held::HeldBytes;
use crate::pauses::wait;
use crate::ssh::Ssh;
use crate::{Context, Error, Result};

/// The maximum size of a message in bytes.
const LONGEST_MESSAGE: usize = 64 * 1024 * 1024;

/// The maximum length of an incomplete reply that is kept for the error.
const LONGEST_PARTIAL: usize = 4 * 1024;

/// The limit for closing the session.
const GOODBYE: Duration = Duration::from_secs(1);

const PROTOCOL: &str = "NETCONF";

/// The byte stream that carries a session.
pub(super) trait Carrier: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Carrier for T {}

/// The settings of a session.
#[derive(Clone, Debug)]
pub(super) struct ClientSettings {
    /// `host:port`.
    pub(super) peer: String,
    /// The account, for messages.
    pub(super) user: String,
    /// The limit for opening.
    pub(super) timeout: Duration,
    /// The limit for a reply.
    pub(super) command_timeout: Duration,
    /// The maximum number of values in a reply.
    pub(super) answer_limit: usize,
}

/// A session in NETCONF's sense (RFC 6241, 1.1): locks, uncommitted changes and unconfirmed commits
/// belong to it, and end with it.
pub struct Client {
    client_settings: ClientSettings,
    carrier: Box<dyn Carrier>,
    decoder: Decoder,
    framing: Framing,
    capabilities: Capabilities,
    session_id: Option<u32>,
    last_id: u64,
    /// Whether requests and replies are in step. It stays `false` if a request is abandoned midway.
    usable: bool,
    /// The underlying connection, which must outlive the channel.
    ssh: Option<Ssh>,
}

/// The pause between our hello and the first request. If a server reads both at once, it may take the
/// request for a part of the hello and never answer (netconfd 2.13 did so in one of ten sessions that were
/// opened at the same time on a busy node).
const BETWEEN_HELLO_AND_REQUEST: Duration = Duration::from_millis(50);

/// The reason why no message arrived.
enum NoMessage {
    Ended,
    Framing(FramingError),
    TooMuch(Interruption),
}

impl Client {
    /// Exchanges hellos over a channel.
    pub(super) async fn open(
        ctx: &Context<'_>,
        carrier: impl Carrier + 'static,
        ssh: Option<Ssh>,
        client_settings: ClientSettings,
        deadline: Instant,
    ) -> Result<Self> {
        let mut client = Self {
            client_settings,
            carrier: Box::new(carrier),
            decoder: Decoder::new(LONGEST_MESSAGE),
            framing: Framing::EndOfMessage,
            capabilities: Capabilities::default(),
            session_id: None,
            last_id: 0,
            usable: false,
            ssh,
        };
        let peer = client.client_settings.peer.clone();
        let ours = hello::ours();
        let hellos = async {
            // A device that has closed the channel may have given a reason, which is read below.
            let _ = client.send(&ours).await;
            client.receive().await
        };
        let hello = match timeout_at(deadline, hellos).await {
            Ok(Ok(message)) => Hello::read(&message),
            Ok(Err(NoMessage::Ended)) => {
                return Err(Error::Closed {
                    peer,
                    phase: Phase::Hello,
                    message: client.partial(),
                });
            }
            Ok(Err(NoMessage::Framing(error))) => Err(error.as_str().to_owned()),
            Ok(Err(NoMessage::TooMuch(_))) => Err("it sent more than a hello has".to_owned()),
            Err(_) => {
                return Err(Error::TimedOut {
                    peer,
                    phase: Phase::Hello,
                    limit: client.client_settings.timeout,
                    hint: ": is NETCONF spoken on this port?".to_owned(),
                });
            }
        };
        let hello = hello.map_err(|problem| client.breach(problem))?;
        // The framing may change only now, after both hellos (RFC 6242, 4.1).
        client.framing = hello.capabilities.framing().ok_or_else(|| {
            client.breach("it offers neither base:1.0 nor base:1.1 in its hello".to_owned())
        })?;
        client.decoder.switch(client.framing);
        client.capabilities = hello.capabilities;
        client.session_id = hello.session_id;
        client.usable = true;
        wait(BETWEEN_HELLO_AND_REQUEST).await;
        ctx.debug(format!(
            "a NETCONF session with {peer} is open: base:{}, session {}",
            client.version(),
            hello
                .session_id
                .map_or_else(|| "unnamed".to_owned(), |id| id.to_string()),
        ));
        Ok(client)
    }

    /// Sends an operation once, and waits for its reply.
    ///
    /// # Errors
    /// Fails with [`Error::Refused`] and the device's `rpc-error`s, with [`Error::Unsupported`] before
    /// anything is sent, or with [`Error::Interrupted`] when no reply arrived, which ends the session.
    pub async fn perform(&mut self, ctx: &Context<'_>, operation: &Operation) -> Result<Reply> {
        let limit = self.client_settings.command_timeout;
        self.perform_within(ctx, operation, limit).await
    }

    /// Does the same with another limit for the reply.
    pub(super) async fn perform_within(
        &mut self,
        ctx: &Context<'_>,
        operation: &Operation,
        limit: Duration,
    ) -> Result<Reply> {
        if let Some(needed) = operation.needs
            && !self.capabilities.has(needed)
        {
            return Err(Error::Unsupported(format!(
                "{} does not have the NETCONF capability {needed}, which `{}` needs here{}",
                self.client_settings.peer,
                operation.name(),
                needed.instead()
            )));
        }
        if !self.usable {
            return Err(self.interrupted(operation, Interruption::Broken));
        }
        self.usable = false;
        self.last_id += 1;
        let id = self.last_id.to_string();
        let rpc = Element::in_namespace(BASE, "rpc")
            .attribute("message-id", &id)
            .with([operation.element.clone()]);
        let asking = async {
            self.send(&rpc).await.map_err(|_| Interruption::Lost)?;
            self.answer(ctx, &id).await
        };
        let (reply, errors) = match timeout(limit, asking).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(why)) => return Err(self.interrupted(operation, why)),
            Err(_) => return Err(self.interrupted(operation, Interruption::TooLong(limit))),
        };
        if errors.is_empty() && !operation.may_be_silent && !reply.says_something() {
            let why = Interruption::OutOfStep("its answer says neither `ok` nor an error");
            return Err(self.interrupted(operation, why));
        }
        self.usable = true;
        for warning in &reply.warnings {
            let (name, message) = (operation.name(), warning.summary());
            ctx.warning(format!(
                "{} warns at `{name}`: {message}",
                self.client_settings.peer
            ));
        }
        if !errors.is_empty() {
            let ClientSettings { peer, user, .. } = &self.client_settings;
            let refused = refused(peer, user, operation.name(), &errors);
            return Err(Error::Refused(Box::new(refused)));
        }
        Ok(reply)
    }

    /// Returns the device's capabilities.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns the device's number for this session.
    pub fn session_id(&self) -> Option<u32> {
        self.session_id
    }

    /// Returns the protocol version in use: `1.0` or `1.1`.
    pub fn version(&self) -> &'static str {
        match self.framing {
            Framing::EndOfMessage => "1.0",
            Framing::Chunked => "1.1",
        }
    }

    /// Returns whether another request may be sent.
    pub(super) fn is_usable(&self) -> bool {
        self.usable && self.ssh.as_ref().is_none_or(|ssh| !ssh.is_closed())
    }

    /// Returns the SSH version line of the device, for facts.
    pub(super) fn ssh_version(&self) -> Option<String> {
        Some(self.ssh.as_ref()?.version())
    }

    /// Ends the session, if the device still answers. The device then reverts what was not confirmed.
    pub(super) async fn end(&mut self, ctx: &Context<'_>) {
        if self.is_usable() {
            let goodbye = Operation::close_session();
            let _ = self.perform_within(ctx, &goodbye, GOODBYE).await;
        }
        self.usable = false;
    }

    /// Ends the session and closes the connection.
    pub(super) async fn close(mut self, ctx: &Context<'_>) {
        self.end(ctx).await;
        let Self { carrier, ssh, .. } = self;
        // Drop the channel first: an unread channel would delay the end of the connection.
        drop(carrier);
        if let Some(ssh) = ssh {
            ssh.close().await;
        }
    }

    async fn send(&mut self, message: &Element) -> std::io::Result<()> {
        let message = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{message}");
        let bytes = frame(self.framing, &message);
        self.carrier.write_all(&bytes).await?;
        self.carrier.flush().await
    }

    /// Reads the reply to the request with this number.
    async fn answer(
        &mut self,
        ctx: &Context<'_>,
        due: &str,
    ) -> std::result::Result<(Reply, Vec<super::rpc_error::RpcError>), Interruption> {
        loop {
            let message = self.receive().await.map_err(|unread| match unread {
                NoMessage::Ended => Interruption::Lost,
                NoMessage::Framing(FramingError::TooLong) => Interruption::TooMuch(LONGEST_MESSAGE),
                NoMessage::Framing(error) => Interruption::OutOfStep(error.as_str()),
                NoMessage::TooMuch(why) => why,
            })?;
            if message.contains(char::REPLACEMENT_CHARACTER) {
                ctx.warning(format!(
                    "what {} answers is not all of characters that XML can have: `\u{fffd}` stands \
                     for each other",
                    self.client_settings.peer
                ));
            }
            match Message::read(&message) {
                Ok(Message::Reply { id, reply, errors }) => {
                    // A reply without a number can only be for this request: nothing else was sent since the
                    // last reply, and a session in doubt is not used. Devices omit the number if they could not
                    // read it (RFC 6241, 4.3), and some always do.
                    return match id {
                        Some(id) if id != due => {
                            Err(Interruption::OutOfStep("its answer is to another request"))
                        }
                        _ => Ok((reply, errors)),
                    };
                }
                Ok(Message::Notification) => ctx.debug("ignored a notification"),
                Err(problem) => {
                    ctx.debug(format!(
                        "{} sent no answer: {problem}",
                        self.client_settings.peer
                    ));
                    return Err(Interruption::OutOfStep("what it sent is no `rpc-reply`"));
                }
            }
        }
    }

    async fn receive(&mut self) -> std::result::Result<String, NoMessage> {
        let mut bytes = vec![0; 16 * 1024];
        let mut held = HeldBytes::default();
        loop {
            if let Some(message) = self.decoder.next().map_err(NoMessage::Framing)? {
                let most = self.client_settings.answer_limit;
                if values(&message) > most {
                    return Err(NoMessage::TooMuch(Interruption::TooManyValues(most)));
                }
                return Ok(legible(&message));
            }
            match self.carrier.read(&mut bytes).await {
                Ok(0) | Err(_) => return Err(NoMessage::Ended),
                Ok(count) => {
                    held.reserve(count).map_err(NoMessage::TooMuch)?;
                    self.decoder.push(&bytes[..count]);
                }
            }
            // If more data is always ready, only this lets the time limit take effect.
            yield_now().await;
        }
    }

    /// Returns the beginning of the incomplete message that has arrived.
    fn partial(&self) -> String {
        let partial = self.decoder.partial();
        shortened(&String::from_utf8_lossy(partial), LONGEST_PARTIAL)
    }

    fn interrupted(&self, operation: &Operation, why: Interruption) -> Error {
        let was_sent = why != Interruption::Broken;
        Error::Interrupted(Box::new(Interrupted {
            peer: self.client_settings.peer.clone(),
            operation: format!("`{}`", operation.name()),
            changing: operation.changing && was_sent,
            why,
            partial: self.partial().as_str().into(),
        }))
    }

    fn breach(&self, problem: String) -> Error {
        Error::Protocol {
            peer: self.client_settings.peer.clone(),
            protocol: PROTOCOL,
            phase: Phase::Hello,
            problem,
        }
    }
}

/// Returns a message as text. Devices include foreign data unchecked: IOS XR a backspace, IOS XE a name
/// that is not UTF-8. Some end their messages with a NUL.
fn legible(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let text = text.trim_matches('\0');
    let is_foreign = |c: char| c.is_ascii_control() && !"\t\n\r".contains(c) && c != '\u{7f}';
    if text.contains(is_foreign) {
        text.replace(is_foreign, "\u{fffd}")
    } else {
        text.to_owned()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("peer", &self.client_settings.peer)
            .field("session_id", &self.session_id)
            .finish_non_exhaustive()
    }
}
