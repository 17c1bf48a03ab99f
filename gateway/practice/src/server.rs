//! The SSH server for the terminals: logins, limits and shutdown.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use devgate_devices::Recording;
use devgate_schemas::Sensitive;
use russh::keys::key::safe_rng;
use russh::keys::{Algorithm, PrivateKey, PublicKey};
use russh::server::Config;
use russh::{Disconnect, MethodKind, MethodSet, SshId};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::device::{Device, SharedSwitch};
use super::replay::Replay;
use super::switch::Switch;
use super::vty::Mode;
use session::ClientSession;

mod session;

/// The maximum number of connections. More are rejected.
const MAX_SESSIONS: usize = 64;

/// The maximum number of login attempts before a client is disconnected.
const MAX_LOGIN_ATTEMPTS: usize = 3;

/// How long a session may be idle before it is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// How long [`PracticeSwitch::stop`] waits for clients to disconnect.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a practice switch.
#[derive(Debug)]
pub struct PracticeSettings {
    /// The address to listen on. Port 0 selects a free port.
    pub address: SocketAddr,
    /// The user who may log in.
    pub user: String,
    /// The password of the user.
    pub password: Sensitive<String>,
    /// Public keys for the same user.
    pub authorized_keys: Vec<PublicKey>,
    /// The password of `enable`.
    pub enable_password: Sensitive<String>,
    /// Whether a session starts enabled, with `#` for a prompt.
    pub privileged: bool,
    /// The initial name of the switch.
    pub hostname: String,
    /// The host key; a new one if there is none.
    pub host_key: Option<PrivateKey>,
    /// The recorded device to replay instead of the switch.
    pub recording: Option<Arc<Recording>>,
}

impl Default for PracticeSettings {
    /// A free port on the loopback interface, user `admin`, and public passwords.
    fn default() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            user: "admin".to_owned(),
            password: Sensitive::new("let-me-in".to_owned()),
            authorized_keys: vec![],
            enable_password: Sensitive::new("let-me-configure".to_owned()),
            privileged: false,
            hostname: "practice".to_owned(),
            host_key: None,
            recording: None,
        }
    }
}

impl PracticeSettings {
    /// The replayed device.
    fn device(&self) -> Arc<dyn Device> {
        if let Some(recording) = &self.recording {
            return Arc::new(Replay(Arc::clone(recording)));
        }
        let enable = self.enable_password.clone();
        let switch = Switch::new(&self.hostname, enable, SystemTime::now);
        let mode = if self.privileged {
            Mode::Privileged
        } else {
            Mode::User
        };
        Arc::new(SharedSwitch {
            switch: Arc::new(Mutex::new(switch)),
            mode,
        })
    }

    /// The SSH version line: that of the recorded device, if it is valid.
    fn server_id(&self) -> SshId {
        let recorded = self.recording.as_ref().map(|one| one.ssh_version.clone());
        let recorded = recorded.filter(|line| {
            line.starts_with("SSH-2.0-") && line.chars().all(|c| c.is_ascii_graphic() || c == ' ')
        });
        recorded.map_or_else(
            || Config::default().server_id,
            |line| SshId::Standard(line.into()),
        )
    }
}

/// A running practice switch. It stops when it is dropped. [`stop`](Self::stop) disconnects the clients first.
#[derive(Debug)]
pub struct PracticeSwitch {
    address: SocketAddr,
    host_key: String,
    stop: watch::Sender<bool>,
    accept_task: JoinHandle<()>,
}

impl PracticeSwitch {
    /// Starts a switch with the factory configuration on the current runtime.
    ///
    /// # Errors
    /// It cannot listen on the address, or the host key cannot be created or written.
    pub async fn start(settings: PracticeSettings) -> io::Result<Self> {
        let key = match &settings.host_key {
            Some(key) => key.clone(),
            None => {
                PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).map_err(io::Error::other)?
            }
        };
        let host_key = key.public_key().to_openssh().map_err(io::Error::other)?;
        let listener = TcpListener::bind(settings.address).await?;
        let address = listener.local_addr()?;
        let config = Arc::new(Config {
            methods: MethodSet::from(&[MethodKind::Password, MethodKind::PublicKey][..]),
            keys: vec![key],
            max_auth_attempts: MAX_LOGIN_ATTEMPTS,
            auth_rejection_time: Duration::from_millis(300),
            auth_rejection_time_initial: Some(Duration::ZERO),
            inactivity_timeout: Some(IDLE_TIMEOUT),
            nodelay: true,
            server_id: settings.server_id(),
            ..Config::default()
        });
        let device = settings.device();
        let (stop, stopped) = watch::channel(false);
        let accept_task = tokio::spawn(accept(
            listener,
            config,
            Arc::new(settings),
            device,
            stopped,
        ));
        Ok(Self {
            address,
            host_key,
            stop,
            accept_task,
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host key in `known_hosts` format, without the host name: `ssh-ed25519 AAAA…`.
    pub fn host_key(&self) -> &str {
        &self.host_key
    }

    /// Disconnects all clients, and waits until the switch has stopped.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // It fails only after a panic, which was reported already.
        let _ = (&mut self.accept_task).await;
    }
}

impl Drop for PracticeSwitch {
    fn drop(&mut self) {
        self.accept_task.abort();
    }
}

/// Serves until it is stopped, and then until every session has ended.
async fn accept(
    listener: TcpListener,
    config: Arc<Config>,
    settings: Arc<PracticeSettings>,
    device: Arc<dyn Device>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = sessions.join_next() => continue,
            _ = stopped.wait_for(|stop| *stop) => break,
        };
        // A client that disconnects before it is accepted does not matter.
        let Ok((stream, peer)) = accepted else {
            continue;
        };
        if sessions.len() >= MAX_SESSIONS {
            tracing::warn!(
                "{peer}: refused, because the practice switch already has {MAX_SESSIONS} sessions"
            );
            continue;
        }
        let session = ClientSession::new(Arc::clone(&settings), Arc::clone(&device));
        sessions.spawn(serve_client(
            stream,
            Arc::clone(&config),
            session,
            stopped.clone(),
        ));
    }
    drop(listener);
    let _ = tokio::time::timeout(SHUTDOWN_TIMEOUT, sessions.join_all()).await;
}

async fn serve_client(
    stream: TcpStream,
    config: Arc<Config>,
    session: ClientSession,
    mut stopped: watch::Receiver<bool>,
) {
    // Echoes are small, and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let running = tokio::select! {
        running = russh::server::run_stream(config, stream, session) => running,
        _ = stopped.wait_for(|stop| *stop) => return,
    };
    let Ok(mut running) = running else { return };
    let handle = running.handle();
    let ended = tokio::select! {
        ended = &mut running => Some(ended),
        _ = stopped.wait_for(|stop| *stop) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            let reason = "the practice switch is shutting down".to_owned();
            let _ = handle
                .disconnect(Disconnect::ByApplication, reason, String::new())
                .await;
            running.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a session with the practice switch ended: {error}");
    }
}

#[cfg(test)]
mod tests;
