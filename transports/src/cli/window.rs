//! Windows: lines of configuration that travel together, so that a slow line costs one round trip for all of them.
//!
//! Each line is echoed behind a prompt, and that proves the end of the answer before it, as for single lines. Only a line
//! editor echoes what was typed ahead in this way; on other devices, lines are typed one by one.

use std::ops::Range;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::echo;
use super::output::{without_end, without_line_above};
use super::prompt::Prompt;
use super::prompt_behaviour::PromptBehaviour;
use super::read::ExpectedPrompt;
use super::state::{Cli, CliState, EchoState};
use super::wait::AnswerWait;
use crate::error::Interruption;
use crate::{Context, Line};

/// The columns in which every line editor shows a line as it was typed, without scrolling or wrapping it.
const MAX_COLUMNS: usize = 72;

/// The bytes of a window: terminals keep at least these while nothing reads them.
const MAX_BYTES: usize = 1024;

/// The message for lines whose echoes do not tell which answer is whose.
const ECHOES: &str = "it did not echo each line behind its prompt";

/// The answer to a line of a window.
pub(super) struct LineAnswer {
    pub(super) text: String,
    /// Whether a prompt of configuration mode follows it.
    pub(super) is_in_config: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Returns how many of the next lines are sent together: at least one.
    pub(super) fn window_length(&self, lines: &[(&Line, ExpectedPrompt)]) -> usize {
        let dialect = &self.settings.dialect;
        let prompt = self.screen.column();
        let is_short = |line: &Line| prompt + line.text().chars().count() <= MAX_COLUMNS;
        let asks_nothing = |line: &Line| {
            line.answers().is_empty() && dialect.confirmations(line.text()).next().is_none()
        };
        let is_plain = |(line, expect): &(&Line, ExpectedPrompt)| {
            *expect == ExpectedPrompt::Config && is_short(line) && asks_nothing(line)
        };
        if !self.is_edited() || self.echo != EchoState::Yes || !lines.first().is_some_and(is_plain)
        {
            return 1;
        }
        let mut bytes = 0;
        let plain = lines.iter().enumerate().take_while(|(at, line)| {
            bytes += line.0.text().len() + 1;
            *at == 0 || (line.0.is_with_previous() && is_plain(line) && bytes <= MAX_BYTES)
        });
        plain.count()
    }

    /// Types lines without waiting between them, and adds the answer to each. If it fails, the lines without an answer
    /// are in doubt.
    pub(super) async fn type_window(
        &mut self,
        ctx: &Context<'_>,
        lines: &[(&Line, ExpectedPrompt)],
        operation: &str,
        answers: &mut Vec<LineAnswer>,
    ) -> crate::Result<()> {
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let limit = self.settings.command_timeout.saturating_mul(count);
        let mut wait = AnswerWait::new(ctx, operation, self.settings.idle_timeout, limit);
        let result = self.exchange(lines, &mut wait, answers).await;
        let mask = |partial: &str| {
            let lines = lines.iter();
            lines.fold(partial.to_owned(), |text, (line, _)| line.mask(&text))
        };
        self.end(operation, result, mask)
    }

    async fn exchange(
        &mut self,
        lines: &[(&Line, ExpectedPrompt)],
        wait: &mut AnswerWait<'_>,
        answers: &mut Vec<LineAnswer>,
    ) -> Result<(), Interruption> {
        let dialect = Arc::clone(&self.settings.dialect);
        let prompt = Prompt::from_line(self.screen.last_line(), self.prompt.as_ref());
        self.state = CliState::Busy;
        self.typed_at = Some(prompt.clone());
        self.output_start = None;
        self.screen.keep_last_line();
        let newline = dialect.newline.as_str();
        let keys = lines
            .iter()
            .map(|(line, _)| dialect.keys(line.text()) + newline);
        let keys: String = keys.collect();
        self.send(&keys, wait).await?;
        // Where the echo of the next line, or the last prompt, is looked for.
        let mut start = 0;
        let mut echoed = 0;
        loop {
            while let Some((line, _)) = lines.get(echoed)
                && let Some(echo) = self.echo_from(start, &prompt, line)
            {
                let (prompt, end) = (start + echo.start, start + echo.end);
                if echoed > 0 {
                    let is_in_config =
                        self.is_config_before(&self.screen.text()[prompt..end], line);
                    answers.push(self.line_answer(start..prompt, is_in_config));
                }
                start = end;
                echoed += 1;
            }
            let tail = self.screen.last_line();
            let end = self.screen.last_line_start();
            let is_prompt = prompt.is(tail) || self.is_of_any_mode(tail);
            let is_answered = echoed > 0 && is_prompt && end >= start && self.screen.is_settled();
            if echoed == lines.len() && is_answered {
                answers.push(self.line_answer(start..end, self.in_config()));
                let has_echo = |answer: &LineAnswer| self.has_echo(&answer.text, &prompt, lines);
                if answers.iter().any(has_echo) {
                    answers.clear();
                    return Err(Interruption::OutOfStep(ECHOES));
                }
                return Ok(());
            }
            let mut later = lines.iter().skip(echoed + 1);
            let is_skipped = later.any(|(line, _)| self.echo_from(start, &prompt, line).is_some());
            if is_skipped || self.screen.text().len() - start > echo::MAX_SEARCHED {
                return Err(Interruption::OutOfStep(ECHOES));
            }
            let received = self.receive(wait, None).await;
            if received.is_err() && is_answered {
                // A device may drop the lines behind a refused one.
                answers.push(self.line_answer(start..end, self.in_config()));
            }
            received?;
        }
    }

    /// Returns whether an answer has the echo of a line.
    fn has_echo(&self, text: &str, prompt: &Prompt, lines: &[(&Line, ExpectedPrompt)]) -> bool {
        let is_prompt = |before: &str| self.is_of_any_mode(before);
        let mut lines = lines.iter();
        !text.is_empty()
            && lines.any(|(line, _)| {
                echo::behind_prompt(text, prompt, is_prompt, line.text()).is_some()
            })
    }

    /// Finds the echo of a line in the text that begins at `start`.
    fn echo_from(&self, start: usize, prompt: &Prompt, line: &Line) -> Option<Range<usize>> {
        let is_prompt = |before: &str| self.is_of_any_mode(before);
        echo::behind_prompt(&self.screen.text()[start..], prompt, is_prompt, line.text())
    }

    /// Returns whether a line was echoed behind a prompt of configuration mode.
    fn is_config_before(&self, echo: &str, line: &Line) -> bool {
        let before = echo.trim_end().strip_suffix(line.text().trim());
        before.is_some_and(|prompt| self.is_config(prompt))
    }

    /// Returns an answer without the text that precedes each prompt.
    fn line_answer(&self, answer: Range<usize>, is_in_config: bool) -> LineAnswer {
        let mut text = self.screen.text()[answer].to_owned();
        without_line_above(&mut text, self.settings.dialect.prompt.above.as_ref());
        let behaviour = self.prompt_behaviour.as_ref();
        let gap = behaviour.map_or("", PromptBehaviour::text_above_prompt);
        without_end(&mut text, gap);
        LineAnswer { text, is_in_config }
    }
}
