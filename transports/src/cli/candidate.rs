//! Configuration that takes effect with a commit: all lines or none.
//!
//! 1. In configuration mode, the candidate must change nothing yet: what is there was made by somebody else.
//! 2. The lines are typed. After a refused line nothing is committed.
//! 3. They are committed, if possible for a limited time. Then a second login must prove that the change has not cut
//!    the way to the device, and only then they are confirmed.
//! 4. Whatever was not committed is discarded, and the mode is left.
//!
//! Every outcome is known, or said to be in doubt: only a commit and its confirmation can be, if they are not answered.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::starred;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::commit::filled;
use super::configure::{expected, mode_commands};
use super::dialect::{Commit, Dialect};
use super::read::ExpectedPrompt;
use super::state::{Cli, CliState};
use super::wait::AnswerWait;
use crate::error::{ChangeOutcome, ConfigurationProblem, LinesEffect, Phase, UnconfirmedChange};
use crate::{Context, Error, Line, Result};

/// How much longer than other commands a commit may be silent.
const COMMIT_SILENCE: u32 = 4;

/// The part of the time until a commit is taken back that the second login may take. The rest is left to confirm.
const LOGIN_SHARE: f64 = 0.75;

/// A way to a device beside the session that changes it.
#[async_trait]
pub(crate) trait SecondLogin: Send + Sync {
    /// Opens another session up to its prompt, and closes it.
    ///
    /// # Errors
    /// Fails when the device cannot be reached any more.
    async fn log_in(&self, ctx: &Context<'_>) -> Result<()>;
}

/// How a commit is confirmed.
pub(crate) struct Confirmation<'a> {
    /// The time after which the device takes an unconfirmed commit back.
    pub(crate) limit: Duration,
    /// What must succeed before.
    pub(crate) login: &'a dyn SecondLogin,
}

/// One change of the candidate.
struct Candidate<'c> {
    commit: &'c Commit,
    enter: String,
    leave: String,
    /// The name of the configuration session.
    session: String,
    /// The lines, and what is expected after each of them.
    lines: Vec<(&'c Line, ExpectedPrompt)>,
    /// The last line that the device showed when it entered the mode: perhaps a part of its prompt.
    above_prompt: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Types lines into the candidate, commits it, and confirms the commit if the dialect can.
    ///
    /// # Errors
    /// Fails with [`Error::Configuration`] when nothing was committed, or when it is not known whether the commit took
    /// effect, and with [`Error::UnconfirmedChange`] when it was committed but not confirmed. Before anything is
    /// sent, it can fail as [`configure`](Self::configure) does.
    pub(crate) async fn commit(
        &mut self,
        ctx: &Context<'_>,
        lines: &[Line],
        confirmation: Option<Confirmation<'_>>,
    ) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        let mut candidate = Candidate::new(&dialect, lines)?;
        let mut problem = self.problem(candidate.lines.len(), LinesEffect::NotCommitted);
        let mut result = self.fill(ctx, &mut candidate, &mut problem).await;
        if result.is_ok() && problem.refused.is_none() {
            result = self
                .make_effective(ctx, &candidate, &mut problem, confirmation)
                .await;
            if matches!(result, Ok(()) | Err(Error::UnconfirmedChange(_))) {
                self.leave_committed(ctx, &candidate).await;
                return result;
            }
        }
        problem.interrupted = result.err().map(Box::new);
        if problem.effect != LinesEffect::InDoubt {
            problem.effect = self.give_up(ctx, &candidate, problem.sent > 0).await;
        }
        Err(Error::Configuration(Box::new(problem)))
    }

    /// Types lines into the candidate, and discards it again. Returns what the device says that they would change, or
    /// `None` if it cannot tell.
    ///
    /// # Errors
    /// Fails as [`commit`](Self::commit) does. Nothing is committed.
    pub(crate) async fn preview(
        &mut self,
        ctx: &Context<'_>,
        lines: &[Line],
    ) -> Result<Option<String>> {
        let dialect = Arc::clone(&self.settings.dialect);
        let mut candidate = Candidate::new(&dialect, lines)?;
        if candidate.commit.diff.is_none() {
            return Ok(None);
        }
        let mut problem = self.problem(candidate.lines.len(), LinesEffect::NotCommitted);
        let mut result = self
            .fill(ctx, &mut candidate, &mut problem)
            .await
            .map(|()| None);
        if result.is_ok() && problem.refused.is_none() {
            result = self.changes(ctx, &candidate).await;
        }
        problem.effect = self.give_up(ctx, &candidate, problem.sent > 0).await;
        match result {
            Ok(changes) if problem.refused.is_none() => {
                if let LinesEffect::InCandidate(discard) = problem.effect {
                    let peer = &self.settings.peer;
                    ctx.warning(format!(
                        "the candidate configuration of {peer} may still hold the lines of this noop run: discard \
                         them there (`{discard}`)"
                    ));
                }
                let changes = changes.unwrap_or_default();
                return Ok(Some(starred(&candidate.masked(&changes), |_| false)));
            }
            Ok(_) => {}
            Err(error) => problem.interrupted = Some(Box::new(error)),
        }
        Err(Error::Configuration(Box::new(problem)))
    }

    /// Enters the mode, and types the lines if the candidate changes nothing yet.
    async fn fill(
        &mut self,
        ctx: &Context<'_>,
        candidate: &mut Candidate<'_>,
        problem: &mut ConfigurationProblem,
    ) -> Result<()> {
        self.begin("the configuration")?;
        let entered = self.enter_config(ctx, &candidate.enter).await?;
        let shown = entered.lines().map(str::trim);
        let last = shown.rev().find(|line| !line.is_empty());
        last.unwrap_or_default()
            .clone_into(&mut candidate.above_prompt);
        if let Some(changes) = self.changes(ctx, candidate).await? {
            return Err(Error::CandidateInUse {
                peer: self.settings.peer.clone(),
                command: candidate.commit.diff.clone().unwrap_or_default(),
                changes,
            });
        }
        self.type_lines(ctx, &candidate.lines, problem).await
    }

    /// Returns what the candidate changes, as the device shows it. `None` is nothing, or unknown.
    async fn changes(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>> {
        let Some(diff) = &candidate.commit.diff else {
            return Ok(None);
        };
        let output = self.run_anywhere(ctx, candidate, diff).await?;
        Ok(candidate.changes_in(&output))
    }

    /// Commits the candidate, and confirms the commit.
    async fn make_effective(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        problem: &mut ConfigurationProblem,
        confirmation: Option<Confirmation<'_>>,
    ) -> Result<()> {
        let commit = candidate.commit;
        if commit.diff.is_some() && self.changes(ctx, candidate).await?.is_none() {
            ctx.debug("the lines change nothing on the device: nothing is committed");
            return self
                .run_anywhere(ctx, candidate, &commit.discard)
                .await
                .map(drop);
        }
        if let Some(check) = &commit.check {
            self.run_anywhere(ctx, candidate, check).await?;
        }
        let confirmed = commit.confirmed.as_deref().zip(commit.confirm.as_deref());
        let Some(((confirmed, confirm), confirmation)) = confirmed.zip(confirmation) else {
            let committed = self.run_anywhere(ctx, candidate, &commit.commit).await;
            if let Err(Error::Interrupted(_)) = committed {
                problem.effect = LinesEffect::InDoubt;
            }
            return self.explained(ctx, candidate, committed).await;
        };
        let waits = commit.waits(confirmation.limit);
        let confirmed = filled(confirmed, &candidate.session, waits);
        match self.run_anywhere(ctx, candidate, &confirmed).await {
            Ok(_) => {}
            // Whether or not the commit was made, the device takes it back.
            Err(error @ Error::Interrupted(_)) => {
                return Err(self.unconfirmed(error, ChangeOutcome::WillRollBack(waits)));
            }
            refused => return self.explained(ctx, candidate, refused).await,
        }
        if let Err(error) = self.second_login(ctx, &confirmation, waits).await {
            let outcome = self.cancel(ctx, candidate, waits).await;
            return Err(self.unconfirmed(error, outcome));
        }
        match self.run_anywhere(ctx, candidate, confirm).await {
            Ok(_) => Ok(()),
            Err(error @ Error::Interrupted(_)) => {
                Err(self.unconfirmed(error, ChangeOutcome::InDoubt(waits)))
            }
            Err(error) => {
                let outcome = self.cancel(ctx, candidate, waits).await;
                Err(self.unconfirmed(error, outcome))
            }
        }
    }

    /// Proves that the device can still be reached.
    async fn second_login(
        &self,
        ctx: &Context<'_>,
        confirmation: &Confirmation<'_>,
        waits: Duration,
    ) -> Result<()> {
        let limit = waits.mul_f64(LOGIN_SHARE);
        let login = timeout(limit, confirmation.login.log_in(ctx)).await;
        login.unwrap_or_else(|_| {
            Err(Error::TimedOut {
                peer: self.settings.peer.clone(),
                phase: Phase::Prompt,
                limit,
                hint: " of a second session, which the commit was waiting for (`confirm_timeout`)"
                    .to_owned(),
            })
        })
    }

    /// Takes an unconfirmed commit back, if the device can do so at once.
    async fn cancel(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        waits: Duration,
    ) -> ChangeOutcome {
        if let Some(cancel) = candidate
            .commit
            .cancel
            .as_deref()
            .filter(|_| self.is_usable())
        {
            match self.run_anywhere(ctx, candidate, cancel).await {
                Ok(_) => return ChangeOutcome::RolledBack,
                Err(error) => ctx.warning(error.to_string()),
            }
        }
        ChangeOutcome::WillRollBack(waits)
    }

    fn unconfirmed(&self, why: Error, outcome: ChangeOutcome) -> Error {
        Error::UnconfirmedChange(Box::new(UnconfirmedChange {
            peer: self.settings.peer.clone(),
            why: Box::new(why),
            outcome,
        }))
    }

    /// Adds the device's reason to a refused commit.
    async fn explained(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        committed: Result<String>,
    ) -> Result<()> {
        let mut error = match committed {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        if let (Error::CommandFailed { message, .. }, Some(reason)) =
            (&mut error, &candidate.commit.reason)
            && self.is_usable()
        {
            match self.run_anywhere(ctx, candidate, reason).await {
                Ok(reason) => {
                    *message = format!("{}\n{}", message.trim_end(), reason.trim());
                }
                // The reason itself may look like a failure.
                Err(Error::CommandFailed {
                    message: reason, ..
                }) => *message = format!("{}\n{reason}", message.trim_end()),
                Err(error) => ctx.warning(error.to_string()),
            }
        }
        Err(error)
    }

    /// Discards what was typed, leaves the mode, and returns what is in effect. If anything about that is in doubt, the
    /// session is broken.
    async fn give_up(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        has_typed: bool,
    ) -> LinesEffect {
        let has_discarded = match (self.is_usable(), has_typed) {
            (_, false) => true,
            (false, true) => false,
            // A line that has left the mode is no place to discard anything.
            (true, true) if !self.in_config() => false,
            (true, true) => match self
                .run_anywhere(ctx, candidate, &candidate.commit.discard)
                .await
            {
                Ok(_) => true,
                Err(error) => {
                    ctx.warning(error.to_string());
                    false
                }
            },
        };
        if has_discarded {
            self.leave_quietly(ctx, candidate).await;
        } else {
            self.state = CliState::Broken;
        }
        match has_discarded || candidate.ends_with_session() {
            true => LinesEffect::NotCommitted,
            false => LinesEffect::InCandidate(candidate.filled(&candidate.commit.discard)),
        }
    }

    /// Leaves the mode after a commit, which stands whatever happens now.
    async fn leave_committed(&mut self, ctx: &Context<'_>, candidate: &Candidate<'_>) {
        if self.is_usable() {
            self.leave_quietly(ctx, candidate).await;
        }
    }

    /// Leaves the mode if the session is still in it. After a failure the session is broken.
    async fn leave_quietly(&mut self, ctx: &Context<'_>, candidate: &Candidate<'_>) {
        if self.is_usable()
            && self.in_config()
            && let Err(error) = self.leave_config(ctx, &candidate.leave).await
        {
            ctx.warning(error.to_string());
            self.state = CliState::Broken;
        }
    }

    /// Runs a command in configuration mode or outside of it, wherever the session is.
    async fn run_anywhere(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        command: &str,
    ) -> Result<String> {
        let line = Line::new(candidate.filled(command));
        let operation = format!("`{}`", line.shown());
        let idle = self.settings.idle_timeout * COMMIT_SILENCE;
        let limit = self.settings.command_timeout;
        let mut wait = AnswerWait::new(ctx, &operation, idle.min(limit), limit);
        let result = self
            .type_line(&line, &mut wait, ExpectedPrompt::AnyMode, Vec::new())
            .await;
        let output = self.end(&operation, result, |partial| candidate.masked(partial))?;
        self.check_output(&line, candidate.masked(&output))
    }
}

impl<'c> Candidate<'c> {
    fn new(dialect: &'c Dialect, lines: &'c [Line]) -> Result<Self> {
        let Some(commit) = &dialect.commit else {
            return Err(Error::Unsupported(
                "the dialect has no `commit`: this device has no candidate configuration"
                    .to_owned(),
            ));
        };
        let (enter, leave) = mode_commands(dialect)?;
        lines.iter().try_for_each(Line::check)?;
        let session = RandomState::new().hash_one(()) >> 32;
        let session = format!("devgate-{session:08x}");
        let named = |command| filled(command, &session, Duration::ZERO);
        Ok(Self {
            commit,
            enter: named(enter),
            leave: named(leave),
            lines: expected(dialect, lines)?,
            above_prompt: String::new(),
            session,
        })
    }

    /// Returns a command with the name of the configuration session.
    fn filled(&self, command: &str) -> String {
        filled(command, &self.session, Duration::ZERO)
    }

    /// Returns whether the device discards the candidate by itself at the end of the session, as far as its commands
    /// tell.
    fn ends_with_session(&self) -> bool {
        let mut words = self.enter.split_whitespace();
        words.any(|word| ["exclusive", "private"].contains(&word))
    }

    /// Redacts the secrets of the lines in a device's text.
    fn masked(&self, text: &str) -> String {
        let lines = self.lines.iter();
        lines.fold(text.to_owned(), |text, (line, _)| line.mask(&text))
    }

    /// Returns what an answer to `diff` says that the candidate changes, if it does.
    fn changes_in(&self, output: &str) -> Option<String> {
        let is_none = |line: &str| {
            let pattern = self.commit.no_diff.as_ref();
            line.trim().is_empty() || pattern.is_some_and(|pattern| pattern.is_found_in(line))
        };
        let mut lines: Vec<&str> = output.lines().collect();
        while lines.last().is_some_and(|line| is_none(line)) {
            lines.pop();
        }
        // A prompt may have two lines.
        lines.pop_if(|line| line.trim() == self.above_prompt);
        while lines.last().is_some_and(|line| is_none(line)) {
            lines.pop();
        }
        let first = lines.iter().position(|line| !line.trim().is_empty())?;
        let has_changes = lines.iter().any(|line| !is_none(line));
        has_changes.then(|| lines[first..].join("\n"))
    }
}
