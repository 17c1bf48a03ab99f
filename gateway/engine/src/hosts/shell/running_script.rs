//! One script on a host, from its start to its end. The output of the login shell and of sudo before it is skipped.

use std::time::Duration;

use bytes::Bytes;
use devgate_core::failure::Failure;
use devgate_schemas::{Value, shortened};
use devgate_transports::ssh_host::{Exit, Piece};
use devgate_transports::{Context, Error};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::super::settings::RunAs;
use super::access::{Output, ShellAccess, Stdin};
use super::script::{Script, UnquotableWord};
use crate::process::Stream;

/// A script that has begun: it has printed its mark.
pub(super) struct RunningScript {
    /// The text behind the mark on its line.
    pub(super) first: String,
    /// The output that was read beyond that line.
    pub(super) rest: Vec<u8>,
    pub(super) output: Output,
}

/// Why a script has not begun, or may not have begun.
#[derive(Debug)]
pub(super) enum ScriptError {
    /// The script has not begun; nothing was done.
    NotStarted(Failure),
    /// The connection was lost when the script may have begun.
    Lost(Error),
}

impl ScriptError {
    /// Returns the error for a script that was not sent its input: it has not begun.
    fn before_input(self) -> Self {
        match self {
            Self::Lost(error) => Self::NotStarted(error.into()),
            not_started @ Self::NotStarted(_) => not_started,
        }
    }
}

/// How much output of a login shell is read before it counts as no answer.
const MAX_NOISE: usize = 256 * 1024;

/// How much of a host's unexpected output is quoted.
const MAX_QUOTED: usize = 120;

impl RunningScript {
    /// Starts a script as the logged-in user, or as another one.
    pub(super) async fn start(
        access: &ShellAccess,
        ctx: &Context<'_>,
        script: &Script,
        run_as: Option<&RunAs>,
    ) -> Result<Self, ScriptError> {
        let send = |stdin| drop(send_input(stdin, script));
        let started = Self::start_with(access, ctx, script, run_as, send).await;
        started.map(|(running, ())| running)
    }

    /// Starts a script as [`start`](Self::start) does, and keeps its input open. The script has not got all of its own
    /// input before the result of the task is there.
    pub(super) async fn start_open(
        access: &ShellAccess,
        ctx: &Context<'_>,
        script: &Script,
        run_as: Option<&RunAs>,
    ) -> Result<(Self, JoinHandle<Stdin>), ScriptError> {
        let send = |stdin| send_input(stdin, script);
        Self::start_with(access, ctx, script, run_as, send).await
    }

    /// Starts a script, which waits for its input.
    pub(super) async fn begin(
        access: &ShellAccess,
        ctx: &Context<'_>,
        script: &Script,
        run_as: Option<&RunAs>,
    ) -> Result<(Self, Stdin), ScriptError> {
        let begun = Self::start_with(access, ctx, script, run_as, |stdin| stdin).await;
        begun.map_err(ScriptError::before_input)
    }

    /// Starts a script. `send` sends its input as soon as nothing else reads it.
    async fn start_with<T>(
        access: &ShellAccess,
        ctx: &Context<'_>,
        script: &Script,
        run_as: Option<&RunAs>,
        send: impl FnOnce(Stdin) -> T,
    ) -> Result<(Self, T), ScriptError> {
        let prompt = format!("{},", script.mark);
        let prefix = run_as.map(|run_as| run_as_argv(run_as, &prompt));
        let prefix = prefix.as_deref().unwrap_or_default();
        let started = access.start(ctx, script, prefix).await;
        let (stdin, output) =
            started.map_err(|why| ScriptError::NotStarted(not_changed(run_as, why)))?;
        let mut running = Self {
            first: String::new(),
            rest: Vec::new(),
            output,
        };
        // The program that changes the user may read standard input before the script does, so its prompt comes first.
        let Some(run_as) = run_as else {
            let sent = send(stdin);
            running.read_until_mark(script, None).await?;
            return Ok((running, sent));
        };
        let mut sudo = Sudo {
            run_as,
            prompt: prompt.as_bytes(),
            stdin,
            answered: 0,
        };
        running
            .read_until_mark(script, Some(&mut sudo))
            .await
            .map_err(|error| match error.before_input() {
                ScriptError::NotStarted(why) => {
                    ScriptError::NotStarted(not_changed(Some(run_as), why))
                }
                lost @ ScriptError::Lost(_) => lost,
            })?;
        Ok((running, send(sudo.stdin)))
    }

    /// Returns the process group in which a task runs, which its script prints behind the mark.
    pub(super) fn group(&self) -> Option<u32> {
        // 0 would mean the caller's own group, and 1 is the host's.
        self.first.parse().ok().filter(|group| *group > 1)
    }

    /// Returns the next piece of output behind the mark. The future may be dropped while it waits.
    ///
    /// # Errors
    /// Fails when the connection was lost; whether the script still runs is not known.
    pub(super) async fn next(&mut self) -> Result<Piece, Error> {
        if self.rest.is_empty() {
            return self.output.next().await;
        }
        Ok(Piece::Stdout(std::mem::take(&mut self.rest).into()))
    }

    /// Reads up to the mark. `sudo` answers what is asked before.
    async fn read_until_mark(
        &mut self,
        script: &Script,
        mut sudo: Option<&mut Sudo<'_>>,
    ) -> Result<(), ScriptError> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        loop {
            match self.output.next().await {
                Ok(Piece::Stdout(bytes)) => {
                    out.extend_from_slice(&bytes);
                    if let Some((first, rest)) = split_after_mark(&out, script.mark.as_bytes()) {
                        self.first = String::from_utf8_lossy(first).trim().to_owned();
                        self.rest = rest.to_vec();
                        return Ok(());
                    }
                }
                Ok(Piece::Stderr(bytes)) => {
                    err.extend_from_slice(&bytes);
                    if let Some(sudo) = &mut sudo {
                        sudo.answer(&err).await.map_err(ScriptError::NotStarted)?;
                    }
                }
                Ok(Piece::Ended(_)) => {}
                Ok(Piece::Exit(exit)) => {
                    return Err(ScriptError::NotStarted(no_mark_failure(
                        script, &exit, &out, &err,
                    )));
                }
                Err(error @ Error::Lost { .. }) => return Err(ScriptError::Lost(error)),
                Err(error) => return Err(ScriptError::NotStarted(error.into())),
            }
            if out.len() + err.len() > MAX_NOISE {
                let unsaid = Exit::Unsaid;
                return Err(ScriptError::NotStarted(no_mark_failure(
                    script, &unsaid, &out, &err,
                )));
            }
        }
    }

    /// Reads to the end and returns how the script ended. Output that other processes keep open is awaited for `drain`.
    pub(super) async fn end(
        &mut self,
        drain: Duration,
        mut take: impl FnMut(Stream, &[u8]),
    ) -> Result<Exit, Error> {
        take(Stream::Stdout, &std::mem::take(&mut self.rest));
        let mut ended = None;
        loop {
            let next = match &ended {
                None => self.output.next().await,
                Some((exit, until)) => match timeout_at(*until, self.output.next()).await {
                    Ok(next) => next,
                    Err(_) => return Ok(Exit::clone(exit)),
                },
            };
            match next? {
                Piece::Stdout(bytes) => take(Stream::Stdout, &bytes),
                Piece::Stderr(bytes) => take(Stream::Stderr, &bytes),
                Piece::Ended(exit) => ended = Some((exit, Instant::now() + drain)),
                Piece::Exit(exit) => return Ok(exit),
            }
        }
    }
}

/// The program that changes the user, until it has done so.
struct Sudo<'a> {
    run_as: &'a RunAs,
    /// What it prints when it asks for a password.
    prompt: &'a [u8],
    stdin: Stdin,
    /// How many of its questions were answered.
    answered: usize,
}

impl Sudo<'_> {
    /// Answers the questions in its complete stderr so far.
    async fn answer(&mut self, said: &[u8]) -> Result<(), Failure> {
        let prompts = count(said, self.prompt);
        if prompts == self.answered {
            return Ok(());
        }
        self.answered = prompts;
        let password = match &self.run_as.password {
            _ if prompts > 1 => return Err(bad_password(self.run_as)),
            None => return Err(no_password(self.run_as)),
            Some(password) => password,
        };
        // If the script ends meanwhile, its output says why.
        drop(self.stdin.write_all(password_line(password)).await);
        Ok(())
    }
}

/// Sends a script its input. The reader of the output finds out how the script ended.
pub(super) fn send_input(mut stdin: Stdin, script: &Script) -> JoinHandle<Stdin> {
    let input = input_of(script);
    tokio::spawn(async move {
        drop(stdin.write_all(input).await);
        stdin
    })
}

/// Returns the input of a script as it is sent.
pub(super) fn input_of(script: &Script) -> Bytes {
    Bytes::copy_from_slice(script.input.reveal())
}

/// Returns the words that change the user, to put before the command.
fn run_as_argv(run_as: &RunAs, prompt: &str) -> Vec<String> {
    let user = run_as.user.clone();
    match &run_as.command {
        Some(words) => words.iter().cloned().chain([user]).collect(),
        None => [&run_as.sudo, "-S", "-H", "-u", &user, "-p", prompt, "--"]
            .map(str::to_owned)
            .to_vec(),
    }
}

/// Returns the text behind a mark on its line, and the text behind that line.
fn split_after_mark<'a>(out: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = out.windows(mark.len()).position(|window| window == mark)?;
    let line = &out[at + mark.len()..];
    let end = line.iter().position(|byte| *byte == b'\n')?;
    Some((&line[..end], &line[end + 1..]))
}

fn count(text: &[u8], word: &[u8]) -> usize {
    text.windows(word.len())
        .filter(|window| *window == word)
        .count()
}

fn password_line(password: &Value) -> Bytes {
    let text = password.reveal_json();
    Bytes::from(format!("{}\n", text.as_str().unwrap_or_default()).into_bytes())
}

/// The kind of failure for a host that ends a script before it has begun.
pub(super) const NO_MARK: &str = "puppetlabs.tasks/remote-task-error";

fn no_mark_failure(script: &Script, exit: &Exit, out: &[u8], err: &[u8]) -> Failure {
    let prompt = format!("{},", script.mark);
    let text = |text: &[u8]| String::from_utf8_lossy(text).replace(&prompt, "");
    let said = [err, out].map(|said| text(said).trim().to_owned());
    let said = said.iter().find(|text| !text.is_empty());
    let said = said.map_or_else(
        || "nothing".to_owned(),
        |text| format!("{:?}", shortened(text, MAX_QUOTED)),
    );
    let ended = how_ended(exit);
    Failure::new(
        NO_MARK,
        format!("expected its shell to run what it was sent, but {ended}; it said {said}"),
    )
}

/// Says how a shell ended.
pub(super) fn how_ended(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("it ended with exit code {code}"),
        Exit::Signal(name) => format!("it was ended by SIG{name}"),
        Exit::Unsaid => "it went on otherwise".to_owned(),
    }
}

impl From<UnquotableWord> for Failure {
    fn from(UnquotableWord: UnquotableWord) -> Self {
        Self::new(
            "devgate/invalid-connection-info",
            "expected `run-as`, `run-as-command` and `sudo-executable` without quotes, backslashes, \
             exclamation marks and line ends",
        )
    }
}

fn escalate(code: &str, message: String) -> Failure {
    Failure::new("puppetlabs.tasks/escalate-error", message).with("issue_code", code)
}

fn no_password(RunAs { user, .. }: &RunAs) -> Failure {
    let message = format!(
        "sudo asks for a password to become {user}, and none is configured: set `sudo-password`, or \
         let sudoers say NOPASSWD"
    );
    escalate("NO_PASSWORD", message)
}

fn bad_password(RunAs { user, .. }: &RunAs) -> Failure {
    let message = format!("sudo rejects the password to become {user}: check `sudo-password`");
    escalate("BAD_PASSWORD", message)
}

/// If the user was to be changed and nothing has begun, the program that changes users is the cause.
fn not_changed(run_as: Option<&RunAs>, why: Failure) -> Failure {
    match run_as {
        Some(RunAs { user, .. }) if why.kind == NO_MARK => escalate(
            "SUDO_DENIED",
            format!("the user cannot be changed to {user}: {why}"),
        ),
        _ => why,
    }
}
