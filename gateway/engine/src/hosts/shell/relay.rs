//! A relay: a program on a host that listens on a Unix socket and carries its connections over its standard streams, so
//! that a task there can use the session with its device. The session itself stays on this node.
//!
//! The relay runs as the task's user, beside the task, and ends with it or with the connection to the host. Its file,
//! its socket and a small `devgate` for the task are in the run's directory. The host needs Perl or Python 3.

mod carrier;
mod frames;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_schemas::{Sensitive, visible};
use devgate_transports::Error;
use devgate_transports::ssh_host::{Piece, quoted};
use futures_util::future::LocalBoxFuture;
use tokio::io::DuplexStream;
use tokio::sync::{Mutex as AsyncMutex, OnceCell, mpsc};
use tokio::time::timeout;

use self::carrier::{RelayEnd, carry};
use super::access::Stdin;
use super::running_script::{RunningScript, ScriptError, input_of, send_input};
use super::script::{Script, SessionFolder};
use super::{SHORT_SCRIPT_LIMIT, Shell};
use crate::tasks::{Input, SESSION_VARIABLE};

/// The longest time that starting a relay may take. Where all connections are busy, a task does not wait longer for
/// one.
pub(super) const RELAY_LIMIT: Duration = Duration::from_secs(10);

/// How long a relay is waited for at its end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// The longest first line of a relay.
const MAX_LINE: usize = 1024;

/// Serves the clients of a session on a host.
pub(crate) trait Lend {
    /// Serves all clients, as long as this is polled.
    fn serve<'a>(&'a self, clients: &'a RelayedClients) -> LocalBoxFuture<'a, Infallible>;
}

/// The clients on a host that connect to the socket of a relay. Only the task's user and root can open it.
#[derive(Debug)]
pub(crate) struct RelayedClients(AsyncMutex<mpsc::Receiver<DuplexStream>>);

/// The relays of a host.
#[derive(Debug, Default)]
pub(super) struct Relays {
    uploaded: OnceCell<()>,
    count: AtomicUsize,
    reported: AtomicBool,
}

/// An interpreter for relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interpreter {
    Perl,
    Python,
}

/// The session of a task with its device.
#[derive(Clone, Copy)]
pub(crate) enum TaskSession<'a> {
    /// The task has no device, or one that no session is possible with.
    None,
    /// The session is on this node, and a relay leads to it.
    Relayed(&'a dyn Lend),
    /// There is none, for this reason.
    Refused(&'a str),
}

/// A running relay.
pub(super) struct Relay {
    mark: String,
    folder: String,
    socket: String,
    stdin: Stdin,
    script: RunningScript,
}

impl RelayedClients {
    /// Waits for the next client.
    pub(crate) async fn accept(&self) -> io::Result<DuplexStream> {
        match self.0.lock().await.recv().await {
            Some(client) => Ok(client),
            // The relay has ended.
            None => pending().await,
        }
    }
}

impl Interpreter {
    /// Returns the interpreter of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "perl" => Some(Self::Perl),
            "python3" => Some(Self::Python),
            _ => None,
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::Perl => "perl",
            Self::Python => "python3",
        }
    }

    fn relay(self) -> &'static str {
        match self {
            Self::Perl => include_str!("relay/relay.pl"),
            Self::Python => include_str!("relay/relay.py"),
        }
    }

    /// Returns the `devgate` of tasks.
    fn client(self) -> String {
        let client = match self {
            Self::Perl => include_str!("relay/devgate.pl"),
            Self::Python => include_str!("relay/devgate.py"),
        };
        client.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
    }
}

impl Shell<'_> {
    /// Starts a task. If a session is lent to it, its relay is started first.
    pub(super) async fn start_task(
        &self,
        mut script: Script,
        command_line: &[String],
        input: Input,
        session: TaskSession<'_>,
    ) -> Result<(RunningScript, Option<Relay>), ScriptError> {
        let (mut environment, stdin) = (input.environment, input.stdin);
        if let TaskSession::None = session {
            script.set_task(command_line, &environment, None, stdin.as_ref());
            return Ok((self.start(&script).await?, None));
        }
        // The task has its place on a connection before the relay asks for one. Otherwise, on a host with few places,
        // relays could take all of them, and their tasks would wait for ever.
        let (running_script, open) = self.begin(&script).await?;
        let relay = match session {
            TaskSession::None | TaskSession::Relayed(_) => self.start_relay().await,
            TaskSession::Refused(why) => Err(why.to_owned()),
        };
        let (path, devgate) = match &relay {
            Ok(relay) => {
                let socket = Sensitive::new(relay.socket.clone());
                environment.push((SESSION_VARIABLE.to_owned(), socket));
                (relay.folder.clone(), None)
            }
            Err(why) => (
                format!("{}/no-session-{}", self.dir, script.mark),
                Some(stub(why)),
            ),
        };
        let folder = SessionFolder {
            path: &path,
            devgate: devgate.as_deref(),
        };
        script.set_task(command_line, &environment, Some(folder), stdin.as_ref());
        // The reader of the output finds out when the input was not taken.
        drop(send_input(open, &script));
        Ok((running_script, relay.ok()))
    }

    /// Starts a relay for a task, or returns why there can be none. This is reported once for the host.
    async fn start_relay(&self) -> Result<Relay, String> {
        let interpreter = self.preparation.get().and_then(|known| known.interpreter);
        let started = match timeout(RELAY_LIMIT, self.try_relay(interpreter)).await {
            Ok(started) => started,
            Err(_) => Err(format!(
                "the host did not start the relay within {RELAY_LIMIT:?}; it takes one more session of its SSH server \
                 (`MaxSessions`)"
            )),
        };
        if let Err(why) = &started
            && !self.relays.reported.swap(true, Ordering::Relaxed)
        {
            self.host_context.ctx().notice(format!(
                "tasks on this host get no session with their device: {why}"
            ));
        }
        started
    }

    async fn try_relay(&self, interpreter: Option<Interpreter>) -> Result<Relay, String> {
        let Some(interpreter) = interpreter else {
            return Err(
                "neither Perl nor Python 3 is installed there; install perl or python3".to_owned(),
            );
        };
        let folder = format!("{}/session", self.dir);
        let file = format!("{folder}/relay");
        let upload = || async {
            for (path, content) in [
                (&file, interpreter.relay()),
                (&format!("{folder}/devgate"), &interpreter.client()),
            ] {
                let write = Script::write(path, 0o700, content.as_bytes());
                self.run_short(&write, SHORT_SCRIPT_LIMIT).await?;
            }
            Ok(())
        };
        let uploaded = self.relays.uploaded.get_or_try_init(upload).await;
        uploaded.map_err(|why: Failure| why.msg)?;
        let number = self.relays.count.fetch_add(1, Ordering::Relaxed);
        let socket = format!("{folder}/{number}");
        let script = Script::relay(interpreter.program(), &file, &socket);
        // If it is started and not seen to end, the end of the host ends it.
        self.running().insert(script.mark.clone(), None);
        let begun = self.begin(&script).await;
        let (mut running_script, mut stdin) = match begun {
            Ok(begun) => begun,
            Err(ScriptError::NotStarted(why)) => {
                self.running().remove(&script.mark);
                return Err(why.msg);
            }
            Err(ScriptError::Lost(error)) => return Err(error.to_string()),
        };
        // If it is not read, the output tells why.
        drop(stdin.write_all(input_of(&script)).await);
        let said = first_line(&mut running_script).await;
        match said.map_err(|error| error.to_string())?.as_str() {
            "ready" => Ok(Relay {
                mark: script.mark,
                folder,
                socket,
                stdin,
                script: running_script,
            }),
            said => {
                self.running().remove(&script.mark);
                Err(format!("its relay says {said:?}"))
            }
        }
    }
}

/// Returns the `devgate` of a task without a session: it says why there is none.
fn stub(why: &str) -> String {
    include_str!("relay/devgate.sh").replace("@WHY@", &quoted(&visible(why)))
}

/// Reads the first line of a relay, or what is said on stderr if it ends without one. The login shell may have printed
/// something there, too.
async fn first_line(script: &mut RunningScript) -> Result<String, Error> {
    let mut complaint = Vec::new();
    loop {
        if let Some(end) = script.rest.iter().position(|byte| *byte == b'\n') {
            let rest = script.rest.split_off(end + 1);
            let line = std::mem::replace(&mut script.rest, rest);
            return Ok(String::from_utf8_lossy(&line[..end]).into_owned());
        }
        match script.output.next().await? {
            Piece::Stdout(bytes) => script.rest.extend_from_slice(&bytes),
            Piece::Stderr(bytes) => {
                complaint.extend_from_slice(&bytes);
                let surplus = complaint.len().saturating_sub(MAX_LINE);
                drop(complaint.drain(..surplus));
            }
            Piece::Ended(_) => {}
            Piece::Exit(_) => return Ok(String::from_utf8_lossy(&complaint).trim().to_owned()),
        }
        if script.rest.len() > MAX_LINE {
            return Ok(String::from_utf8_lossy(&script.rest).into_owned());
        }
    }
}

impl Relay {
    /// Does `work` while the clients of the socket are served. The relay ends afterwards.
    pub(super) async fn serve_during<T>(
        mut self,
        host: &Shell<'_>,
        lend: &dyn Lend,
        work: impl Future<Output = T>,
    ) -> T {
        let (accepted, clients) = mpsc::channel(1);
        let clients = RelayedClients(AsyncMutex::new(clients));
        let carrying = async {
            let end = carry(&mut self.stdin, &mut self.script, &accepted).await;
            let why = match end {
                RelayEnd::Ended => "its relay has ended on the host".to_owned(),
                RelayEnd::Misbehaved => "its relay broke the protocol".to_owned(),
                RelayEnd::Lost(error) => error.to_string(),
            };
            let ctx = host.host_context.ctx();
            ctx.warning(format!(
                "a task has lost the session with its device: {why}"
            ));
            pending().await
        };
        let outcome = tokio::select! {
            biased;
            outcome = work => outcome,
            never = lend.serve(&clients) => match never {},
            never = carrying => { let never: Infallible = never; match never {} },
        };
        self.end(host).await;
        outcome
    }

    /// Ends the relay: its input ends.
    async fn end(self, host: &Shell<'_>) {
        let Self {
            mark,
            stdin,
            mut script,
            ..
        } = self;
        drop(stdin);
        let ending = async {
            loop {
                match script.output.next().await {
                    Ok(Piece::Stdout(_) | Piece::Stderr(_) | Piece::Ended(_)) => {}
                    Ok(Piece::Exit(_)) => return true,
                    Err(_) => return false,
                }
            }
        };
        if timeout(END_LIMIT, ending).await == Ok(true) {
            host.running().remove(&mark);
        }
    }
}
