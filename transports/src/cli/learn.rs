//! Learning from answers: whether the device echoes, its round-trip time, its prompt.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::echo;
use super::prompt::Prompt;
use super::prompt_behaviour::PromptBehaviour;
use super::proof::PromptProof;
use super::read::ExpectedPrompt;
use super::state::{Cli, EchoState};
use crate::Line;
use crate::error::Interruption;

/// The maximum for a learnt round trip. A longer time means that output continued.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(5);

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Returns the start of the output if no echo is expected.
    pub(super) fn known_start(&self, command: Option<&Line>) -> Option<usize> {
        (command.is_none() || self.echo == EchoState::No).then_some(0)
    }

    /// Learns from a complete answer that the device does not echo commands. Returns the start of the output.
    pub(super) fn learn_echo(&mut self, command: Option<&Line>) -> Option<usize> {
        let (Some(_), Some(prompt), EchoState::Unknown, None) =
            (command, &self.typed_at, self.echo, self.output_start)
        else {
            return None;
        };
        let text = self.screen.text();
        self.echo = EchoState::No;
        let first = text.lines().next().unwrap_or_default();
        let typed = prompt.strip(first);
        Some(typed.map_or(0, |typed| first.len() - typed.trim_start().len()))
    }

    pub(super) fn echo_end(
        &mut self,
        command: Option<&Line>,
        expect: ExpectedPrompt,
    ) -> Result<Option<usize>, Interruption> {
        let (Some(command), Some(prompt)) = (command, &self.typed_at) else {
            return Ok(Some(0));
        };
        let unsolicited = &self.settings.dialect.unsolicited;
        let end = match expect {
            ExpectedPrompt::Text => echo::end_of_text(self.screen.text(), command.text()),
            _ => echo::end(self.screen.text(), prompt, command.text(), unsolicited),
        };
        if end.is_none() && self.screen.text().len() > echo::MAX_SEARCHED {
            return Err(Interruption::OutOfStep(
                "the device did not echo the command",
            ));
        }
        let end = match end {
            Some(end) if self.is_padded => padded_end(self.screen.text(), end),
            end => end,
        };
        // A device without echo ends the typed line, and its output may begin with the command itself.
        let is_output = |end: &usize| {
            let shown = self.screen.text()[..*end].trim_end_matches('\n');
            let typed_at = shown
                .split_once('\n')
                .filter(|(_, line)| line.trim() == command.text().trim());
            typed_at.is_some_and(|(line, _)| prompt.is(line))
        };
        if self.echo == EchoState::Unknown && end.as_ref().is_some_and(is_output) {
            return Ok(None);
        }
        if end.is_some() {
            self.echo = EchoState::Yes;
        }
        Ok(end)
    }

    /// Learns the round-trip time.
    pub(super) fn learn_round_trip(&mut self, proof: &PromptProof, end: usize) {
        let Some((first, last)) = proof.round_trip(end) else {
            return;
        };
        let took = match (proof.probe_count(), self.round_trip) {
            (1, _) | (_, Duration::ZERO) => first,
            // It is unknown which probe was answered.
            (_, known) => last.max(known),
        };
        self.round_trip = took.min(MAX_ROUND_TRIP);
    }

    /// Learns the prompt, and learns it again when it has changed.
    pub(super) fn learn(&mut self, end: usize, prompt_behaviour: PromptBehaviour) {
        self.prompt_behaviour = Some(prompt_behaviour);
        let tail = self.screen.last_line();
        let Some(known) = self.prompt.as_ref() else {
            if self.is_answered() {
                self.echo = EchoState::No;
                self.prompt = Some(Prompt::from_line(tail, None));
                return;
            }
            let first = self.screen.text()[end..].lines().next();
            self.prompt = Prompt::learn(first.unwrap_or_default(), tail);
            return;
        };
        if known.is(tail) {
            return;
        }
        let first = self.screen.text()[end..].lines().next().unwrap_or_default();
        let learnt = if known.resembles(tail) {
            Some(known.with_digits_of(tail))
        } else if self.is_edited() {
            Some(Prompt::from_line(tail, Some(known)))
        } else {
            Prompt::learn(first, tail)
        };
        self.prompt = learnt.or_else(|| self.prompt.take());
    }
}

/// Returns the end of the echo of a command that was typed with a trailing blank, if its line ends at an offset. The
/// blank may be in a row of its own. Returns `None` as long as that is undecided.
fn padded_end(text: &str, end: usize) -> Option<usize> {
    let (shown, rest) = text.split_at(end);
    match rest {
        _ if shown.ends_with(" \n") => Some(end),
        "" | " " => None,
        rest if rest.starts_with(" \n") => Some(end + " \n".len()),
        _ => Some(end),
    }
}
