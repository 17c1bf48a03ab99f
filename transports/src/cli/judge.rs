//! Judging the last line of an answer: a proven prompt, a prompt to probe for, or output.

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::manner::{Blanks, Manner};
use super::prompt::{LONGEST_PROMPT, Prompt};
use super::proof::Proof;
use super::read::Expect;
use super::state::Cli;
use super::verdict::Verdict;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Judges the last line. Returns `None` if it does not look like a prompt.
    pub(super) fn judge(&self, proof: &Proof, expect: Expect) -> Option<Verdict> {
        let tail = proof.touches.stripped(self.screen.last_line());
        let unsolicited = &self.settings.dialect.unsolicited;
        let (prompt, manner) = match (&self.prompt, &self.manner) {
            (_, _) if self.is_config(tail) && expect.is_config() => return Some(Verdict::Ends),
            (Some(prompt), _) if expect == Expect::Config && prompt.is(tail) => {
                return Some(Verdict::Ends);
            }
            (Some(prompt), Some(manner)) => (prompt, manner),
            _ if expect == Expect::AnyPrompt && self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                let first = proof.judge_first(&self.screen);
                return first.or_else(|| Some(proof.judge(&self.screen, same, None, unsolicited)));
            }
            _ => return None,
        };
        match (manner.blanks, expect) {
            (_, Expect::Text | Expect::TextOpened) => None,
            (Blanks::Edited, _) => self.judge_edited(proof, expect, prompt, manner),
            // This device can only be probed with Enter, so a mere line of output must get time to continue.
            (Blanks::Late | Blanks::Hidden | Blanks::Answered, Expect::Prompt)
                if prompt.is(tail) && !proof.has_asked() =>
            {
                Some(Verdict::Wait)
            }
            (Blanks::Late, Expect::Prompt)
            | (Blanks::Shown, Expect::Prompt | Expect::AnyPrompt)
                if prompt.is(tail) =>
            {
                Some(proof.judge_shown(&self.screen, prompt, manner, unsolicited))
            }
            (Blanks::Answered, Expect::Prompt) if prompt.is(tail) => {
                Some(proof.judge_answered(&self.screen, manner))
            }
            (Blanks::Hidden, Expect::Prompt) if prompt.is(tail) => {
                let same = |line: &str| prompt.is(line) || prompt.behind(line).is_some();
                Some(proof.judge(&self.screen, same, Some(manner), unsolicited))
            }
            (_, Expect::AnyPrompt) if self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, None, unsolicited))
            }
            (_, Expect::Prompt | Expect::Config)
                if proof.has_asked()
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
        proof: &Proof,
        expect: Expect,
        prompt: &Prompt,
        manner: &Manner,
    ) -> Option<Verdict> {
        let tail = proof.touches.stripped(self.screen.last_line());
        let is_known = expect == Expect::Prompt && prompt.is(tail);
        if let Some(fresh) = proof.fresh() {
            let asked_about = self.screen.text()[fresh..].lines().next();
            let is_prompt = is_known
                || self.is_prompt_like(tail)
                || self.is_in_config_only()
                || asked_about.is_some_and(|line| Prompt::learn(line, tail).is_some());
            let is_next = self.screen.last_line_start() > fresh && !tail.trim().is_empty();
            return (is_next && is_prompt).then(|| Verdict::Proven(fresh, manner.clone()));
        }
        if is_known || (expect == Expect::AnyPrompt && self.is_prompt_like(tail)) {
            return Some(proof.judge_edited(&self.screen, manner));
        }
        let is_safe = tail.trim().is_empty() || self.may_be_prompt(tail, prompt);
        (is_safe && proof.touches.is_answered(&self.screen)).then_some(Verdict::Enter)
    }

    /// Returns how much of the line at an offset is unterminated output in front of the prompt, which is the last line.
    pub(super) fn unended(&self, at: usize) -> usize {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let tail = self.screen.last_line();
        let known = self.prompt.as_ref().filter(|_| !self.is_answered());
        if known.is_none_or(|prompt| prompt.is(line) || !prompt.resembles(tail)) {
            return 0;
        }
        Prompt::standing(tail, known).behind(line).unwrap_or(0)
    }

    /// Returns the unterminated output in front of the prompt that was erased when the device redrew the line for a
    /// probe.
    pub(super) fn wiped(&self, at: usize) -> String {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let known = self.prompt.as_ref().filter(|prompt| prompt.is(line));
        let stood = known.zip(self.screen.before_anew(at));
        let wiped = stood.and_then(|(prompt, stood)| Some(&stood[..prompt.behind(stood)?]));
        wiped.unwrap_or_default().to_owned()
    }

    /// Returns whether a line looks like a prompt for commands.
    pub(super) fn is_prompt_like(&self, line: &str) -> bool {
        let prompts = &self.settings.dialect.prompt;
        line.len() <= LONGEST_PROMPT
            && (prompts.exec.is(line)
                || prompts
                    .privileged
                    .as_ref()
                    .is_some_and(|pattern| pattern.is(line)))
    }

    /// Returns whether a line is a prompt of configuration mode.
    pub(super) fn is_config(&self, line: &str) -> bool {
        let config = self.settings.dialect.prompt.config.as_ref();
        line.len() <= LONGEST_PROMPT && config.is_some_and(|pattern| pattern.is(line))
    }

    /// Returns whether the last line is a prompt of configuration mode and no prompt for commands.
    pub(super) fn is_in_config_only(&self) -> bool {
        let tail = self.screen.last_line();
        self.is_config(tail) && !self.is_prompt_like(tail)
    }

    /// Returns whether a last line may be the prompt: the known prompt, also behind unterminated output, or a
    /// changed prompt.
    pub(super) fn may_be_prompt(&self, line: &str, prompt: &Prompt) -> bool {
        !is_question(line)
            && (prompt.is(line)
                || prompt.behind(line).is_some()
                || (self.is_prompt_like(line) && prompt.may_become(line))
                || self.is_in_config_only())
    }

    /// Returns whether the device shows nothing of what is typed, and answers each probe with a text.
    pub(super) fn is_answered(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Answered)
    }

    /// Returns whether the device shows nothing of what is typed.
    pub(super) fn is_hidden(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Hidden)
    }

    /// Returns whether the device has a line editor that erases on request.
    pub(super) fn is_edited(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Edited)
    }
}
