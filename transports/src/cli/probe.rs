//! Probing for the prompt: when, and how.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::editor_probe;
use super::gap::is_only_messages;
use super::prompt_behaviour::BlankDisplay;
use super::proof::PromptProof;
use super::question::Question;
use super::read::ExpectedPrompt;
use super::state::Cli;
use super::wait::AnswerWait;
use crate::error::Interruption;

/// The silence after which a line that is not quite the prompt is probed. It is longer if the device answers
/// slowly.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// The silence after which a prompt is probed if the command was not echoed.
const NO_ECHO: Duration = Duration::from_secs(1);

/// The silence after the login before an empty line is sent to wake the device.
const NO_PROMPT: Duration = Duration::from_secs(2);

/// The minimum number of blanks in a probe: more than lines end with by chance.
const FEWEST_BLANKS: usize = 4;

/// The number of different blank counts for each probe within an answer.
const VARIATIONS: usize = 5;

/// The maximum number of lines in a message that was written behind the prompt.
const MAX_LINES_BELOW: usize = 50;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Returns the silence after which the state is examined again. It never decides that a session has ended, and it
    /// is longer if the device answers slowly.
    pub(super) fn silence_limit(&self, expect: ExpectedPrompt, proof: &PromptProof) -> Duration {
        let quiet = match (self.output_start, expect) {
            (None, _) => NO_ECHO,
            (Some(_), ExpectedPrompt::AnyPrompt)
                if !self.is_prompt_like(self.screen.last_line()) =>
            {
                NO_PROMPT
            }
            // Enter must still follow.
            _ if self.prompt_behaviour.is_none() && proof.is_first() => QUIET_TIME,
            // A device that has lost a probe is probed again, less and less often.
            _ => QUIET_TIME * 4_u32.pow(u32::try_from(proof.probe_count()).unwrap_or(0)),
        };
        quiet.max(self.round_trip * 2)
    }

    /// Returns whether probing for the prompt may help now that nothing arrives.
    pub(super) fn is_worth_probing(
        &self,
        expect: ExpectedPrompt,
        proof: &PromptProof,
        questions: &[Question<'_>],
    ) -> bool {
        let (tail, text) = (
            proof.editor_probes.without_echo(self.screen.last_line()),
            self.screen.text(),
        );
        if is_question(tail) {
            return false;
        }
        let Some(prompt) = self
            .prompt
            .as_ref()
            .filter(|_| expect != ExpectedPrompt::AnyPrompt)
        else {
            // Some devices show their first prompt only after an empty line, or again after a message interrupted
            // the first probe. A device that may still ask for a user name would take the probe for one.
            let has_entered = proof.has_probed() && !proof.is_first();
            let may_wake = !has_entered && !questions.iter().any(Question::is_expected);
            return self.is_prompt_like(tail) || (may_wake && tail.trim().is_empty());
        };
        let Some(start) = self.output_start else {
            let is_prompt = prompt.is(tail)
                || prompt.position_in(tail).is_some()
                || (expect == ExpectedPrompt::AnyMode && self.is_config(tail));
            return is_prompt && text.contains('\n');
        };
        if self.may_be_prompt(tail, prompt) {
            return true;
        }
        if !tail.trim().is_empty() {
            return false;
        }
        // A message may have been written behind the prompt. If probing needs no Enter, any line counts as a message.
        let above = || text[start..].lines().rev().take(MAX_LINES_BELOW);
        let below = above().position(|line| prompt.is(line) || prompt.position_in(line).is_some());
        below.is_some_and(|below| {
            let unsolicited = &self.settings.dialect.unsolicited;
            let is_message = |line: &str| is_only_messages(line, unsolicited);
            let mut below = above().take(below).filter(|line| !line.trim().is_empty());
            self.is_edited() || (below.next().is_some_and(is_message) && below.all(is_message))
        })
    }

    /// Returns the number of blanks for the next probe. It exceeds that of each earlier probe and is hard to
    /// guess.
    pub(super) fn blanks(&self, asked: usize) -> usize {
        FEWEST_BLANKS + VARIATIONS * asked + self.probes % VARIATIONS
    }

    /// Probes for a prompt, in the way that suits the device.
    pub(super) async fn probe_for_prompt(
        &mut self,
        proof: &mut PromptProof,
        wait: &mut AnswerWait<'_>,
    ) -> Result<(), Interruption> {
        proof.record_time();
        self.screen.mark();
        self.probes = self.probes.wrapping_add(1);
        let blanks = self.blanks(proof.probe_count());
        let newline = self.settings.dialect.newline.as_str();
        let prompt_behaviour = self.prompt_behaviour.as_ref();
        let prompt = self.prompt.as_ref();
        let known = prompt_behaviour
            .filter(|_| prompt.is_some_and(|known| known.is(self.screen.last_line())));
        let lead = prompt_behaviour.map_or("", |prompt_behaviour| {
            if prompt_behaviour.lead {
                editor_probe::LEAD
            } else {
                ""
            }
        });
        let may_type_ahead = known.is_some() && !proof.has_probed();
        let mut typed = match (
            prompt_behaviour.map(|prompt_behaviour| prompt_behaviour.blanks),
            known,
        ) {
            (Some(BlankDisplay::Edited), _) => {
                proof.editor_probes.record_probe(&self.screen, blanks)
            }
            // Await the blanks before Enter, except the second time.
            (Some(BlankDisplay::Shown), Some(_)) if !proof.has_entered() => {
                proof.record_probe(&self.screen, blanks, false);
                [lead, &" ".repeat(blanks)].concat()
            }
            // It may be a line of the greeting: Enter follows when the blanks are shown, or after silence.
            (None, _) if !proof.has_typed() && self.is_prompt_like(self.screen.last_line()) => {
                proof.record_probe(&self.screen, blanks, false);
                " ".repeat(blanks)
            }
            _ => {
                proof.record_probe(&self.screen, blanks, true);
                [lead, &" ".repeat(blanks), newline].concat()
            }
        };
        if may_type_ahead {
            typed += &self.type_ahead(blanks);
        }
        self.send(&typed, wait).await
    }
}
