//! The SSH server around the terminals: who may log in, how many, and how it ends.

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
use session::Session;

mod session;

/// How many may be connected at once; one more is hung up on.
const SESSIONS: usize = 64;

/// How often a client may try to log in before it is hung up on.
const LOGINS: usize = 3;

/// How long a session may be silent before it is closed.
const IDLE: Duration = Duration::from_secs(600);

/// How long [`Practice::stop`] waits for the clients to hear of it.
const GOODBYE: Duration = Duration::from_secs(1);

/// How a practice switch is to be reached.
#[derive(Debug)]
pub struct Settings {
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
    /// Who may log in.
    pub user: String,
    /// With which password.
    pub password: Sensitive<String>,
    /// Public keys that may log in too, for the same user.
    pub authorized_keys: Vec<PublicKey>,
    /// The password of `enable`.
    pub enable_password: Sensitive<String>,
    /// Whether a session starts enabled, with `#` for a prompt.
    pub privileged: bool,
    /// What the switch is called at first.
    pub hostname: String,
    /// The key it is known by; a new one where there is none.
    pub host_key: Option<PrivateKey>,
    /// What is played instead of the switch.
    pub recording: Option<Arc<Recording>>,
}

impl Default for Settings {
    /// A free port of the loopback, user `admin`, and passwords that are no secret.
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

impl Settings {
    /// The device that is played.
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

    /// The version line: that of the device, where one was recorded that can be shown.
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

/// A running practice switch. It stops when it is dropped; [`stop`](Self::stop) takes leave first.
#[derive(Debug)]
pub struct Practice {
    address: SocketAddr,
    host_key: String,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Practice {
    /// Starts a switch with the factory configuration on the current runtime.
    ///
    /// # Errors
    /// The address cannot be listened on, or the host key cannot be made or written.
    pub async fn start(settings: Settings) -> io::Result<Self> {
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
            max_auth_attempts: LOGINS,
            auth_rejection_time: Duration::from_millis(300),
            auth_rejection_time_initial: Some(Duration::ZERO),
            inactivity_timeout: Some(IDLE),
            nodelay: true,
            server_id: settings.server_id(),
            ..Config::default()
        });
        let device = settings.device();
        let (stop, stopped) = watch::channel(false);
        let accepting = tokio::spawn(accept(
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
            accepting,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The host key as a `known_hosts` file has it after the host's name: `ssh-ed25519 AAAA…`.
    pub fn host_key(&self) -> &str {
        &self.host_key
    }

    /// Tells every client that the switch goes away, and waits until it has.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // It cannot fail but by a panic, which has been told.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for Practice {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Serves until it is told to stop; then until every session has ended.
async fn accept(
    listener: TcpListener,
    config: Arc<Config>,
    settings: Arc<Settings>,
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
        // A client that is gone before it is accepted concerns nobody else.
        let Ok((stream, peer)) = accepted else {
            continue;
        };
        if sessions.len() >= SESSIONS {
            tracing::warn!(
                "{peer}: refused, because the practice switch already has {SESSIONS} sessions"
            );
            continue;
        }
        let session = Session::new(Arc::clone(&settings), Arc::clone(&device));
        sessions.spawn(serve_one(
            stream,
            Arc::clone(&config),
            session,
            stopped.clone(),
        ));
    }
    drop(listener);
    let _ = tokio::time::timeout(GOODBYE, sessions.join_all()).await;
}

async fn serve_one(
    stream: TcpStream,
    config: Arc<Config>,
    session: Session,
    mut stopped: watch::Receiver<bool>,
) {
    // Echoes are small; they must not wait for each other.
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
