//! The SSH side of one connection.

use std::collections::HashMap;

use russh::server::{Auth, ChannelOpenHandle, Handler, Msg, Session};
use russh::{Channel, ChannelId, Pty};
use tokio::sync::mpsc;

use super::{PASSWORD, Shared};

/// One connection.
pub(super) struct Client {
    shared: Shared,
    user: String,
    /// The width of the client's terminal.
    width: u32,
    typed: HashMap<ChannelId, mpsc::UnboundedSender<Vec<u8>>>,
}

impl Client {
    pub(super) fn new(shared: Shared) -> Self {
        Self {
            shared,
            user: String::new(),
            width: 80,
            typed: HashMap::new(),
        }
    }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        user.clone_into(&mut self.user);
        Ok(if password == PASSWORD {
            Auth::Accept
        } else {
            Auth::reject()
        })
    }

    async fn channel_open_session(
        &mut self,
        _: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        reply.accept().await;
        Ok(())
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        _: &str,
        columns: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.width = if columns == 0 { 80 } else { columns };
        session.channel_success(id)
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)?;
        let (typing, typed) = mpsc::unbounded_channel();
        let (output_sender, mut output) = mpsc::unbounded_channel::<Vec<u8>>();
        self.typed.insert(id, typing);
        let width = usize::try_from(self.width).unwrap_or(80);
        self.shared.begin(&self.user, width, typed, output_sender);
        let handle = session.handle();
        tokio::spawn(async move {
            while let Some(bytes) = output.recv().await {
                if handle.data(id, bytes).await.is_err() {
                    return;
                }
            }
            let _ = handle.exit_status_request(id, 0).await;
            let _ = handle.eof(id).await;
            let _ = handle.close(id).await;
        });
        Ok(())
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        if let Some(typing) = self.typed.get(&id) {
            // A terminal that has ended does not read input.
            let _ = typing.send(data.to_vec());
        }
        Ok(())
    }

    async fn channel_close(&mut self, id: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        self.typed.remove(&id);
        Ok(())
    }
}
