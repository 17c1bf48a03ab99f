//! Running commands.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::Dialect;
use super::proof::PromptProof;
use super::question::Question;
use super::read::ExpectedPrompt;
use super::state::{Cli, CliState};
use super::wait::AnswerWait;
use crate::{Context, Error, Line, Result};

/// The number of lines at each end of an answer that are checked for failure messages. Further inside, an
/// answer only quotes them.
const FAILURE_LINES: usize = 8;

/// The `save` of a device that saves its configuration by itself.
const BY_ITSELF: &str = "none";

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Runs a command and returns its output without echo and prompt.
    ///
    /// # Errors
    /// Fails with [`Error::CommandFailed`] when the device reports an error. Any other error says why the end was
    /// not reached; then the session is broken.
    pub(crate) async fn run(&mut self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        let output = self.ask(ctx, command, Vec::new()).await?;
        self.check_output(command, output)
    }

    /// Saves the running configuration, unless commits have done so.
    ///
    /// # Errors
    /// Fails as [`run`](Self::run) does, and with [`Error::Unsupported`] when the dialect has no `save` command.
    pub(crate) async fn save(&mut self, ctx: &Context<'_>) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        let Some(save) = &dialect.save else {
            if dialect.commit.as_ref().is_some_and(|commit| commit.saves) {
                return Ok(());
            }
            return Err(Error::Unsupported(
                "the dialect has no `save` command: expected one, or `save: none` if the device saves by itself"
                    .to_owned(),
            ));
        };
        if save.command() == BY_ITSELF {
            return Ok(());
        }
        let questions = save.confirm().iter().map(Question::typed).collect();
        let command = Line::new(save.command());
        let output = self.ask(ctx, &command, questions).await?;
        self.check_output(&command, output).map(drop)
    }

    /// Checks that an empty line brings the prompt again.
    ///
    /// # Errors
    /// Fails when it does not; then the session is broken.
    pub(crate) async fn verify(&mut self, ctx: &Context<'_>) -> Result<()> {
        let operation = "the test of the session";
        self.begin(operation)?;
        let mut wait =
            AnswerWait::new(ctx, operation, self.settings.timeout, self.settings.timeout);
        self.screen.keep_last_line();
        // The state of the last command does not apply here.
        (self.typed_at, self.output_start) = (None, None);
        let mut proof = PromptProof::default();
        let result = match self.probe_for_prompt(&mut proof, &mut wait).await {
            Ok(()) => {
                self.read_answer(&mut wait, ExpectedPrompt::Prompt, None, &mut [], proof)
                    .await
            }
            Err(why) => Err(why),
        };
        self.end(operation, result.map(drop), str::to_owned)
    }

    /// Sends the dialect's `leave` command, if it has one. Errors are ignored.
    pub(crate) async fn leave(&mut self, ctx: &Context<'_>) {
        let dialect = Arc::clone(&self.settings.dialect);
        if let (CliState::AtPrompt, Some(leave)) = (self.state, &dialect.leave) {
            let mut wait = AnswerWait::for_command(ctx, "the end of the session", &self.settings);
            let _ = self
                .send(&format!("{leave}{}", dialect.newline.as_str()), &mut wait)
                .await;
        }
        self.state = CliState::Broken;
    }

    async fn ask(
        &mut self,
        ctx: &Context<'_>,
        command: &Line,
        questions: Vec<Question<'_>>,
    ) -> Result<String> {
        command.check()?;
        let operation = format!("`{}`", command.shown());
        self.begin(&operation)?;
        let mut wait = AnswerWait::for_command(ctx, &operation, &self.settings);
        let result = self
            .type_line(command, &mut wait, ExpectedPrompt::Prompt, questions)
            .await;
        self.end(&operation, result, |partial| command.mask(partial))
    }

    pub(super) fn check_output(&self, command: &Line, output: String) -> Result<String> {
        match failure(&self.settings.dialect, &output) {
            None => Ok(output),
            Some(message) => Err(Error::CommandFailed {
                peer: self.settings.peer.clone(),
                command: command.shown(),
                message: command.mask(&message),
                hint: self.privilege_hint(),
            }),
        }
    }
}

/// Returns the device's failure message, if the output contains one.
pub(super) fn failure(dialect: &Dialect, output: &str) -> Option<String> {
    if dialect.failure.is_empty() {
        return None;
    }
    let lines = || output.lines().filter(|line| !line.trim().is_empty());
    let fails = |line: &&str| {
        dialect
            .failure
            .iter()
            .any(|pattern| pattern.is_found_in(line))
    };
    let mut rest = lines();
    let first = rest.by_ref().take(FAILURE_LINES).find(fails);
    let failed = first.or_else(|| rest.rev().take(FAILURE_LINES).find(fails));
    failed.map(|line| {
        // A short answer is entirely about the failure. In a long one, only the line is.
        if lines().nth(FAILURE_LINES).is_none() {
            output.trim().to_owned()
        } else {
            line.to_owned()
        }
    })
}
