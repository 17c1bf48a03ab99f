//! Asking for the prompt: when, and how the device can be asked.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::gap::is_silence;
use super::manner::Blanks;
use super::proof::Proof;
use super::question::Question;
use super::read::Expect;
use super::state::Cli;
use super::touch;
use super::wait::Wait;
use crate::error::Interruption;

/// How long nothing must come before a line that is not quite the prompt is asked about; longer where answers
/// take longer.
const QUIET: Duration = Duration::from_millis(300);

/// How long nothing must come before a prompt is asked about whose command was not echoed.
const NO_ECHO: Duration = Duration::from_secs(1);

/// How long a device may be silent after the login before an empty line is sent to wake it.
const NO_PROMPT: Duration = Duration::from_secs(2);

/// How many blanks are typed at least to ask for a prompt: more than stand behind lines by chance.
const FEWEST_BLANKS: usize = 4;

/// How many different numbers of blanks there are, for each question within an answer.
const VARIATIONS: usize = 5;

/// How many lines a message may have that was written behind the prompt.
const MOST_BELOW: usize = 50;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// How long nothing must come before the state of things is looked at again. No end of a session hangs on
    /// it: where answers take long, it is longer.
    pub(super) fn retry_budget(&self, expect: Expect, proof: &Proof) -> Duration {
        let quiet = match (self.output_start, expect) {
            (None, _) => NO_ECHO,
            (Some(_), Expect::AnyPrompt) if !self.is_prompt_like(self.screen.last_line()) => {
                NO_PROMPT
            }
            // Enter has still to follow.
            _ if self.manner.is_none() && proof.is_first() => QUIET,
            // A device that has lost a question is asked again, ever less often.
            _ => QUIET * 4_u32.pow(u32::try_from(proof.asked()).unwrap_or(0)),
        };
        quiet.max(self.round_trip * 2)
    }

    /// Whether a question for the prompt may bring clarity now that nothing comes.
    pub(super) fn is_worth_asking(
        &self,
        expect: Expect,
        proof: &Proof,
        questions: &[Question<'_>],
    ) -> bool {
        let (tail, text) = (
            proof.touches.stripped(self.screen.last_line()),
            self.screen.text(),
        );
        if is_question(tail) {
            return false;
        }
        let Some(prompt) = self.prompt.as_ref().filter(|_| expect != Expect::AnyPrompt) else {
            // Some devices show their first prompt only after an empty line, or again behind a message that
            // has come amid the first question. One that may still ask for a name would take it for one.
            let has_entered = proof.has_asked() && !proof.is_first();
            let may_wake = !has_entered && !questions.iter().any(Question::is_awaited);
            return self.is_prompt_like(tail) || (may_wake && tail.trim().is_empty());
        };
        let Some(start) = self.output_start else {
            let is_prompt = prompt.is(tail) || prompt.behind(tail).is_some();
            return is_prompt && text.contains('\n');
        };
        if self.may_be_prompt(tail, prompt) {
            return true;
        }
        if !tail.trim().is_empty() {
            return false;
        }
        // A message may have been written behind the prompt. Where Enter is not needed to ask, it may be any.
        let above = || text[start..].lines().rev().take(MOST_BELOW);
        let below = above().position(|line| prompt.is(line) || prompt.behind(line).is_some());
        below.is_some_and(|below| {
            let unsolicited = &self.settings.dialect.unsolicited;
            let is_message = |line: &str| is_silence(line, unsolicited);
            let mut below = above().take(below).filter(|line| !line.trim().is_empty());
            self.is_edited() || (below.next().is_some_and(is_message) && below.all(is_message))
        })
    }

    /// How many blanks are typed where so many questions have been asked: more than for each of them, and
    /// hard to guess.
    pub(super) fn blanks(&self, asked: usize) -> usize {
        FEWEST_BLANKS + VARIATIONS * asked + self.probes % VARIATIONS
    }

    /// Asks for a prompt, as the device can be asked.
    pub(super) async fn ask_for_prompt(
        &mut self,
        proof: &mut Proof,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        proof.stamp();
        self.screen.mark();
        self.probes = self.probes.wrapping_add(1);
        let blanks = self.blanks(proof.asked());
        let newline = self.settings.dialect.newline.as_str();
        let manner = self.manner.as_ref();
        let prompt = self.prompt.as_ref();
        let known =
            manner.filter(|_| prompt.is_some_and(|known| known.is(self.screen.last_line())));
        let lead = manner.map_or("", |manner| if manner.lead { touch::LEAD } else { "" });
        let typed = match (manner.map(|manner| manner.blanks), known) {
            (Some(Blanks::Edited), _) => proof.touches.ask(&self.screen, blanks),
            // What is shown is looked at before Enter, but for the second time.
            (Some(Blanks::Shown), Some(_)) if !proof.has_entered() => {
                proof.ask(&self.screen, blanks, false);
                [lead, &" ".repeat(blanks)].concat()
            }
            // It may be a line of the greeting: Enter follows when the blanks are seen, or when nothing comes.
            (None, _) if !proof.has_typed() && self.is_prompt_like(self.screen.last_line()) => {
                proof.ask(&self.screen, blanks, false);
                " ".repeat(blanks)
            }
            _ => {
                proof.ask(&self.screen, blanks, true);
                [lead, &" ".repeat(blanks), newline].concat()
            }
        };
        self.send(&typed, wait).await
    }
}
