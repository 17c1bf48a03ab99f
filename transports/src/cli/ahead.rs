//! Typing ahead: the next of several commands travels with the probe that proves the end of the one before it.
//!
//! The proof stays what it is: at the prompt, the editor shows the blanks of the probe and erases them, and only then
//! echoes the next command. What arrives behind the proof is held back until the next command is read. If the probed line
//! was output, the command may be shown amid this output, so the session is broken. Commands that only read can be run
//! again.

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::proof::PromptProof;
use super::state::{Cli, EchoState};
use crate::error::Interruption;
use crate::terminal::may_be_edge;
use crate::{Context, Error, Line, Result};

/// The message for a command that was typed behind a line of output.
pub(crate) const AMID_OUTPUT: &str = "its prompt was not where the next command was typed";

/// The command behind the current one, and what arrives of its answer too early.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    /// The next command, until it is typed.
    next: Option<Line>,
    typed: Typed,
    /// The bytes behind the proof of the end of the current answer.
    held_back: Vec<u8>,
}

/// Whether the next command was typed.
#[derive(Debug, Default, PartialEq, Eq)]
enum Typed {
    #[default]
    No,
    /// Behind a probe of this many blanks, which is not answered yet.
    Behind(usize),
    /// Behind a probe that is answered.
    Proven,
}

impl Ahead {
    /// Returns whether the next command was typed.
    pub(super) fn is_typed(&self) -> bool {
        self.typed != Typed::No
    }

    /// Makes the next command the current one, and returns whether it was typed.
    pub(super) fn advance(&mut self) -> bool {
        std::mem::take(&mut self.typed) != Typed::No
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Runs commands that only read and ask nothing, and returns the answer to each. It ends with the first that is not
    /// answered; then the session is broken.
    pub(crate) async fn run_all(
        &mut self,
        ctx: &Context<'_>,
        commands: &[Line],
    ) -> Vec<Result<String>> {
        let mut answers = Vec::with_capacity(commands.len());
        for (at, command) in commands.iter().enumerate() {
            self.ahead.next = commands.get(at + 1).cloned();
            let answer = self.run(ctx, command).await;
            self.ahead.next = None;
            let is_answered = matches!(answer, Ok(_) | Err(Error::CommandFailed { .. }));
            answers.push(answer);
            if !is_answered {
                if let Some(next) = commands.get(at + 1).filter(|_| self.ahead.is_typed()) {
                    ctx.warning(format!(
                        "`{}` was typed before `{}` was answered: if the device asked something, it may have taken it \
                         for the answer",
                        next.shown(),
                        command.shown()
                    ));
                }
                break;
            }
        }
        answers
    }

    /// Returns what to type behind the first probe at the prompt, which has this many blanks: the next command, if it may
    /// be typed there.
    pub(super) fn type_ahead(&mut self, blanks: usize) -> String {
        let dialect = &self.settings.dialect;
        let prompt = self.screen.column();
        let may_be_typed = |line: &Line| {
            let end = prompt + line.text().chars().count();
            line.check().is_ok()
                && !may_be_edge(end)
                && dialect.confirmations(line.text()).next().is_none()
        };
        let is_edited = self.is_edited() && self.echo == EchoState::Yes && !self.has_paged;
        match self
            .ahead
            .next
            .take_if(|line| is_edited && may_be_typed(line))
        {
            None => String::new(),
            Some(line) => {
                let dialect = &self.settings.dialect;
                let keys = dialect.keys(line.text()) + dialect.newline.as_str();
                self.ahead.typed = Typed::Behind(blanks);
                keys
            }
        }
    }

    /// Returns why the session is in doubt after a command was typed behind a line of output. If the device has asked
    /// something since, it may have taken the command for the answer.
    pub(super) fn typed_amid_output(&self, proof: &PromptProof) -> Interruption {
        let since = proof
            .probed_before(self.screen.text().len())
            .unwrap_or_default();
        let mut lines = self.screen.text()[since..].lines();
        match lines.find(|line| is_question(line) || line.contains('?')) {
            Some(question) => Interruption::PerhapsAnswered(question.trim().to_owned()),
            None => Interruption::OutOfStep(AMID_OUTPUT),
        }
    }

    /// Shows received bytes, up to the answer to the probe behind which a command was typed.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        match self.ahead.typed {
            Typed::No => self.screen.push(bytes),
            Typed::Proven => self.ahead.held_back.extend_from_slice(bytes),
            Typed::Behind(blanks) => {
                for (at, byte) in bytes.iter().enumerate() {
                    self.screen.push(&[*byte]);
                    if self.screen.is_settled() && self.screen.erased_columns() == blanks {
                        self.ahead.typed = Typed::Proven;
                        return self.show(&bytes[at + 1..]);
                    }
                }
            }
        }
    }

    /// Shows what was held back of the current command. Returns whether anything was.
    pub(super) fn show_held_back(&mut self) -> bool {
        let bytes = std::mem::take(&mut self.ahead.held_back);
        let has_any = !bytes.is_empty() && !self.ahead.is_typed();
        match has_any {
            true => self.show(&bytes),
            false => self.ahead.held_back = bytes,
        }
        has_any
    }
}
