//! Configuration mode: each line is sent once, and its outcome is known.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::{Dialect, TextEnd};
use super::read::ExpectedPrompt;
use super::run::failure;
use super::state::{Cli, CliState};
use super::wait::AnswerWait;
use crate::error::{ConfigurationProblem, Interruption, LinesEffect};
use crate::{Context, Error, Line, Result};

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Enters configuration mode, sends the lines, and leaves the mode.
    ///
    /// After a refused line, nothing is sent, not even the command that leaves the mode: the next line may be
    /// meant for the submode that the refused line should have opened, and leaving may apply half a
    /// change. The session cannot be used after that.
    ///
    /// # Errors
    /// Fails with [`Error::ControlCharacter`] or [`Error::Unsupported`] before anything is sent, later with
    /// [`Error::Configuration`], which says which lines the device accepted.
    pub(crate) async fn configure(&mut self, ctx: &Context<'_>, lines: &[Line]) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        if dialect.is_modeless() {
            return self.configure_at_prompt(ctx, lines).await;
        }
        let (enter, leave) = mode_commands(&dialect)?;
        lines.iter().try_for_each(Line::check)?;
        let lines = expected(&dialect, lines)?;
        self.begin("the configuration")?;
        let mut problem = self.problem(lines.len(), LinesEffect::Each);
        let result = match self.enter_config(ctx, enter).await {
            Ok(()) => self.type_lines(ctx, &lines, &mut problem).await,
            Err(error) => Err(error),
        };
        let result = match result {
            Ok(()) => self.close_refused(ctx, &lines, &mut problem).await,
            Err(error) => Err(error),
        };
        let result = match result {
            Ok(()) if !problem.refused.is_empty() => {
                self.state = CliState::Broken;
                Ok(())
            }
            Ok(()) if self.in_config() => self.leave_config(ctx, leave).await,
            other => other,
        };
        match result {
            Ok(()) if problem.refused.is_empty() => return Ok(()),
            Ok(()) => {}
            Err(error) => problem.interrupted = Some(Box::new(error)),
        }
        Err(Error::Configuration(Box::new(problem)))
    }

    /// Returns the outcome of lines before any of them is sent.
    pub(super) fn problem(&self, of: usize, effect: LinesEffect) -> ConfigurationProblem {
        ConfigurationProblem {
            peer: self.settings.peer.clone(),
            refused: Vec::new(),
            sent: 0,
            answered: 0,
            of,
            effect,
            interrupted: None,
        }
    }

    async fn enter_config(&mut self, ctx: &Context<'_>, enter: &str) -> Result<()> {
        let line = Line::new(enter);
        let operation = format!("`{enter}`");
        let entered = self.type_config(ctx, &line, ExpectedPrompt::Config, &operation);
        let message = entered.await?;
        self.check_entered(enter, &message)
    }

    /// Checks that the session is in configuration mode.
    ///
    /// # Errors
    /// Fails with [`Error::CommandFailed`] and the device's answer.
    pub(super) fn check_entered(&self, enter: &str, message: &str) -> Result<()> {
        if self.in_config() {
            return Ok(());
        }
        Err(Error::CommandFailed {
            peer: self.settings.peer.clone(),
            command: enter.to_owned(),
            message: message.trim().to_owned(),
            hint: self.privilege_hint(),
        })
    }

    /// Types lines in configuration mode, up to the first that is refused. Records all that are: lines that are sent
    /// together may be refused together.
    pub(super) async fn type_lines(
        &mut self,
        ctx: &Context<'_>,
        lines: &[(&Line, ExpectedPrompt)],
        problem: &mut ConfigurationProblem,
    ) -> Result<()> {
        while problem.sent < lines.len() && problem.refused.is_empty() {
            let first = problem.sent;
            let rest = &lines[first..];
            problem.sent += self.window_length(rest);
            match &rest[..problem.sent - first] {
                &[(line, expect)] => {
                    let of = lines.len();
                    let operation = format!("line {} of {of}, `{}`", first + 1, line.shown());
                    let message = self.type_config(ctx, line, expect, &operation).await?;
                    let is_in_config = self.in_config();
                    self.record_answer(lines, &message, is_in_config, problem);
                }
                window => {
                    let (from, to, of) = (first + 1, problem.sent, lines.len());
                    let operation = format!("lines {from} to {to} of {of}");
                    let mut answers = Vec::new();
                    let typed = self
                        .type_window(ctx, window, &operation, &mut answers)
                        .await;
                    for answer in &answers {
                        self.record_answer(lines, &answer.text, answer.is_in_config, problem);
                    }
                    typed?;
                }
            }
        }
        Ok(())
    }

    /// After a refused line, types the one that puts the lines before it into effect, if there is one.
    async fn close_refused(
        &mut self,
        ctx: &Context<'_>,
        lines: &[(&Line, ExpectedPrompt)],
        problem: &mut ConfigurationProblem,
    ) -> Result<()> {
        let Some(&(line, expect)) = lines.last().filter(|(line, _)| line.is_closing()) else {
            return Ok(());
        };
        let is_begun = problem.sent > 1 && problem.sent < lines.len();
        if problem.refused.is_empty() || !is_begun || !self.in_config() {
            return Ok(());
        }
        let operation = format!("`{}`", line.shown());
        let message = self.type_config(ctx, line, expect, &operation).await?;
        if let Some(message) = failure(&self.settings.dialect, &message) {
            ctx.debug(format!("`{}`: {}", line.shown(), message.trim()));
            problem.effect = LinesEffect::RolledBack;
        }
        Ok(())
    }

    /// Records the answer to the next line, and whether it was followed by a prompt of configuration mode.
    fn record_answer(
        &self,
        lines: &[(&Line, ExpectedPrompt)],
        message: &str,
        is_in_config: bool,
        problem: &mut ConfigurationProblem,
    ) {
        let (line, expect) = lines[problem.answered];
        problem.answered += 1;
        let refusal = failure(&self.settings.dialect, message).or_else(|| {
            if matches!(expect, ExpectedPrompt::Text | ExpectedPrompt::TextOpened) {
                return is_in_config
                    .then(|| "it does not take it as the text that follows".to_owned());
            }
            let has_left = !is_in_config && problem.answered < lines.len();
            has_left.then(|| "it left configuration mode".to_owned())
        });
        if let Some(message) = refusal {
            let refused = line.refused(problem.answered, &message);
            problem.refused.push(refused);
        }
    }

    /// Sends a line and reads up to what is expected: a prompt in or outside of configuration mode, or a text line.
    pub(super) async fn type_config(
        &mut self,
        ctx: &Context<'_>,
        line: &Line,
        expect: ExpectedPrompt,
        operation: &str,
    ) -> Result<String> {
        let mut wait = AnswerWait::for_command(ctx, operation, &self.settings);
        let result = self.type_line(line, &mut wait, expect, Vec::new()).await;
        self.end(operation, result, |partial| line.mask(partial))
    }

    /// Leaves configuration mode.
    pub(super) async fn leave_config(&mut self, ctx: &Context<'_>, leave: &str) -> Result<()> {
        let line = Line::new(leave);
        let operation = format!("`{leave}`");
        let mut wait = AnswerWait::for_command(ctx, &operation, &self.settings);
        let result = self
            .type_line(&line, &mut wait, ExpectedPrompt::Prompt, Vec::new())
            .await;
        let result = result.and_then(|output| {
            if self.in_config() {
                return Err(Interruption::OutOfStep(
                    "configuration mode could not be left",
                ));
            }
            Ok(output)
        });
        let output = self.end(&operation, result, str::to_owned)?;
        self.check_output(&line, output).map(drop)
    }

    pub(super) fn in_config(&self) -> bool {
        self.is_config(self.screen.last_line())
    }
}

/// Returns the commands that enter configuration mode, and leave it.
///
/// # Errors
/// Fails with [`Error::Unsupported`] for a dialect without this mode.
pub(super) fn mode_commands(dialect: &Dialect) -> Result<(&str, &str)> {
    let Dialect {
        enter_config,
        leave_config,
        prompt,
        ..
    } = dialect;
    match (enter_config, leave_config, &prompt.config) {
        (Some(enter), Some(leave), Some(_)) => Ok((enter, leave)),
        _ => Err(Error::Unsupported(
            "the dialect has no `enter_config`, `leave_config` and `prompt.config`: this \
             device cannot be configured"
                .to_owned(),
        )),
    }
}

/// Determines what is expected after each line: a prompt, or none within a multi-line text. Blank lines
/// outside of texts are dropped.
///
/// # Errors
/// Fails with [`Error::Unsupported`] for a text without an end.
pub(super) fn expected<'l>(
    dialect: &Dialect,
    lines: &'l [Line],
) -> Result<Vec<(&'l Line, ExpectedPrompt)>> {
    let mut expected = Vec::new();
    let mut open: Option<(&Line, TextEnd)> = None;
    for line in lines {
        let text = line.text();
        match &open {
            Some((_, end)) if end.is_in(text) => {
                open = None;
                expected.push((line, ExpectedPrompt::Config));
            }
            Some(_) => expected.push((line, ExpectedPrompt::Text)),
            None if text.trim().is_empty() => {}
            None => {
                open = dialect.text_end(text).map(|end| (line, end));
                let expect = match &open {
                    Some(_) => ExpectedPrompt::TextOpened,
                    None if line.is_closing() => ExpectedPrompt::AnyMode,
                    None => ExpectedPrompt::Config,
                };
                expected.push((line, expect));
            }
        }
    }
    match open {
        None => Ok(expected),
        Some((line, end)) => Err(Error::Unsupported(format!(
            "`{}` opens a text that no line ends with `{}`: nothing was sent",
            line.shown(),
            end.as_str()
        ))),
    }
}
