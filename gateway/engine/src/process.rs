//! Children: the one place where a process is started, fed, listened to within limits, and ended
//! with all that it has started.

mod anew;
mod dialogue;
mod excess;
mod guard;
mod identity;
mod kin;
mod output;
mod path;
mod pieces;
mod recorded;
mod room;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use devgate_schemas::Sensitive;
use devgate_schemas::task::{Captured, Exit, Outcome};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio::time::timeout;

pub use self::anew::{anew, own};
pub(crate) use self::dialogue::{Broken, Dialogue};
pub use self::excess::Excess;
use self::guard::Guarded;
pub use self::guard::guard;
pub use self::identity::Identity;
use self::kin::Kin;
pub use self::output::{Deaf, Hear, Stream};
use self::output::{Ear, capture};
pub(crate) use self::pieces::{Pieces, piped};
pub use self::recorded::{Detached, Record, Recorded, begin_session};
use devgate_core::budget;
use devgate_core::cancel::{CancelToken, Stage};
pub use path::found;

/// What is started: no shell stands between.
pub struct Program {
    /// The file to execute, and its arguments. Never a secret: everybody can read them.
    pub words: Vec<OsString>,
    /// Variables beside those of this process.
    pub environment: Vec<(String, Sensitive<String>)>,
    /// What it reads; nothing where there is none.
    pub stdin: Option<Sensitive<Vec<u8>>>,
}

/// How long a process may run and how much of its output is kept.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The time from start to end; none is for ever.
    pub time: Option<Duration>,
    /// Bytes of stdout that are kept; more are read and left out.
    pub stdout: usize,
    /// Bytes of stderr that are kept.
    pub stderr: usize,
    /// How long it has to end when it is asked to, before it is killed.
    pub grace: Duration,
    /// How long it has when it is asked once more, because the run is to be killed; none, where it is killed then.
    pub respite: Duration,
    /// How long output is awaited after the process has ended, should children of its own have kept
    /// it open.
    pub drain: Duration,
}

/// Why a process did not run to its end.
#[derive(Debug)]
pub enum Failure {
    /// The operating system did not start it, or does not know it any more.
    Start(io::Error),
    /// It took longer than it may, or somebody stopped the run: it was ended with all that it had
    /// started.
    Ended(Box<Ended>),
}

/// What there is of a process that was ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// How long it might have taken, if that is why it was ended.
    pub limit: Option<Duration>,
    /// What it had written by then.
    pub stdout: Captured,
    /// What it had written by then.
    pub stderr: Captured,
    /// The processes that could not be killed.
    pub left: BTreeSet<i32>,
}

/// How long what was asked to end may take before it is killed, where nobody says more.
pub const GRACE: Duration = Duration::from_secs(2);

/// What every pipe takes without a reader (PIPE_BUF).
const PIPE: usize = 4096;

/// Our own settings, and parameters of a task that may itself be our caller: no child gets them.
const OURS: [&str; 2] = ["DEVGATE_", "PT_"];

/// The variables of this process that begin so.
static NOT_INHERITED: LazyLock<Vec<OsString>> = LazyLock::new(|| {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| !is_inherited(name)).collect()
});

/// Held shared while files are written that are to be executed, alone while a process is started:
/// a child that is born while such a file is open for writing holds it open too, for a moment, and
/// executing it then fails with "text file busy".
static WRITING: RwLock<()> = RwLock::new(());

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: None,
            stdout: 50 * 1024 * 1024,
            stderr: 1024 * 1024,
            grace: GRACE,
            respite: Duration::ZERO,
            drain: Duration::from_secs(1),
        }
    }
}

/// To be held while a file is written that will be executed.
pub(crate) fn writing_executables() -> RwLockReadGuard<'static, ()> {
    WRITING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Why the operating system did not start a program, and what to look at.
pub fn not_started(error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => ": is the interpreter in its first line (`#!`) installed?",
        io::ErrorKind::PermissionDenied => ": is it executable, and its file system?",
        // ENOEXEC has no kind of its own.
        _ if error.raw_os_error() == Some(Errno::ENOEXEC as i32) => {
            ": a script begins with `#!` and its interpreter"
        }
        _ => "",
    };
    format!("it cannot be started ({error}){hint}")
}

/// Runs a program to its end. When this future is dropped, it is killed with all that it has started.
///
/// # Errors
/// The program could not be started, took longer than it may, or was stopped.
pub async fn run<H: Hear + ?Sized>(
    program: &Program,
    limits: &Limits,
    stop: &CancelToken,
    hear: &H,
) -> Result<Outcome, Failure> {
    let guarded = Guarded::new();
    let started = room::wait(|| start(program, guarded.mark()), stop).await;
    let (mut child, _running) = started.map_err(|error| match error {
        Some(error) => Failure::Start(error),
        None => Failure::Ended(Box::default()),
    })?;
    let mut kin = Kin::of(&child, guarded).with_respite(limits.respite);
    let (stdin, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let over = watch::Sender::new(false);
    let heard_as = |stream| Ear {
        hear,
        stream,
        over: over.subscribe(),
    };
    let (of_out, of_err) = (heard_as(Stream::Stdout), heard_as(Stream::Stderr));
    let talk = async {
        tokio::join!(
            feed(stdin, program.stdin.as_ref()),
            capture(out, limits.stdout, &mut stdout, of_out),
            capture(err, limits.stderr, &mut stderr, of_err),
        )
    };
    let ended = {
        tokio::pin!(talk);
        let mut talking = true;
        let end = async {
            tokio::select! {
                status = child.wait() => status,
                _ = &mut talk => {
                    talking = false;
                    child.wait().await
                }
            }
        };
        let ended = tokio::select! {
            status = within(limits.time, end) => status.ok_or(limits.time),
            () = stop.reaches(Stage::End) => Err(None),
        };
        match ended {
            Ok(status) => {
                kin.ended();
                over.send_replace(true);
                if talking && timeout(limits.drain, talk).await.is_err() {
                    // What else comes is of processes that outlive this one.
                    tracing::debug!("output was still open {:?} after the end", limits.drain);
                }
                Ok(status.map_err(Failure::Start)?)
            }
            Err(limit) => {
                // What it says while it ends is read, so that it does not wait for a reader.
                let end = kin.end(stop, limits.grace);
                tokio::pin!(end);
                let left = tokio::select! {
                    left = &mut end => {
                        over.send_replace(true);
                        if talking {
                            // Its last words may still be in the pipe.
                            let _ = timeout(limits.drain, talk).await;
                        }
                        left
                    }
                    _ = &mut talk, if talking => end.await,
                };
                Err((limit, left))
            }
        }
    };
    match ended {
        Ok(status) => Ok(Outcome {
            exit: exit(status),
            stdout,
            stderr,
        }),
        Err((limit, left)) => {
            let ended = Ended {
                limit,
                stdout,
                stderr,
                left,
            };
            Err(Failure::Ended(Box::new(ended)))
        }
    }
}

/// Runs a program with our own stdin, stdout and stderr to its end, however long that takes.
///
/// At a terminal it stays in our process group: Ctrl-C and Ctrl-Z reach it as if we were not there,
/// and what to do about them is its own business. Elsewhere it leads a group of its own, and whatever
/// ends us ends that: `asked` waits for the next signal that wants it. Beside how it ended, that signal.
///
/// # Errors
/// The program could not be started.
pub async fn attached(
    program: &Program,
    mut asked: impl AsyncFnMut() -> Signal,
) -> io::Result<(Exit, Option<Signal>)> {
    let at_terminal = io::stdin().is_terminal();
    let guarded = Guarded::new();
    let mut command = command(program, guarded.mark())?;
    if !at_terminal {
        command.process_group(0);
    }
    let mut child = spawn(&mut command)?;
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(leader) = id.map(Pid::from_raw) else {
        return child.wait().await.map(|status| (exit(status), None));
    };
    let mut kin = (!at_terminal).then(|| Kin::of(&child, guarded));
    loop {
        let signal = tokio::select! {
            status = child.wait() => {
                if let Some(kin) = &mut kin {
                    kin.ended();
                }
                return status.map(|status| (exit(status), None));
            }
            signal = asked() => signal,
        };
        if at_terminal && signal == Signal::SIGINT {
            continue;
        }
        let asked = if at_terminal {
            kill(leader, Signal::SIGTERM)
        } else {
            killpg(leader, Signal::SIGTERM)
        };
        if let Err(error) = asked {
            tracing::debug!("process {leader} took no SIGTERM: {error}");
        }
        // What is left of it, `kin` kills when dropped.
        if timeout(GRACE, child.wait()).await.is_err() {
            child.start_kill()?;
        }
        let ended = child.wait().await?;
        return Ok((exit(ended), Some(signal)));
    }
}

/// The program as a command, with what its environment is to be.
fn command(program: &Program, mark: &str) -> io::Result<Command> {
    let mut command = bare(&program.words)?;
    for name in NOT_INHERITED.iter() {
        command.env_remove(name);
    }
    command.env(kin::MARK, kin::marked(mark));
    for (name, value) in &program.environment {
        command.env(name, value.reveal());
    }
    Ok(command)
}

/// A file to execute and its arguments as a command.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that may start children"
)]
fn bare(words: &[OsString]) -> io::Result<Command> {
    let [file, arguments @ ..] = words else {
        let message = "no program was named";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut command = Command::new(file);
    command.args(arguments);
    Ok(command)
}

fn start(program: &Program, mark: &str) -> io::Result<Child> {
    let stdin = match &program.stdin {
        None => Stdio::null(),
        // It fits into a pipe at once: nobody has to wait for its reader.
        Some(input) if input.reveal().len() <= PIPE => {
            let (reader, mut writer) = io::pipe()?;
            writer.write_all(input.reveal())?;
            Stdio::from(reader)
        }
        Some(_) => Stdio::piped(),
    };
    let mut command = command(program, mark)?;
    command
        .process_group(0)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    spawn(&mut command)
}

fn spawn(command: &mut Command) -> io::Result<Child> {
    let _alone = WRITING.write().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    child.id().into_iter().for_each(budget::give_back);
    Ok(child)
}

/// Waits for the end of something; `None` when it takes longer than it may.
async fn within<T>(limit: Option<Duration>, end: impl Future<Output = T>) -> Option<T> {
    match limit {
        None => Some(end.await),
        Some(limit) => timeout(limit, end).await.ok(),
    }
}

/// Writes a child's input and closes it. A child that does not read it all is within its rights.
async fn feed(stdin: Option<ChildStdin>, input: Option<&Sensitive<Vec<u8>>>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        drop(stdin.write_all(input.reveal()).await);
    }
}

/// Whether a variable of this process is one of its children's too.
fn is_inherited(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !OURS.iter().any(|prefix| name.starts_with(prefix))
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(status.into_raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_settings_and_parameters_are_not_inherited() {
        for (name, inherited) in [
            ("PATH", true),
            ("HTTP_PT_X", true),
            ("PT_password", false),
            ("DEVGATE_PASSWORD", false),
        ] {
            assert_eq!(is_inherited(OsStr::new(name)), inherited, "{name}");
        }
    }
}
