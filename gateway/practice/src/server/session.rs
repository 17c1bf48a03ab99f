//! One client: logs in, and has a terminal on each of its channels.

use std::collections::HashMap;
use std::sync::Arc;

use russh::keys::PublicKey;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, VerifiedPublicKey};
use russh::{Channel, ChannelId, ChannelOpenFailure, Pty};

use super::PracticeSettings;
use crate::device::{Device, Shell};

/// How many channels a client may have open at once.
const MAX_CHANNELS: usize = 8;

/// The maximum output in bytes for a client that does not read.
const MAX_UNREAD: usize = 32 << 20;

/// The state of one client.
pub(super) struct ClientSession {
    settings: Arc<PracticeSettings>,
    device: Arc<dyn Device>,
    channels: HashMap<ChannelId, ChannelShell>,
}

/// A channel's terminal, and whether anything runs on it yet.
struct ChannelShell {
    shell: Box<dyn Shell>,
    started: bool,
    /// The output since the client has last read everything.
    unread: usize,
}

impl ClientSession {
    /// A client that has not logged in yet.
    pub(super) fn new(settings: Arc<PracticeSettings>, device: Arc<dyn Device>) -> Self {
        Self {
            settings,
            device,
            channels: HashMap::new(),
        }
    }

    fn is_authorized_key(&self, user: &str, key: &PublicKey) -> bool {
        let mut authorized = self.settings.authorized_keys.iter();
        user == self.settings.user && authorized.any(|one| one.key_data() == key.key_data())
    }

    /// Starts the only program of the channel, a shell or a command. Returns whether this is allowed.
    fn start(&mut self, id: ChannelId) -> Option<&mut dyn Shell> {
        let channel = self
            .channels
            .get_mut(&id)
            .filter(|channel| !channel.started)?;
        channel.started = true;
        Some(&mut *channel.shell)
    }

    /// Sends output on a channel, and closes it if its session is over.
    fn send(
        &mut self,
        id: ChannelId,
        output: Vec<u8>,
        session: &mut russh::server::Session,
    ) -> Result<(), russh::Error> {
        if let Some(channel) = self.channels.get_mut(&id) {
            let is_pending = session.has_pending_data(id);
            channel.unread = if is_pending {
                channel.unread + output.len()
            } else {
                0
            };
            if channel.unread > MAX_UNREAD {
                return Err(russh::Error::Disconnect);
            }
        }
        if !output.is_empty() {
            session.data(id, output)?;
        }
        if self
            .channels
            .get(&id)
            .is_some_and(|channel| channel.shell.is_closed())
        {
            self.close(id, session)?;
        }
        Ok(())
    }

    fn close(
        &mut self,
        id: ChannelId,
        session: &mut russh::server::Session,
    ) -> Result<(), russh::Error> {
        if self.channels.remove(&id).is_some() {
            session.exit_status_request(id, 0)?;
            session.eof(id)?;
            session.close(id)?;
        }
        Ok(())
    }
}

impl Handler for ClientSession {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        let is_valid = user == self.settings.user && password == self.settings.password.reveal();
        Ok(if is_valid {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn auth_publickey_offered(
        &mut self,
        user: &str,
        offer: russh::server::PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        let is_valid = self.is_authorized_key(user, offer.public_key);
        Ok(if is_valid {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let is_valid = self.is_authorized_key(user, key.public_key);
        Ok(if is_valid {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        if self.channels.len() >= MAX_CHANNELS {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        let shell = self.device.shell(&self.settings.user);
        self.channels.insert(
            channel.id(),
            ChannelShell {
                shell,
                started: false,
                unread: 0,
            },
        );
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        _: &str,
        columns: u32,
        rows: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        if let Some(channel) = self.channels.get_mut(&id) {
            channel.shell.resize(columns, rows);
        }
        session.channel_success(id)
    }

    async fn window_change_request(
        &mut self,
        id: ChannelId,
        columns: u32,
        rows: u32,
        _: u32,
        _: u32,
        _: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        if let Some(channel) = self.channels.get_mut(&id) {
            channel.shell.resize(columns, rows);
        }
        Ok(())
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(shell) = self.start(id) else {
            return session.channel_failure(id);
        };
        let output = shell.greeting();
        session.channel_success(id)?;
        self.send(id, output, session)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(shell) = self.start(id) else {
            return session.channel_failure(id);
        };
        let output = shell.exec(&String::from_utf8_lossy(command));
        session.channel_success(id)?;
        self.send(id, output, session)
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(channel) = self.channels.get_mut(&id).filter(|channel| channel.started) else {
            return Ok(());
        };
        let output = channel.shell.input(data);
        self.send(id, output, session)
    }

    async fn channel_eof(
        &mut self,
        id: ChannelId,
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        // There is no more input, and all input was answered.
        self.close(id, session)
    }

    async fn channel_close(
        &mut self,
        id: ChannelId,
        _: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        self.channels.remove(&id);
        Ok(())
    }
}
