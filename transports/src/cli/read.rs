//! Reading up to a prompt: the loop behind every command, with its limits.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::output::{without_late_messages, without_pagers};
use super::prompt::Prompt;
use super::proof::{Blanks, Manner, Proof, Verdict, is_silence};
use super::question::{Answered, Question};
use super::wait::{Got, Wait};
use super::{Cli, Echo, Line, State, echo};
use crate::error::Interruption;

/// How long nothing must come before a line that is not quite the prompt is asked about.
const QUIET: Duration = Duration::from_millis(300);

/// How long nothing must come before a device that has not echoed yet is taken for one that
/// does not echo at all.
const NO_ECHO: Duration = Duration::from_secs(1);

/// How long a device may be silent after the login before an empty line is sent to wake it.
const NO_PROMPT: Duration = Duration::from_secs(2);

/// How many blanks are typed at least to ask for a prompt: more than stand behind lines by chance.
const FEWEST_BLANKS: usize = 4;

/// How many different numbers of blanks there are.
const VARIATIONS: usize = 8;

/// How long a last line may be that is held against patterns.
pub(super) const LONGEST_PROMPT: usize = 512;

/// Which prompt ends an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// The prompt that was learnt, or what it has become.
    Prompt,
    /// Whatever the dialect calls a prompt, which is learnt then.
    AnyPrompt,
    /// A prompt of configuration mode, or the learnt one when a line left that mode.
    Config,
    /// None: a text of several lines was opened, and goes on. A prompt of configuration mode means
    /// that it was not.
    TextOpened,
    /// None: the device takes this line as text, and shows it.
    Text,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Types a line and reads its answer up to a proven prompt; gives the output.
    pub(super) async fn type_line(
        &mut self,
        line: &Line,
        wait: &mut Wait<'_>,
        expect: Expect,
        mut questions: Vec<Question<'_>>,
    ) -> Result<String, Interruption> {
        let dialect = Arc::clone(&self.terms.dialect);
        questions.extend(dialect.confirmations(line.text()).map(Question::confirm));
        self.state = State::Busy;
        self.typed_at = Some(Prompt::standing(
            self.screen.last_line(),
            self.prompt.as_ref(),
        ));
        self.output_start = None;
        match self.echo {
            Echo::No => self.screen.clear(),
            Echo::Yes | Echo::Unknown => self.screen.keep_last_line(),
        }
        let newline = dialect.newline.as_str();
        self.send(&[line.text(), newline].concat(), wait).await?;
        self.read_answer(wait, expect, Some(line), &mut questions, Proof::default())
            .await
    }

    /// Reads the answer to a command (or to nothing) up to a proven prompt; gives the output.
    pub(super) async fn read_answer(
        &mut self,
        wait: &mut Wait<'_>,
        expect: Expect,
        command: Option<&Line>,
        questions: &mut [Question<'_>],
        mut proof: Proof,
    ) -> Result<String, Interruption> {
        self.output_start = self.known_start(command);
        let mut answered = Vec::new();
        let mut answers = command.map_or(&[][..], Line::answers);
        let mut quiet_seen = false;
        loop {
            if self.output_start.is_none() {
                self.output_start = self.echo_end(command, expect)?;
            }
            if expect == Expect::Text && self.output_start.is_some() {
                return Ok(String::new());
            }
            if let Some(start) = self.output_start
                && self.screen.last_line_start() >= start
                && self.screen.is_settled()
            {
                match self.judge(&proof, expect) {
                    Some(Verdict::Proven(..)) if self.is_in_config_only() => {
                        return Err(Interruption::Configuring);
                    }
                    Some(Verdict::Proven(end, manner)) => {
                        let end = end + self.unended(end);
                        self.learn(end, manner);
                        // Where nothing is echoed, the prompts may begin with the one that was typed at.
                        let end = end.max(start);
                        self.check_step(&self.screen.text()[start..end], command)?;
                        self.last_proof = proof.clone();
                        return Ok(self.output(start, end, &answered, &proof));
                    }
                    Some(Verdict::Ends) => {
                        let end = self.screen.last_line_start();
                        return Ok(self.output(start, end, &answered, &proof));
                    }
                    Some(Verdict::Ask) if proof.may_ask() => {
                        self.probe(&mut proof, wait).await?;
                    }
                    Some(_) => {}
                    None => self.reply(questions, &mut answered, wait).await?,
                }
            }
            let quiet = (!quiet_seen).then(|| self.patience(expect, &proof));
            match self.receive(wait, quiet).await? {
                Got::Bytes => quiet_seen = false,
                Got::Quiet => {
                    quiet_seen = true;
                    if self.output_start.is_none() {
                        self.output_start = self.start_without_echo()?;
                    } else if self
                        .reply_unknown(&mut answers, &mut answered, wait)
                        .await?
                    {
                        wait.stir();
                        quiet_seen = false;
                    } else if expect == Expect::TextOpened {
                        return Ok(String::new());
                    } else if proof.may_ask() && self.is_worth_asking(expect, &proof, questions) {
                        self.probe(&mut proof, wait).await?;
                        wait.stir();
                        quiet_seen = false;
                    }
                }
            }
        }
    }

    /// Where the output begins if no echo is to be waited for.
    fn known_start(&self, command: Option<&Line>) -> Option<usize> {
        (command.is_none() || self.echo == Echo::No).then_some(0)
    }

    fn echo_end(
        &mut self,
        command: Option<&Line>,
        expect: Expect,
    ) -> Result<Option<usize>, Interruption> {
        let (Some(command), Some(prompt)) = (command, &self.typed_at) else {
            return Ok(Some(0));
        };
        let end = match expect {
            Expect::Text => echo::end_of_text(self.screen.text(), command.text()),
            _ => echo::end(self.screen.text(), prompt, command.text()),
        };
        if let Some(end) = end {
            self.echo = Echo::Yes;
            return Ok(Some(end));
        }
        if self.screen.text().len() > echo::SEARCHED {
            return self.start_without_echo();
        }
        Ok(None)
    }

    /// Where the output begins on a device that has not echoed the command.
    fn start_without_echo(&mut self) -> Result<Option<usize>, Interruption> {
        let Some(prompt) = &self.typed_at else {
            return Ok(Some(0));
        };
        let text = self.screen.text();
        let first = text.lines().next().unwrap_or_default();
        let after_prompt = prompt
            .strip(first)
            .map_or(0, |rest| first.len() - rest.len());
        let has_answered = text.len() > after_prompt && text[after_prompt..].contains('\n');
        if !has_answered {
            return Ok(None);
        }
        if self.echo == Echo::Yes {
            let unsolicited = &self.terms.dialect.unsolicited;
            if text
                .lines()
                .all(|line| prompt.is(line) || is_silence(line, unsolicited))
            {
                // Late answers to empty lines, on a slow line: the echo is still to come.
                return Ok(None);
            }
            return Err(Interruption::OutOfStep(
                "the device did not echo the command",
            ));
        }
        self.echo = Echo::No;
        Ok(Some(after_prompt))
    }

    /// What is made of the last line: `None` if it looks like no prompt.
    fn judge(&self, proof: &Proof, expect: Expect) -> Option<Verdict> {
        let tail = self.screen.last_line();
        let unsolicited = &self.terms.dialect.unsolicited;
        match (&self.prompt, expect) {
            (_, Expect::Config | Expect::TextOpened) if self.is_config(tail) => Some(Verdict::Ends),
            (Some(prompt), Expect::Config) if prompt.is(tail) => Some(Verdict::Ends),
            (Some(prompt), Expect::Prompt) if prompt.is(tail) => {
                let manner = self.manner.as_ref();
                // Where blanks are shown, the prompt may stand behind a line that was not ended.
                let shown = manner.is_some_and(|manner| manner.blanks == Blanks::Shown);
                let same = |line: &str| prompt.is(line) || (shown && prompt.behind(line).is_some());
                Some(proof.judge(&self.screen, same, manner, unsolicited))
            }
            (_, Expect::AnyPrompt) if self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, None, unsolicited))
            }
            (Some(prompt), Expect::Prompt | Expect::Config)
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

    /// How much of the line at an offset is output that was not ended before the prompt.
    fn unended(&self, at: usize) -> usize {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let prompt = self.prompt.as_ref().filter(|prompt| !prompt.is(line));
        prompt.and_then(|prompt| prompt.behind(line)).unwrap_or(0)
    }

    /// Whether a line looks like a prompt where commands are run.
    pub(super) fn is_prompt_like(&self, line: &str) -> bool {
        let prompts = &self.terms.dialect.prompt;
        line.len() <= LONGEST_PROMPT
            && (prompts.exec.is(line)
                || prompts
                    .privileged
                    .as_ref()
                    .is_some_and(|pattern| pattern.is(line)))
    }

    /// Whether a line is a prompt of configuration mode.
    pub(super) fn is_config(&self, line: &str) -> bool {
        let config = self.terms.dialect.prompt.config.as_ref();
        line.len() <= LONGEST_PROMPT && config.is_some_and(|pattern| pattern.is(line))
    }

    /// Whether the last line is a prompt of configuration mode, and none where commands are run.
    fn is_in_config_only(&self) -> bool {
        let tail = self.screen.last_line();
        self.is_config(tail) && !self.is_prompt_like(tail)
    }

    /// How long nothing must come before the state of things is looked at again.
    fn patience(&self, expect: Expect, proof: &Proof) -> Duration {
        match (self.output_start, expect) {
            (None, _) => NO_ECHO,
            (Some(_), Expect::AnyPrompt) if !self.is_prompt_like(self.screen.last_line()) => {
                NO_PROMPT
            }
            // A device that has lost a question is asked again, ever less often.
            _ => QUIET * 4_u32.pow(u32::try_from(proof.asked()).unwrap_or(0)),
        }
    }

    /// Whether an empty line may bring clarity now that nothing comes.
    fn is_worth_asking(&self, expect: Expect, proof: &Proof, questions: &[Question<'_>]) -> bool {
        let (tail, text) = (self.screen.last_line(), self.screen.text());
        let Some(prompt) = self.prompt.as_ref().filter(|_| expect != Expect::AnyPrompt) else {
            // Some devices show their first prompt only after an empty line. One that may still ask
            // for a name would take it for one.
            let may_wake = !proof.has_asked() && !questions.iter().any(Question::is_awaited);
            return self.is_prompt_like(tail) || (may_wake && tail.trim().is_empty());
        };
        if prompt.is(tail)
            || prompt.behind(tail).is_some()
            || (self.is_prompt_like(tail) && prompt.may_become(tail))
            || self.is_in_config_only()
        {
            return true;
        }
        if proof.has_asked() {
            return false;
        }
        // A message may have been written behind the prompt.
        let start = self.output_start.unwrap_or_default();
        let last_prompt = text[start..]
            .lines()
            .rev()
            .take(50)
            .position(|line| prompt.is(line));
        last_prompt.is_some_and(|below| {
            let lines: Vec<&str> = text[start..].lines().rev().take(below).collect();
            lines
                .iter()
                .all(|line| is_silence(line, &self.terms.dialect.unsolicited))
        })
    }

    /// Asks for a prompt by a line of blanks.
    pub(super) async fn probe(
        &mut self,
        proof: &mut Proof,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        self.probes = self.probes.wrapping_add(1);
        let blanks = FEWEST_BLANKS + self.probes % VARIATIONS;
        proof.ask(&self.screen, blanks);
        let newline = self.terms.dialect.newline.as_str();
        let line = [&" ".repeat(blanks), newline].concat();
        self.send(&line, wait).await
    }

    /// Makes sure that this output is not what came after the command before was taken for ended. Where
    /// nothing but a prompt was asked for, late answers alone are no output.
    fn check_step(&self, output: &str, command: Option<&Line>) -> Result<(), Interruption> {
        let last_line = self.screen.last_line();
        let same = |line: &str| self.prompt.as_ref().is_some_and(|prompt| prompt.is(line));
        let unsolicited = &self.terms.dialect.unsolicited;
        let is_late = |line: &str| same(line) || is_silence(line, unsolicited);
        if command.is_none() && output.lines().all(is_late) {
            return Ok(());
        }
        if self.last_proof.is_answered_in(output, last_line, same) {
            return Err(Interruption::OutOfStep(
                "it answers a question that was asked before this command",
            ));
        }
        Ok(())
    }

    /// Learns the prompt anew where it has changed.
    fn learn(&mut self, end: usize, manner: Manner) {
        self.manner = Some(manner);
        let tail = self.screen.last_line();
        if self.prompt.as_ref().is_some_and(|prompt| prompt.is(tail)) {
            return;
        }
        let first = self.screen.text()[end..].lines().next().unwrap_or_default();
        self.prompt = Prompt::learn(first, tail).or_else(|| self.prompt.take());
    }

    /// The output between echo and prompt.
    fn output(&self, start: usize, end: usize, answered: &[Answered], proof: &Proof) -> String {
        let mut output = self.screen.text()[start..end.max(start)].to_owned();
        without_pagers(&mut output, start, answered);
        proof.without_blanks(&mut output, start);
        if self.echo == Echo::No && output.starts_with('\n') {
            // The end of the line that was not echoed.
            output.remove(0);
        }
        let gap = self.manner.as_ref().map_or("", |manner| &manner.gap);
        if let Some(length) = output.strip_suffix(gap).map(str::len) {
            output.truncate(length);
        }
        if let Some(prompt) = &self.prompt {
            without_late_messages(&mut output, prompt, &self.terms.dialect.unsolicited);
        }
        output
    }
}
