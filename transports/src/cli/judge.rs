//! What the last line of an answer is: the prompt, proven or to be asked for, or output.

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::manner::{Blanks, Manner};
use super::prompt::{LONGEST_PROMPT, Prompt};
use super::proof::Proof;
use super::read::Expect;
use super::state::Cli;
use super::verdict::Verdict;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// What is made of the last line: `None` if it looks like no prompt.
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
            // Enter is all that it can be asked with: what was only a line must have time to go on.
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

    /// The same where a line editor reads. What it reads behind may be another prompt than the known one, or none
    /// at all behind a message: Enter, which is safe there, brings the prompt as it is now.
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

    /// How much of the line at an offset is output that was not ended before the prompt, which is the last line.
    pub(super) fn unended(&self, at: usize) -> usize {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let tail = self.screen.last_line();
        let known = self.prompt.as_ref().filter(|_| !self.is_answered());
        if known.is_none_or(|prompt| prompt.is(line) || !prompt.resembles(tail)) {
            return 0;
        }
        Prompt::standing(tail, known).behind(line).unwrap_or(0)
    }

    /// What stood before the prompt, without a line end, and is gone since the line was drawn anew when the prompt was
    /// asked for.
    pub(super) fn wiped(&self, at: usize) -> String {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let known = self.prompt.as_ref().filter(|prompt| prompt.is(line));
        let stood = known.zip(self.screen.before_anew(at));
        let wiped = stood.and_then(|(prompt, stood)| Some(&stood[..prompt.behind(stood)?]));
        wiped.unwrap_or_default().to_owned()
    }

    /// Whether a line looks like a prompt where commands are run.
    pub(super) fn is_prompt_like(&self, line: &str) -> bool {
        let prompts = &self.settings.dialect.prompt;
        line.len() <= LONGEST_PROMPT
            && (prompts.exec.is(line)
                || prompts
                    .privileged
                    .as_ref()
                    .is_some_and(|pattern| pattern.is(line)))
    }

    /// Whether a line is a prompt of configuration mode.
    pub(super) fn is_config(&self, line: &str) -> bool {
        let config = self.settings.dialect.prompt.config.as_ref();
        line.len() <= LONGEST_PROMPT && config.is_some_and(|pattern| pattern.is(line))
    }

    /// Whether the last line is a prompt of configuration mode, and none where commands are run.
    pub(super) fn is_in_config_only(&self) -> bool {
        let tail = self.screen.last_line();
        self.is_config(tail) && !self.is_prompt_like(tail)
    }

    /// Whether a last line may be the prompt: the known one, that behind an output that was not ended, or what it
    /// has become.
    pub(super) fn may_be_prompt(&self, line: &str, prompt: &Prompt) -> bool {
        !is_question(line)
            && (prompt.is(line)
                || prompt.behind(line).is_some()
                || (self.is_prompt_like(line) && prompt.may_become(line))
                || self.is_in_config_only())
    }

    /// Whether the device shows nothing of what is typed, and answers each question with a text.
    pub(super) fn is_answered(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Answered)
    }

    /// Whether the device shows nothing of what is typed.
    pub(super) fn is_hidden(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Hidden)
    }

    /// Whether the device has a line editor that takes back what it is told to.
    pub(super) fn is_edited(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Edited)
    }
}
