//! What an answer teaches of a device: whether it echoes, how long it takes, its prompt.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::echo;
use super::manner::Manner;
use super::prompt::Prompt;
use super::proof::Proof;
use super::read::Expect;
use super::state::{Cli, Echo};
use crate::Line;
use crate::error::Interruption;

/// How long an answer is taken to be on its way at most: what takes longer was output that went on.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(5);

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Where the output begins if no echo is to be waited for.
    pub(super) fn known_start(&self, command: Option<&Line>) -> Option<usize> {
        (command.is_none() || self.echo == Echo::No).then_some(0)
    }

    /// Learns from a whole answer that the device does not repeat commands, and gives where the output begins.
    pub(super) fn learn_echo(&mut self, command: Option<&Line>) -> Option<usize> {
        let (Some(_), Some(prompt), Echo::Unknown, None) =
            (command, &self.typed_at, self.echo, self.output_start)
        else {
            return None;
        };
        let text = self.screen.text();
        self.echo = Echo::No;
        let first = text.lines().next().unwrap_or_default();
        let typed = prompt.strip(first);
        Some(typed.map_or(0, |typed| first.len() - typed.trim_start().len()))
    }

    pub(super) fn echo_end(
        &mut self,
        command: Option<&Line>,
        expect: Expect,
    ) -> Result<Option<usize>, Interruption> {
        let (Some(command), Some(prompt)) = (command, &self.typed_at) else {
            return Ok(Some(0));
        };
        let unsolicited = &self.settings.dialect.unsolicited;
        let end = match expect {
            Expect::Text => echo::end_of_text(self.screen.text(), command.text()),
            _ => echo::end(self.screen.text(), prompt, command.text(), unsolicited),
        };
        if end.is_none() && self.screen.text().len() > echo::SEARCHED {
            return Err(Interruption::OutOfStep(
                "the device did not echo the command",
            ));
        }
        let end = match end {
            Some(end) if self.is_padded => padded_end(self.screen.text(), end),
            end => end,
        };
        // A device that does not echo ends the line that was typed, and may begin its output with the command itself.
        let is_output = |end: &usize| {
            let shown = self.screen.text()[..*end].trim_end_matches('\n');
            let typed_at = shown
                .split_once('\n')
                .filter(|(_, line)| line.trim() == command.text().trim());
            typed_at.is_some_and(|(line, _)| prompt.is(line))
        };
        if self.echo == Echo::Unknown && end.as_ref().is_some_and(is_output) {
            return Ok(None);
        }
        if end.is_some() {
            self.echo = Echo::Yes;
        }
        Ok(end)
    }

    /// Learns how long an answer takes.
    pub(super) fn learn_round_trip(&mut self, proof: &Proof, end: usize) {
        let Some((first, last)) = proof.round_trip(end) else {
            return;
        };
        let took = match (proof.asked(), self.round_trip) {
            (1, _) | (_, Duration::ZERO) => first,
            // Which question was answered cannot be told.
            (_, known) => last.max(known),
        };
        self.round_trip = took.min(LONGEST_ROUND_TRIP);
    }

    /// Learns the prompt anew where it has changed.
    pub(super) fn learn(&mut self, end: usize, manner: Manner) {
        self.manner = Some(manner);
        let tail = self.screen.last_line();
        let Some(known) = self.prompt.as_ref() else {
            if self.is_answered() {
                self.echo = Echo::No;
                self.prompt = Some(Prompt::standing(tail, None));
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
            Some(Prompt::standing(tail, Some(known)))
        } else {
            Prompt::learn(first, tail)
        };
        self.prompt = learnt.or_else(|| self.prompt.take());
    }
}

/// Where an echo ends behind whose command a blank was typed, if its line ends at an offset: the blank may stand in a row
/// of its own. Nothing, where that is still to be seen.
fn padded_end(text: &str, end: usize) -> Option<usize> {
    let (shown, rest) = text.split_at(end);
    match rest {
        _ if shown.ends_with(" \n") => Some(end),
        "" | " " => None,
        rest if rest.starts_with(" \n") => Some(end + " \n".len()),
        _ => Some(end),
    }
}
