//! The SSH side of a device: logins, and a terminal on each channel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use russh::keys::PrivateKey;
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session};
use russh::{Channel, ChannelId, MethodKind, MethodSet, Pty};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::device::Device;
use super::terminal::{Fate, Terminal};
use super::{PASSWORD, USER};

/// Accepts connections without end.
pub(super) async fn accept(listener: TcpListener, key: PrivateKey, device: Arc<Mutex<Device>>) {
    let config = Arc::new(Config {
        methods: MethodSet::from(&[MethodKind::Password][..]),
        keys: vec![key],
        auth_rejection_time: Duration::from_millis(50),
        auth_rejection_time_initial: Some(Duration::ZERO),
        nodelay: true,
        ..Config::default()
    });
    let mut connections = 0;
    while let Ok((stream, _)) = listener.accept().await {
        connections += 1;
        let cut = Arc::new(Notify::new());
        let client = Client::new(connections, Arc::clone(&device), Arc::clone(&cut));
        tokio::spawn(carry(stream, Arc::clone(&config), client, cut));
    }
}

/// Forwards a connection over a pipe, so that it can be cut below SSH.
async fn carry(mut stream: TcpStream, config: Arc<Config>, client: Client, cut: Arc<Notify>) {
    let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        if let Ok(session) = russh::server::run_stream(config, ours, client).await {
            // The test judges how the session ends.
            let _ = session.await;
        }
    });
    tokio::select! {
        _ = copy_bidirectional(&mut stream, &mut theirs) => {}
        () = cut.notified() => stream.set_zero_linger().expect("an open socket"),
    }
}

/// One connection.
struct Client {
    connection: usize,
    device: Arc<Mutex<Device>>,
    cut: Arc<Notify>,
    terminals: HashMap<ChannelId, Terminal>,
}

impl Client {
    fn new(connection: usize, device: Arc<Mutex<Device>>, cut: Arc<Notify>) -> Self {
        let client = Self {
            connection,
            device,
            cut: Arc::clone(&cut),
            terminals: HashMap::new(),
        };
        client.device().connect(connection, cut);
        client
    }

    fn device(&self) -> MutexGuard<'_, Device> {
        self.device
            .lock()
            .expect("no test panics while it holds the device")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Ok(mut device) = self.device.lock() {
            device.disconnect(self.connection);
        }
    }
}

impl Handler for Client {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        let is_known = user == USER && password == PASSWORD;
        Ok(if is_known && self.device().accepts_logins() {
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
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        session.channel_success(id)?;
        let mut terminal = Terminal::new(self.connection);
        let greeting = terminal.greeting(&mut self.device());
        self.terminals.insert(id, terminal);
        session.data(id, greeting)?;
        Ok(())
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(mut terminal) = self.terminals.remove(&id) else {
            return Ok(());
        };
        let (output, fate) = terminal.input(&mut self.device(), data);
        if !output.is_empty() && fate != Fate::IsLost {
            session.data(id, output)?;
        }
        match fate {
            Fate::Stays => {
                self.terminals.insert(id, terminal);
            }
            Fate::Ends => {
                session.exit_status_request(id, 0)?;
                session.eof(id)?;
                session.close(id)?;
            }
            Fate::IsLost => self.cut.notify_one(),
            // The output has time to leave.
            Fate::IsLostWithin => {
                let cut = Arc::clone(&self.cut);
                tokio::spawn(async move {
                    let never = std::future::pending::<()>();
                    let _ = tokio::time::timeout(Duration::from_millis(100), never).await;
                    cut.notify_one();
                });
            }
        }
        Ok(())
    }

    async fn channel_close(&mut self, id: ChannelId, _: &mut Session) -> Result<(), Self::Error> {
        if self.terminals.remove(&id).is_some() {
            let mut device = self.device();
            device.unlock(self.connection);
        }
        Ok(())
    }
}
