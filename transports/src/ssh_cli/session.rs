//! A session with a command line.

use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::carrier::Carrier;
use crate::Line;
use crate::cli::dialect::Dialect;
use crate::cli::{AMID_OUTPUT, Cli, CliSettings, Confirmation, Credentials, SecondLogin};
use crate::error::{ChangeOutcome, Interruption, PendingCommit, seconds};
use crate::info::duration;
use crate::pauses;
use crate::ssh::Ssh;
use crate::{ByteStream, CommandLine, Context, Error, Opening, Result, Transport};

/// A session with a device's command line. It runs one command at a time.
#[derive(Debug)]
pub struct SshCliSession {
    carrier: Carrier,
    terms: CliSettings,
    credentials: Credentials,
    /// The time that a commit waits for its confirmation; `None` commits at once.
    confirm_timeout: Option<Duration>,
    /// When the device will have taken back a change that was not confirmed.
    rolled_back_at: SyncMutex<Option<Instant>>,
    /// `None` after the connection was lost or abandoned, until the next operation opens it again.
    open: Mutex<Option<Open>>,
}

/// An open connection to the device.
#[derive(Debug)]
struct Open {
    cli: Cli<Box<dyn ByteStream>>,
    /// The SSH connection that carries the command line, if any.
    ssh: Option<Ssh>,
}

/// What is added to the time after which a device takes a change back by itself: it takes a moment to do so.
const ROLLBACK_TAKES: Duration = Duration::from_secs(5);

/// Whether a command may be sent again if the connection was lost before the command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Allowed,
    Never,
}

impl SshCliSession {
    /// Opens a session, and retries within the context's retry budget.
    pub(super) async fn open(
        ctx: &Context<'_>,
        info: &ConnectionInfo,
        dialect: Arc<Dialect>,
    ) -> Result<Self> {
        let carrier = Carrier::read(ctx, info)?;
        let terms = CliSettings {
            peer: carrier.peer(),
            dialect,
            timeout: carrier.timeout(),
            idle_timeout: duration(info, "idle_timeout", 30.0),
            command_timeout: duration(info, "command_timeout", 600.0),
        };
        let credentials = carrier.credentials(info);
        if credentials.enable_password.is_some() && terms.dialect.enable.is_none() {
            ctx.warning(
                "`enable_password` is never used: only a family knows how privileged mode is reached; \
                 name one as `remote-transport` (`devgate transport list`)",
            );
        }
        let confirm_timeout = info.integer("confirm_timeout").unwrap_or(60);
        let confirm_timeout = u64::try_from(confirm_timeout).ok().filter(|s| *s > 0);
        let session = Self {
            carrier,
            terms,
            credentials,
            confirm_timeout: confirm_timeout.map(Duration::from_secs),
            rolled_back_at: SyncMutex::default(),
            open: Mutex::new(None),
        };
        let open = session.reach(ctx).await?;
        *session.open.lock().await = Some(open);
        Ok(session)
    }

    async fn run(&self, ctx: &Context<'_>, command: &Line, repeat: Repeat) -> Result<String> {
        let mut open = self.open.lock().await;
        let what = format!("run `{}` on {}", command.shown(), self.terms.peer);
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        let mut again = false;
        loop {
            let ready = match self.ready(ctx, &mut open).await {
                Ok(ready) => ready,
                Err(Error::RetryBudgetSpent(mut spent)) if again => {
                    // Keep the output that had arrived before the connection was lost.
                    spent.last_error = attempts.take_last_error();
                    return Err(Error::RetryBudgetSpent(spent));
                }
                Err(error) => return Err(error),
            };
            let started = Instant::now();
            let result = ready.cli.run(ctx, command).await;
            ctx.retry_budget().record_result(&result);
            match result {
                Err(error) if repeat == Repeat::Allowed && error.is_transient() => {
                    if again {
                        // Only the first try may have spent its time with work.
                        attempts.deduct(started.elapsed());
                    }
                    again = true;
                    attempts.pause(error).await?;
                }
                result => return result,
            }
        }
    }

    /// Returns the open connection, and reopens it if it was lost.
    async fn ready<'o>(
        &self,
        ctx: &Context<'_>,
        open: &'o mut Option<Open>,
    ) -> Result<&'o mut Open> {
        if let Some(broken) = open.take_if(|open| !open.cli.is_usable()) {
            broken.close(ctx).await;
        }
        match open {
            Some(_) => {}
            // Boxed, because the future for connecting is many times as large as the one for a command.
            None => *open = Some(Box::pin(self.reach(ctx)).await?),
        }
        Ok(open.as_mut().expect("it was opened just now"))
    }

    /// Connects, logs in and waits for the prompt. Retries transient errors.
    async fn reach(&self, ctx: &Context<'_>) -> Result<Open> {
        let what = format!("open a session with {}", self.terms.peer);
        let persisting = ctx.retry_budget().retry(ctx, what, || self.reach_once(ctx));
        persisting.await
    }

    async fn reach_once(&self, ctx: &Context<'_>) -> Result<Open> {
        let deadline = self.carrier.deadline();
        let (stream, ssh) = self.carrier.connect(ctx, deadline).await?;
        let terms = self.terms.clone();
        match Cli::open(ctx, stream, terms, deadline, &self.credentials).await {
            Ok(cli) => {
                ctx.debug(format!("a session with {} is open", self.terms.peer));
                Ok(Open { cli, ssh })
            }
            Err(error) => {
                if let Some(ssh) = ssh {
                    ssh.close().await;
                }
                Err(error)
            }
        }
    }
}

impl SshCliSession {
    /// Returns the commit that waits for its confirmation.
    async fn find_pending(
        &self,
        ctx: &Context<'_>,
        repeat: Repeat,
    ) -> Result<Option<PendingCommit>> {
        let commit = self.terms.dialect.commit.as_ref();
        let Some(pending) = commit.and_then(|commit| commit.pending.as_ref()) else {
            return Ok(None);
        };
        let output = self.run(ctx, &Line::new(&pending.command), repeat).await?;
        Ok(pending.commit_in(&output, &self.terms.peer))
    }

    /// Sends lines, which take effect with a commit if the dialect has one.
    async fn send_lines(
        &self,
        ctx: &Context<'_>,
        open: &mut Option<Open>,
        lines: &[Line],
    ) -> Result<()> {
        let cli = &mut self.ready(ctx, open).await?.cli;
        if self.terms.dialect.commit.is_none() {
            return cli.configure(ctx, lines).await;
        }
        let confirmation = self
            .confirm_timeout
            .map(|limit| Confirmation { limit, login: self });
        // Boxed, because its future contains the one for the second login.
        let outcome = Box::pin(cli.commit(ctx, lines, confirmation)).await;
        if let Err(Error::UnconfirmedChange(unconfirmed)) = &outcome {
            let pending = match unconfirmed.outcome {
                ChangeOutcome::WillRollBack(limit)
                | ChangeOutcome::Unanswered(limit)
                | ChangeOutcome::InDoubt(limit) => Some(Instant::now() + limit + ROLLBACK_TAKES),
                ChangeOutcome::RolledBack | ChangeOutcome::InEffect => None,
            };
            *self.rolled_back_at() = pending;
        }
        outcome
    }

    fn rolled_back_at(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.rolled_back_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time until an unconfirmed change is certainly taken back.
    fn rollback_pending(&self) -> Option<Duration> {
        let mut at = self.rolled_back_at();
        let left = (*at)?.saturating_duration_since(Instant::now());
        if left.is_zero() {
            *at = None;
        }
        at.map(|_| left)
    }

    /// Refuses to configure while an unconfirmed change is in effect: a commit would confirm it.
    fn check_no_rollback_pending(&self) -> Result<()> {
        match self.rollback_pending() {
            None => Ok(()),
            Some(left) => Err(Error::Unsupported(format!(
                "{} has a change that was not confirmed, and rolls it back within {} s: a commit before that would \
                 confirm it, so nothing was sent",
                self.terms.peer,
                seconds(left).ceil()
            ))),
        }
    }
}

/// A second session by the same way.
#[async_trait]
impl SecondLogin for SshCliSession {
    async fn log_in(&self, ctx: &Context<'_>) -> Result<()> {
        let second = self.reach_once(ctx).await?;
        second.close(ctx).await;
        Ok(())
    }
}

impl Open {
    async fn close(self, ctx: &Context<'_>) {
        let Self { mut cli, ssh } = self;
        cli.leave(ctx).await;
        // Drop the channel first: an unread channel would delay the disconnect.
        drop(cli);
        if let Some(ssh) = ssh {
            ssh.close().await;
        }
    }
}

/// Returns whether a command that only reads, and was not answered, may be answered in another session.
fn may_be_repeated(answer: &Result<String>) -> bool {
    match answer {
        Err(Error::Interrupted(interrupted)) => {
            interrupted.why.is_lost()
                || matches!(interrupted.why, Interruption::OutOfStep(why) if why == AMID_OUTPUT)
        }
        _ => false,
    }
}

/// Closes a session that cannot be used any more: a device in configuration mode may lock out other users.
async fn close_if_broken(open: &mut Option<Open>, ctx: &Context<'_>) {
    if let Some(broken) = open.take_if(|open| !open.cli.is_usable()) {
        broken.close(ctx).await;
    }
}

#[async_trait]
impl CommandLine for SshCliSession {
    async fn exec(&self, ctx: &Context<'_>, command: &str) -> Result<String> {
        self.run(ctx, &Line::new(command), Repeat::Allowed).await
    }

    async fn exec_all(&self, ctx: &Context<'_>, commands: &[&str]) -> Vec<Result<String>> {
        let lines: Vec<Line> = commands.iter().copied().map(Line::from).collect();
        let mut answers = match self.ready(ctx, &mut *self.open.lock().await).await {
            Ok(ready) => ready.cli.run_all(ctx, &lines).await,
            Err(error) => return vec![Err(error)],
        };
        // After a doubt about what was typed ahead, or a lost connection, the rest is typed one by one.
        if let Some(Err(error)) = answers.pop_if(|answer| may_be_repeated(answer)) {
            ctx.debug(format!("the commands are typed one by one: {error}"));
            for line in &lines[answers.len()..] {
                let answer = self.run(ctx, line, Repeat::Allowed).await;
                let is_over = !matches!(answer, Ok(_) | Err(Error::CommandFailed { .. }));
                answers.push(answer);
                if is_over {
                    break;
                }
            }
        }
        answers
    }

    async fn exec_once(&self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        self.run(ctx, command, Repeat::Never).await
    }

    async fn configure(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<()> {
        self.check_no_rollback_pending()?;
        self.await_settled(ctx).await?;
        let mut open = self.open.lock().await;
        let outcome = self.send_lines(ctx, &mut open, lines).await;
        ctx.retry_budget().record_result(&outcome);
        close_if_broken(&mut open, ctx).await;
        outcome
    }

    async fn preview(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<Option<String>> {
        if self.terms.dialect.commit.is_none() {
            return Ok(None);
        }
        self.check_no_rollback_pending()?;
        let mut open = self.open.lock().await;
        let cli = &mut self.ready(ctx, &mut open).await?.cli;
        let outcome = cli.preview(ctx, lines).await;
        ctx.retry_budget().record_result(&outcome);
        close_if_broken(&mut open, ctx).await;
        outcome
    }

    async fn pending_commit(&self, ctx: &Context<'_>) -> Result<Option<PendingCommit>> {
        self.find_pending(ctx, Repeat::Allowed).await
    }

    async fn await_rollback(&self, ctx: &Context<'_>) {
        if let Some(left) = self.rollback_pending() {
            ctx.notice(format!(
                "waiting up to {} s until {} has rolled back the change that was not confirmed",
                seconds(left).ceil(),
                self.terms.peer
            ));
            pauses::wait(left).await;
        }
    }

    async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        if self.terms.dialect.save.is_some() {
            // A restart must not bring back what was not confirmed.
            self.await_rollback(ctx).await;
            // If the connection is lost now, the device may have restarted, and have lost what was read back before.
            if let Some(pending) = self.find_pending(ctx, Repeat::Never).await? {
                return Err(Error::CommitPending(Box::new(pending)));
            }
        }
        let mut open = self.open.lock().await;
        let result = self.ready(ctx, &mut open).await?.cli.save(ctx).await;
        ctx.retry_budget().record_result(&result);
        result
    }

    async fn opening(&self) -> Option<Opening> {
        self.open
            .lock()
            .await
            .as_ref()
            .map(|open| open.cli.opening())
    }
}

#[async_trait]
impl Transport for SshCliSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        let mut open = self.open.lock().await;
        match open.as_mut() {
            Some(ready) => ready.cli.verify(ctx).await,
            None => self.ready(ctx, &mut open).await.map(drop),
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut open = self.open.lock().await;
        let ready = self.ready(ctx, &mut open).await?;
        let mut facts = Facts::new();
        if let (Carrier::Ssh(_), Some(ssh)) = (&self.carrier, &ready.ssh) {
            facts.set("ssh.version", Value::from(ssh.version()));
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        if let Some(open) = self.open.into_inner() {
            open.close(ctx).await;
        }
    }

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }
}
