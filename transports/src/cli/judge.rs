//! Judging the last line of an answer: a proven prompt, a prompt to probe for, or output.

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::prompt::{MAX_PROMPT_LENGTH, Prompt};
use super::prompt_behaviour::{BlankDisplay, PromptBehaviour};
use super::proof::PromptProof;
use super::read::ExpectedPrompt;
use super::state::Cli;
use super::verdict::PromptVerdict;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Judges the last line. Returns `None` if it does not look like a prompt.
    pub(super) fn judge(
        &self,
        proof: &PromptProof,
        expect: ExpectedPrompt,
    ) -> Option<PromptVerdict> {
        let tail = proof.editor_probes.without_echo(self.screen.last_line());
        let unsolicited = &self.settings.dialect.unsolicited;
        let (prompt, prompt_behaviour) = match (&self.prompt, &self.prompt_behaviour) {
            (_, _) if self.is_config(tail) && expect.is_config() => {
                return Some(PromptVerdict::Ends);
            }
            (Some(prompt), _) if expect == ExpectedPrompt::Config && prompt.is(tail) => {
                return Some(PromptVerdict::Ends);
            }
            (Some(prompt), Some(prompt_behaviour)) => (prompt, prompt_behaviour),
            _ if expect == ExpectedPrompt::AnyPrompt && self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                let first = proof.judge_first(&self.screen);
                return first.or_else(|| Some(proof.judge(&self.screen, same, None, unsolicited)));
            }
            _ => return None,
        };
        match (prompt_behaviour.blanks, expect) {
            (_, ExpectedPrompt::Text | ExpectedPrompt::TextOpened) => None,
            (BlankDisplay::Edited, _) => self.judge_edited(proof, expect, prompt, prompt_behaviour),
            // This device can only be probed with Enter, so a mere line of output must get time to continue.
            (
                BlankDisplay::Late | BlankDisplay::Hidden | BlankDisplay::AnsweredQuestion,
                ExpectedPrompt::Prompt,
            ) if prompt.is(tail) && !proof.has_probed() => Some(PromptVerdict::AnswerWait),
            (BlankDisplay::Late, ExpectedPrompt::Prompt)
            | (BlankDisplay::Shown, ExpectedPrompt::Prompt | ExpectedPrompt::AnyPrompt)
                if prompt.is(tail) =>
            {
                Some(proof.judge_shown(&self.screen, prompt, prompt_behaviour, unsolicited))
            }
            (BlankDisplay::AnsweredQuestion, ExpectedPrompt::Prompt) if prompt.is(tail) => {
                Some(proof.judge_answered(&self.screen, prompt_behaviour))
            }
            (BlankDisplay::Hidden, ExpectedPrompt::Prompt) if prompt.is(tail) => {
                let same = |line: &str| prompt.is(line) || prompt.position_in(line).is_some();
                Some(proof.judge(&self.screen, same, Some(prompt_behaviour), unsolicited))
            }
            (BlankDisplay::Shown, ExpectedPrompt::AnyMode) if self.is_of_any_mode(tail) => {
                let prompt = prompt.of_mode(tail);
                Some(proof.judge_shown(&self.screen, &prompt, prompt_behaviour, unsolicited))
            }
            // As above, at a prompt that is not the learnt one.
            (
                BlankDisplay::Late | BlankDisplay::Hidden | BlankDisplay::AnsweredQuestion,
                ExpectedPrompt::AnyMode,
            ) if !proof.has_probed() && self.is_of_any_mode(tail) => {
                Some(PromptVerdict::AnswerWait)
            }
            (_, ExpectedPrompt::AnyMode) if self.is_of_any_mode(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, None, unsolicited))
            }
            (_, ExpectedPrompt::AnyPrompt) if self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, None, unsolicited))
            }
            (_, ExpectedPrompt::Prompt | ExpectedPrompt::Config)
                if proof.has_probed()
                    && ((self.is_prompt_like(tail) && prompt.may_become(tail))
                        || self.is_in_config_only()) =>
            {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, None, unsolicited))
            }
            _ => None,
        }
    }

    /// Judges the last line of a device with a line editor. The editor may read behind a prompt other than the known,
    /// or behind a message without any prompt. Enter is safe there and brings the current prompt.
    fn judge_edited(
        &self,
        proof: &PromptProof,
        expect: ExpectedPrompt,
        prompt: &Prompt,
        prompt_behaviour: &PromptBehaviour,
    ) -> Option<PromptVerdict> {
        let tail = proof.editor_probes.without_echo(self.screen.last_line());
        let is_known = expect == ExpectedPrompt::Prompt && prompt.is(tail);
        if let Some(fresh) = proof.unknown_prompt_start() {
            let asked_about = self.screen.text()[fresh..].lines().next();
            let is_prompt = is_known
                || self.is_prompt_like(tail)
                || self.is_in_config_only()
                || asked_about.is_some_and(|line| Prompt::learn(line, tail).is_some());
            let is_next = self.screen.last_line_start() > fresh && !tail.trim().is_empty();
            return (is_next && is_prompt)
                .then(|| PromptVerdict::Proven(fresh, prompt_behaviour.clone()));
        }
        let is_any = match expect {
            ExpectedPrompt::AnyPrompt => self.is_prompt_like(tail),
            ExpectedPrompt::AnyMode => self.is_of_any_mode(tail),
            _ => false,
        };
        if is_known || is_any {
            return Some(proof.judge_edited(&self.screen, prompt_behaviour));
        }
        let is_safe = tail.trim().is_empty() || self.may_be_prompt(tail, prompt);
        (is_safe && proof.editor_probes.is_answered(&self.screen)).then_some(PromptVerdict::Enter)
    }

    /// Returns how much of the line at an offset is unterminated output in front of the prompt, which is the last line.
    pub(super) fn unterminated_output(&self, at: usize) -> usize {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let tail = self.screen.last_line();
        let known = self.prompt.as_ref().filter(|_| !self.is_answered());
        if known.is_none_or(|prompt| prompt.is(line) || !prompt.resembles(tail)) {
            return 0;
        }
        Prompt::from_line(tail, known)
            .position_in(line)
            .unwrap_or(0)
    }

    /// Returns the unterminated output in front of the prompt that was erased when the device redrew the line for a
    /// probe.
    pub(super) fn erased_output(&self, at: usize) -> String {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let known = self.prompt.as_ref().filter(|prompt| prompt.is(line));
        let stood = known.zip(self.screen.before_redraw(at));
        let erased_output =
            stood.and_then(|(prompt, stood)| Some(&stood[..prompt.position_in(stood)?]));
        erased_output.unwrap_or_default().to_owned()
    }

    /// Returns whether a line looks like a prompt for commands.
    pub(super) fn is_prompt_like(&self, line: &str) -> bool {
        let prompts = &self.settings.dialect.prompt;
        line.len() <= MAX_PROMPT_LENGTH
            && (prompts.exec.is(line)
                || prompts
                    .privileged
                    .as_ref()
                    .is_some_and(|pattern| pattern.is(line)))
    }

    /// Returns whether a line looks like a prompt of any mode.
    pub(super) fn is_of_any_mode(&self, line: &str) -> bool {
        self.is_prompt_like(line) || self.is_config(line)
    }

    /// Returns whether a line is a prompt of configuration mode.
    pub(super) fn is_config(&self, line: &str) -> bool {
        let config = self.settings.dialect.prompt.config.as_ref();
        line.len() <= MAX_PROMPT_LENGTH && config.is_some_and(|pattern| pattern.is(line))
    }

    /// Returns whether the last line is a prompt of configuration mode and no prompt for commands.
    pub(super) fn is_in_config_only(&self) -> bool {
        let tail = self.screen.last_line();
        self.is_config(tail) && !self.is_prompt_like(tail)
    }

    /// Returns whether a last line may be the prompt: the known prompt, also behind unterminated output, or a
    /// changed prompt.
    pub(super) fn may_be_prompt(&self, line: &str, prompt: &Prompt) -> bool {
        (prompt.is(line)
            || prompt.position_in(line).is_some()
            || (self.is_prompt_like(line) && prompt.may_become(line))
            || self.is_in_config_only())
            && !is_question(line)
    }

    /// Returns whether the device shows nothing of what is typed, and answers each probe with a text.
    pub(super) fn is_answered(&self) -> bool {
        let prompt_behaviour = self.prompt_behaviour.as_ref();
        prompt_behaviour.is_some_and(|prompt_behaviour| {
            prompt_behaviour.blanks == BlankDisplay::AnsweredQuestion
        })
    }

    /// Returns whether the device shows nothing of what is typed.
    pub(super) fn is_hidden(&self) -> bool {
        let prompt_behaviour = self.prompt_behaviour.as_ref();
        prompt_behaviour
            .is_some_and(|prompt_behaviour| prompt_behaviour.blanks == BlankDisplay::Hidden)
    }

    /// Returns whether the device has a line editor that erases on request.
    pub(super) fn is_edited(&self) -> bool {
        let prompt_behaviour = self.prompt_behaviour.as_ref();
        prompt_behaviour
            .is_some_and(|prompt_behaviour| prompt_behaviour.blanks == BlankDisplay::Edited)
    }
}
