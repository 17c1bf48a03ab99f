//! Candidate configurations: lines take effect with a commit, all of them or none.
//!
//! 1. In configuration mode, no commit may wait for its confirmation, and the candidate must change nothing yet: what is
//!    there was made by somebody else.
//! 2. The lines are typed. After a refused line nothing is committed.
//! 3. They are committed ([`confirm`](super::confirm)).
//! 4. Whatever was not committed is discarded, and the mode is left.

use std::sync::Arc;
use std::time::Duration;

use devgate_schemas::{REDACTED, starred};
use tokio::io::{AsyncRead, AsyncWrite};

use super::commit::{filled, session_name};
use super::configure::{expected, mode_commands};
use super::dialect::{Commit, Dialect};
use super::read::ExpectedPrompt;
use super::state::{Cli, CliState};
use super::wait::AnswerWait;
use crate::error::{CandidateInUse, ConfigurationProblem, LinesEffect};
use crate::{Context, Error, Line, Result};

/// How much longer than other commands a commit may be silent.
const COMMIT_SILENCE: u32 = 4;

/// One change of the candidate.
pub(super) struct Candidate<'c> {
    pub(super) commit: &'c Commit,
    enter: String,
    leave: String,
    /// The name of the configuration session.
    pub(super) session: String,
    /// The lines, and what is expected after each of them.
    pub(super) lines: Vec<(&'c Line, ExpectedPrompt)>,
    /// The last line that the device showed when it entered the mode: perhaps a part of its prompt.
    above_prompt: String,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
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
        if result.is_ok() && problem.refused.is_empty() {
            result = self.changes(ctx, &candidate).await;
        }
        problem.effect = self.give_up(ctx, &candidate, problem.sent > 0).await;
        match result {
            Ok(changes)
                if problem.refused.is_empty() && problem.effect == LinesEffect::NotCommitted =>
            {
                let changes = changes.unwrap_or_default();
                let changes = candidate.without_hidden(&candidate.masked(&changes));
                return Ok(Some(starred(&changes, |_| false)));
            }
            Ok(_) => {}
            Err(error) => problem.interrupted = Some(Box::new(error)),
        }
        Err(Error::Configuration(Box::new(problem)))
    }

    /// Enters the mode, and types the lines if the candidate changes nothing yet.
    pub(super) async fn fill(
        &mut self,
        ctx: &Context<'_>,
        candidate: &mut Candidate<'_>,
        problem: &mut ConfigurationProblem,
    ) -> Result<()> {
        self.begin("the configuration")?;
        let entered = self.run_anywhere(ctx, candidate, &candidate.enter).await?;
        self.check_entered(&candidate.enter, &entered)?;
        let shown = entered.lines().map(str::trim);
        let last = shown.rev().find(|line| !line.is_empty());
        last.unwrap_or_default()
            .clone_into(&mut candidate.above_prompt);
        // Here, the mode may keep others from committing meanwhile.
        if let Some(pending) = &candidate.commit.pending {
            let output = self
                .run_anywhere(ctx, candidate, pending.in_config())
                .await?;
            if let Some(commit) = pending.commit_in(&output, &self.settings.peer) {
                return Err(Error::CommitPending(Box::new(commit)));
            }
        }
        if let Some(changes) = self.changes(ctx, candidate).await? {
            return Err(Error::CandidateInUse(Box::new(CandidateInUse {
                peer: self.settings.peer.clone(),
                command: candidate.commit.diff.clone().unwrap_or_default(),
                changes,
            })));
        }
        self.type_lines(ctx, &candidate.lines, problem).await
    }

    /// Returns what the candidate changes, as the device shows it. `None` is nothing, or unknown.
    pub(super) async fn changes(
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

    /// Discards what was typed, leaves the mode, and returns what is in effect. If anything about that is in doubt, the
    /// session is broken.
    pub(super) async fn give_up(
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
            false => {
                let discard = candidate.how_to_discard();
                // The change may succeed at another try, and then no error says it.
                ctx.warning(format!(
                    "the candidate configuration of {} may still hold lines that were not committed: discard them \
                     there (`{discard}`)",
                    self.settings.peer
                ));
                LinesEffect::InCandidate(discard)
            }
        }
    }

    /// Leaves the mode if the session is still in it. After a failure the session is broken.
    pub(super) async fn leave_quietly(&mut self, ctx: &Context<'_>, candidate: &Candidate<'_>) {
        if self.is_usable()
            && self.in_config()
            && let Err(error) = self.leave_config(ctx, &candidate.leave).await
        {
            ctx.warning(error.to_string());
            self.state = CliState::Broken;
        }
    }

    /// Runs a command in configuration mode or outside of it, wherever the session is.
    pub(super) async fn run_anywhere(
        &mut self,
        ctx: &Context<'_>,
        candidate: &Candidate<'_>,
        command: &str,
    ) -> Result<String> {
        let output = self.answer(ctx, candidate, command).await?;
        self.check_output(&Line::new(candidate.filled(command)), output)
    }

    /// Runs a command as [`run_anywhere`](Self::run_anywhere) does, without looking for failures in the answer.
    pub(super) async fn answer(
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
        Ok(candidate.masked(&output))
    }
}

impl<'c> Candidate<'c> {
    pub(super) fn new(dialect: &'c Dialect, lines: &'c [Line]) -> Result<Self> {
        let Some(commit) = &dialect.commit else {
            return Err(Error::Unsupported(
                "the dialect has no `commit`: this device has no candidate configuration"
                    .to_owned(),
            ));
        };
        let (enter, leave) = mode_commands(dialect)?;
        lines.iter().try_for_each(Line::check)?;
        let session = session_name();
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
    pub(super) fn filled(&self, command: &str) -> String {
        filled(command, &self.session, Duration::ZERO)
    }

    /// Returns whether the device discards the candidate by itself at the end of the session, as far as its commands
    /// tell.
    pub(super) fn ends_with_session(&self) -> bool {
        let mut words = self.enter.split_whitespace();
        words.any(|word| ["exclusive", "private"].contains(&word))
    }

    /// Returns what empties the candidate from another session.
    pub(super) fn how_to_discard(&self) -> String {
        let discard = self.filled(&self.commit.discard);
        match self.enter.contains(&self.session) {
            true => format!("{}`, `{discard}", self.enter),
            false => discard,
        }
    }

    /// Redacts the secrets of the lines in a device's text.
    fn masked(&self, text: &str) -> String {
        let lines = self.lines.iter();
        lines.fold(text.to_owned(), |text, (line, _)| line.mask(&text))
    }

    /// Redacts what follows the word before a secret of the lines: a device may show a secret in another form.
    fn without_hidden(&self, text: &str) -> String {
        let shown = self.lines.iter().map(|(line, _)| line.shown());
        let words = shown.filter_map(|line| {
            let (before, _) = line.split_once(REDACTED)?;
            let word = before
                .trim_end_matches(['"', '\'', ' '])
                .rsplit(' ')
                .next()?;
            (!word.is_empty()).then(|| format!("{word} "))
        });
        let words: Vec<String> = words.collect();
        let hidden = |line: &str| {
            let ends = words.iter().filter_map(|word| {
                let at = line.find(word.as_str())?;
                let is_whole = line[..at].ends_with([' ', '+', '-']) || at == 0;
                is_whole.then_some(at + word.len())
            });
            ends.min().map(|end| format!("{}{REDACTED}", &line[..end]))
        };
        let lines = text
            .lines()
            .map(|line| hidden(line).unwrap_or_else(|| line.to_owned()));
        lines.collect::<Vec<_>>().join("\n")
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
