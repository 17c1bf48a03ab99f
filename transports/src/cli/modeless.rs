//! Configuration without a mode: lines are typed at the prompt of commands, and each takes effect by itself.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::configure::expected;
use super::read::ExpectedPrompt;
use super::run::failure;
use super::state::{Cli, CliState};
use crate::error::{Interruption, LinesEffect};
use crate::{Context, Error, Line, Result};

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Types the lines at the prompt of commands. They may change the prompt, but must return to it. After a refused line,
    /// nothing is sent, and the session cannot be used.
    ///
    /// # Errors
    /// Fails as [`configure`](Self::configure) does.
    pub(super) async fn configure_at_prompt(
        &mut self,
        ctx: &Context<'_>,
        lines: &[Line],
    ) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        lines.iter().try_for_each(Line::check)?;
        let mut lines = expected(&dialect, lines)?;
        // The last line has no other behind it, whose echo would prove its end.
        if let Some((_, expect @ ExpectedPrompt::Config)) = lines.last_mut() {
            *expect = ExpectedPrompt::AnyMode;
        }
        self.begin("the configuration")?;
        self.state = CliState::AtPrompt;
        let mut problem = self.problem(lines.len(), LinesEffect::Each);
        for (number, &(line, expect)) in (1..).zip(&lines) {
            let operation = format!("line {number} of {}, `{}`", lines.len(), line.shown());
            problem.sent = number;
            let message = match self.type_config(ctx, line, expect, &operation).await {
                Ok(message) => message,
                Err(error) => {
                    problem.interrupted = Some(Box::new(error));
                    break;
                }
            };
            problem.answered = number;
            if let Some(message) = failure(&dialect, &message) {
                problem.refused.push(line.refused(number, &message));
                break;
            }
        }
        let is_done = problem.interrupted.is_none() && problem.refused.is_empty();
        if is_done && self.is_in_config_only() {
            let why = Interruption::OutOfStep("the lines do not return to the prompt of commands");
            problem.interrupted = Some(Box::new(self.interrupted("the configuration", why, "")));
        } else if is_done {
            return Ok(());
        }
        self.state = CliState::Broken;
        Err(Error::Configuration(Box::new(problem)))
    }
}
