//! Committing a candidate: at once, or for a limited time until a second login has proved that the change has not cut
//! the way to the device.
//!
//! Every outcome is known, or said to be in doubt: only a commit and its confirmation can be, if they are not answered.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::candidate::Candidate;
use super::commit::filled;
use super::state::{Cli, CliState};
use crate::error::{ChangeOutcome, ConfigurationProblem, LinesEffect, Phase, UnconfirmedChange};
use crate::{Context, Error, Line, Result};

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
        let prompt = self.screen.last_line().to_owned();
        let mut problem = self.problem(candidate.lines.len(), LinesEffect::NotCommitted);
        let mut result = self.fill(ctx, &mut candidate, &mut problem).await;
        if result.is_ok() && problem.refused.is_empty() {
            result = self
                .make_effective(ctx, &candidate, &mut problem, confirmation)
                .await;
            if matches!(result, Ok(()) | Err(Error::UnconfirmedChange(_))) {
                // The commit stands, whatever happens now.
                self.leave_quietly(ctx, &candidate).await;
                // The lines may have changed the name in the prompt. A new session learns it.
                if self.screen.last_line() != prompt {
                    self.state = CliState::Broken;
                }
                return result;
            }
        }
        problem.interrupted = result.err().map(Box::new);
        if problem.effect != LinesEffect::InDoubt {
            problem.effect = self.give_up(ctx, &candidate, problem.sent > 0).await;
        }
        Err(Error::Configuration(Box::new(problem)))
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
            self.run_commit(ctx, candidate, check).await?;
        }
        let confirmed = commit.confirmed.as_deref().zip(commit.confirm.as_deref());
        let Some(((confirmed, confirm), confirmation)) = confirmed.zip(confirmation) else {
            let committed = self.run_commit(ctx, candidate, &commit.commit).await;
            if let Err(Error::Interrupted(_)) = committed {
                problem.effect = LinesEffect::InDoubt;
            }
            return self.explained(ctx, candidate, committed).await;
        };
        let waits = commit.waits(confirmation.limit);
        let confirmed = filled(confirmed, &candidate.session, waits);
        match self.run_commit(ctx, candidate, &confirmed).await {
            Ok(_) => {}
            // The commit was made, and the device takes it back, or it was not made.
            Err(error @ Error::Interrupted(_)) => {
                if !candidate.ends_with_session() {
                    ctx.warning(format!(
                        "if {} did not commit, its candidate may still hold the lines: discard them there (`{}`)",
                        self.settings.peer,
                        candidate.how_to_discard()
                    ));
                }
                return Err(self.unconfirmed(error, ChangeOutcome::Unanswered(waits)));
            }
            refused => return self.explained(ctx, candidate, refused).await,
        }
        if let Err(error) = self.second_login(ctx, &confirmation, waits).await {
            let outcome = self.cancel(ctx, candidate, waits).await;
            return Err(self.unconfirmed(error, outcome));
        }
        match self.run_commit(ctx, candidate, confirm).await {
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

    /// Runs a command whose whole answer is about the commit. A failure has all of it.
    async fn run_commit(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        command: &str,
    ) -> Result<()> {
        let output = self.answer(ctx, candidate, command).await?;
        let failure = &self.settings.dialect.failure;
        let is_failure = |line: &str| failure.iter().any(|pattern| pattern.is_found_in(line));
        if !output.lines().any(is_failure) {
            return Ok(());
        }
        Err(Error::CommandFailed {
            peer: self.settings.peer.clone(),
            command: candidate.filled(command),
            message: output.trim().to_owned(),
            hint: self.privilege_hint(),
        })
    }

    /// Adds the device's reason to a refused commit.
    async fn explained(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        committed: Result<()>,
    ) -> Result<()> {
        let Err(mut error) = committed else {
            return Ok(());
        };
        if let (Error::CommandFailed { message, .. }, Some(reason)) =
            (&mut error, &candidate.commit.reason)
            && self.is_usable()
        {
            match self.answer(ctx, candidate, reason).await {
                Ok(reason) => {
                    *message = format!("{}\n{}", message.trim_end(), reason.trim());
                }
                Err(error) => ctx.warning(error.to_string()),
            }
        }
        Err(error)
    }
}
