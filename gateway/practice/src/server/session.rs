//! One client: logs in, and has a terminal on each of its channels.

use std::collections::HashMap;
use std::sync::Arc;

use russh::keys::PublicKey;
use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, VerifiedPublicKey};
use russh::{Channel, ChannelId, ChannelOpenFailure, Pty};

use super::Settings;
use crate::device::{Device, Shell};

/// How many channels a client may have open at once.
const CHANNELS: usize = 8;

/// The maximum output in bytes for a client that does not read.
const UNREAD: usize = 32 << 20;

/// The state of one client.
pub(super) struct Session {
    settings: Arc<Settings>,
    device: Arc<dyn Device>,
    terminals: HashMap<ChannelId, Line>,
}

/// A channel's terminal, and whether anything runs on it yet.
struct Line {
    terminal: Box<dyn Shell>,
    started: bool,
    /// The output since the client has last read everything.
    unread: usize,
}

impl Session {
    /// A client that has not logged in yet.
    pub(super) fn new(settings: Arc<Settings>, device: Arc<dyn Device>) -> Self {
        Self {
            settings,
            device,
            terminals: HashMap::new(),
        }
    }

    fn is_known_key(&self, user: &str, key: &PublicKey) -> bool {
        let known = &self.settings.authorized_keys;
        user == self.settings.user && known.iter().any(|known| known.key_data() == key.key_data())
    }

    /// Starts the only program of the channel, a shell or a command. Returns whether this is allowed.
    fn start(&mut self, id: ChannelId) -> Option<&mut dyn Shell> {
        let line = self.terminals.get_mut(&id).filter(|line| !line.started)?;
        line.started = true;
        Some(&mut *line.terminal)
    }

    /// Shows something on a channel, and closes it if its session is over.
    fn show(
        &mut self,
        id: ChannelId,
        shown: Vec<u8>,
        session: &mut russh::server::Session,
    ) -> Result<(), russh::Error> {
        if let Some(line) = self.terminals.get_mut(&id) {
            let waits = session.has_pending_data(id);
            line.unread = if waits { line.unread + shown.len() } else { 0 };
            if line.unread > UNREAD {
                return Err(russh::Error::Disconnect);
            }
        }
        if !shown.is_empty() {
            session.data(id, shown)?;
        }
        if self
            .terminals
            .get(&id)
            .is_some_and(|line| line.terminal.is_closed())
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
        if self.terminals.remove(&id).is_some() {
            session.exit_status_request(id, 0)?;
            session.eof(id)?;
            session.close(id)?;
        }
        Ok(())
    }
}

impl Handler for Session {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        let known = user == self.settings.user && password == self.settings.password.reveal();
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_publickey_offered(
        &mut self,
        user: &str,
        offer: russh::server::PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        let known = self.is_known_key(user, offer.public_key);
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let known = self.is_known_key(user, key.public_key);
        Ok(if known { Auth::Accept } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        if self.terminals.len() >= CHANNELS {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        let terminal = self.device.shell(&self.settings.user);
        self.terminals.insert(
            channel.id(),
            Line {
                terminal,
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
        if let Some(line) = self.terminals.get_mut(&id) {
            line.terminal.resize(columns, rows);
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
        if let Some(line) = self.terminals.get_mut(&id) {
            line.terminal.resize(columns, rows);
        }
        Ok(())
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(terminal) = self.start(id) else {
            return session.channel_failure(id);
        };
        let shown = terminal.greet();
        session.channel_success(id)?;
        self.show(id, shown, session)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(terminal) = self.start(id) else {
            return session.channel_failure(id);
        };
        let shown = terminal.exec(&String::from_utf8_lossy(command));
        session.channel_success(id)?;
        self.show(id, shown, session)
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        session: &mut russh::server::Session,
    ) -> Result<(), Self::Error> {
        let Some(line) = self.terminals.get_mut(&id).filter(|line| line.started) else {
            return Ok(());
        };
        let shown = line.terminal.input(data);
        self.show(id, shown, session)
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
        self.terminals.remove(&id);
        Ok(())
    }
}
