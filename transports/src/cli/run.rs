//! Running commands.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::Dialect;
use super::proof::Proof;
use super::question::Question;
use super::read::Expect;
use super::state::{Cli, State};
use super::wait::Wait;
use crate::{Context, Error, Line, Result};

/// How many lines at the beginning and at the end of an answer are held against the failure texts:
/// further inside, an answer only quotes them.
const FAILURE_LINES: usize = 8;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Runs a command and gives its output, without echo and prompt.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] when the device says so; otherwise why the end was not reached, and
    /// then the session is broken.
    pub(crate) async fn run(&mut self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        let output = self.ask(ctx, command, Vec::new()).await?;
        self.check_output(command, output)
    }

    /// Saves the running configuration.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::Unsupported`] when the dialect does not say how.
    pub(crate) async fn save(&mut self, ctx: &Context<'_>) -> Result<()> {
        let dialect = Arc::clone(&self.settings.dialect);
        let Some(save) = &dialect.save else {
            return Err(Error::Unsupported(
                "the dialect has no `save` command".to_owned(),
            ));
        };
        let questions = save.confirm().iter().map(Question::typed).collect();
        let command = Line::new(save.command());
        let output = self.ask(ctx, &command, questions).await?;
        self.check_output(&command, output).map(drop)
    }

    /// Tests that an empty line brings the prompt again.
    ///
    /// # Errors
    /// Why it did not; the session is broken then.
    pub(crate) async fn verify(&mut self, ctx: &Context<'_>) -> Result<()> {
        let doing = "the test of the session";
        self.begin(doing)?;
        let mut wait = Wait::new(ctx, doing, self.settings.timeout, self.settings.timeout);
        self.screen.keep_last_line();
        // What was noted of the last command's output says nothing of this.
        (self.typed_at, self.output_start) = (None, None);
        let mut proof = Proof::default();
        let result = match self.ask_for_prompt(&mut proof, &mut wait).await {
            Ok(()) => {
                self.read_answer(&mut wait, Expect::Prompt, None, &mut [], proof)
                    .await
            }
            Err(why) => Err(why),
        };
        self.end(doing, result.map(drop), str::to_owned)
    }

    /// Says goodbye where the device wants to hear it. Whether it arrives does not matter.
    pub(crate) async fn leave(&mut self, ctx: &Context<'_>) {
        let dialect = Arc::clone(&self.settings.dialect);
        if let (State::AtPrompt, Some(leave)) = (self.state, &dialect.leave) {
            let mut wait = Wait::for_command(ctx, "the end of the session", &self.settings);
            let _ = self
                .send(&format!("{leave}{}", dialect.newline.as_str()), &mut wait)
                .await;
        }
        self.state = State::Broken;
    }

    async fn ask(
        &mut self,
        ctx: &Context<'_>,
        command: &Line,
        questions: Vec<Question<'_>>,
    ) -> Result<String> {
        command.check()?;
        let doing = format!("`{}`", command.shown());
        self.begin(&doing)?;
        let mut wait = Wait::for_command(ctx, &doing, &self.settings);
        let result = self
            .type_line(command, &mut wait, Expect::Prompt, questions)
            .await;
        self.end(&doing, result, |partial| command.mask(partial))
    }

    pub(super) fn check_output(&self, command: &Line, output: String) -> Result<String> {
        match failure(&self.settings.dialect, &output) {
            None => Ok(output),
            Some(said) => Err(Error::CommandFailed {
                peer: self.settings.peer.clone(),
                command: command.shown(),
                said: command.mask(&said),
            }),
        }
    }
}

/// What the device says of a failure, if this output does.
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
    let failed = lines().take(FAILURE_LINES).find(fails).or_else(|| {
        let last = output.lines().rev().filter(|line| !line.trim().is_empty());
        last.take(FAILURE_LINES).find(fails)
    });
    failed.map(|line| {
        // A short answer is all about the failure; of a long one only the line is.
        if lines().nth(FAILURE_LINES).is_none() {
            output.trim().to_owned()
        } else {
            line.to_owned()
        }
    })
}
