//! Reading up to a prompt: the loop behind every command, with its limits.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::output::{without_entered, without_late_messages, without_pagers};
use super::prompt::{LONGEST_PROMPT, Prompt};
use super::proof::{Blanks, Manner, Proof, Verdict, is_silence};
use super::question::{Answered, Question};
use super::wait::{Got, Wait};
use super::{Cli, Echo, Line, State, echo, touch};
use crate::error::Interruption;

/// How long nothing must come before a line that is not quite the prompt is asked about; longer where answers
/// take longer.
const QUIET: Duration = Duration::from_millis(300);

/// How long nothing must come before a prompt is asked about whose command was not echoed.
const NO_ECHO: Duration = Duration::from_secs(1);

/// How long an answer is taken to be on its way at most: what takes longer was output that went on.
const LONGEST_ROUND_TRIP: Duration = Duration::from_secs(5);

/// How long a device may be silent after the login before an empty line is sent to wake it.
const NO_PROMPT: Duration = Duration::from_secs(2);

/// How many blanks are typed at least to ask for a prompt: more than stand behind lines by chance.
const FEWEST_BLANKS: usize = 4;

/// How many different numbers of blanks there are, for each question within an answer.
const VARIATIONS: usize = 5;

/// How many lines a message may have that was written behind the prompt.
const MOST_BELOW: usize = 50;

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

impl Expect {
    /// Whether a prompt of configuration mode is the end.
    fn is_config(self) -> bool {
        matches!(self, Self::Config | Self::TextOpened)
    }
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
            let start = self.output_start.unwrap_or_default();
            let is_asked = self.output_start.is_some() || proof.has_asked();
            if is_asked && self.screen.last_line_start() >= start && self.screen.is_settled() {
                match self.judge(&proof, expect) {
                    Some(Verdict::Proven(..))
                        if self.output_start.is_none() && self.echo == Echo::Yes =>
                    {
                        return Err(Interruption::OutOfStep(
                            "the device did not echo the command",
                        ));
                    }
                    Some(Verdict::Proven(..)) if self.is_in_config_only() => {
                        return Err(Interruption::Configuring);
                    }
                    Some(Verdict::Proven(end, manner)) => {
                        self.learn_round_trip(&proof, end);
                        let start = self.learn_echo(command).unwrap_or(start);
                        let end = end + self.unended(end);
                        self.learn(end, manner);
                        // Where nothing is echoed, the prompts may begin with the one that was typed at.
                        let end = end.max(start);
                        self.last_proof = proof.clone();
                        return self.proven_output(start, end, &answered, &proof);
                    }
                    Some(Verdict::Doubtful) => {
                        return Err(Interruption::OutOfStep(
                            "it did not answer each empty line with its prompt",
                        ));
                    }
                    Some(Verdict::Ends) => {
                        let end = self.screen.last_line_start();
                        return Ok(self.output(start, end, &answered, &proof));
                    }
                    // A pager may take the question for a key: what was only a line must have time to go on.
                    Some(Verdict::Ask) if proof.may_ask() && !self.has_paged => {
                        self.ask_for_prompt(&mut proof, wait).await?;
                    }
                    Some(Verdict::Enter) => {
                        let ending = self.prompt.as_ref().map_or(0, Prompt::ending);
                        proof.enter(&self.screen, ending);
                        let newline = self.terms.dialect.newline.as_str();
                        self.send(newline, wait).await?;
                    }
                    Some(_) => {}
                    None if self.output_start.is_none() => {}
                    None => {
                        let before = answered.len();
                        self.reply(questions, &mut answered, wait).await?;
                        self.has_paged |=
                            answered[before..].iter().any(|answered| !answered.entered);
                        if answered.len() > before && proof.has_asked() && expect == Expect::Prompt
                        {
                            return Err(Interruption::OutOfStep(
                                "it asked for a key while it was asked for its prompt, so part of the output \
                                 may be missing",
                            ));
                        }
                    }
                }
            }
            let quiet = (!quiet_seen).then(|| self.patience(expect, &proof));
            match self.receive(wait, quiet).await? {
                Got::Bytes => quiet_seen = false,
                Got::Quiet => {
                    quiet_seen = true;
                    if self
                        .reply_unknown(&mut answers, &mut answered, wait)
                        .await?
                    {
                        wait.stir();
                        quiet_seen = false;
                    } else if expect == Expect::TextOpened && self.output_start.is_some() {
                        return Ok(String::new());
                    } else if proof.may_ask() && self.is_worth_asking(expect, &proof, questions) {
                        self.ask_for_prompt(&mut proof, wait).await?;
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

    /// Learns from a whole answer that the device does not repeat commands, and gives where the output begins.
    fn learn_echo(&mut self, command: Option<&Line>) -> Option<usize> {
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

    fn echo_end(
        &mut self,
        command: Option<&Line>,
        expect: Expect,
    ) -> Result<Option<usize>, Interruption> {
        let (Some(command), Some(prompt)) = (command, &self.typed_at) else {
            return Ok(Some(0));
        };
        let unsolicited = &self.terms.dialect.unsolicited;
        let end = match expect {
            Expect::Text => echo::end_of_text(self.screen.text(), command.text()),
            _ => echo::end(self.screen.text(), prompt, command.text(), unsolicited),
        };
        if end.is_none() && self.screen.text().len() > echo::SEARCHED {
            return Err(Interruption::OutOfStep(
                "the device did not echo the command",
            ));
        }
        if end.is_some() {
            self.echo = Echo::Yes;
        }
        Ok(end)
    }

    /// What is made of the last line: `None` if it looks like no prompt.
    fn judge(&self, proof: &Proof, expect: Expect) -> Option<Verdict> {
        let tail = proof.touches.stripped(self.screen.last_line());
        let unsolicited = &self.terms.dialect.unsolicited;
        let (prompt, manner) = match (&self.prompt, &self.manner) {
            (_, _) if self.is_config(tail) && expect.is_config() => return Some(Verdict::Ends),
            (Some(prompt), _) if expect == Expect::Config && prompt.is(tail) => {
                return Some(Verdict::Ends);
            }
            (Some(prompt), Some(manner)) => (prompt, manner),
            _ if expect == Expect::AnyPrompt && self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                return Some(proof.judge(&self.screen, same, None, unsolicited));
            }
            _ => return None,
        };
        match (manner.blanks, expect) {
            (_, Expect::Text | Expect::TextOpened) => None,
            (Blanks::Edited, _) => self.judge_edited(proof, expect, prompt, manner),
            // Enter is all that it can be asked with: what was only a line must have time to go on.
            (Blanks::Late | Blanks::Hidden, Expect::Prompt)
                if prompt.is(tail) && !proof.has_asked() =>
            {
                Some(Verdict::Wait)
            }
            (Blanks::Late, Expect::Prompt)
            | (Blanks::Shown, Expect::Prompt | Expect::AnyPrompt)
                if prompt.is(tail) =>
            {
                // The prompt may stand behind a line that was not ended.
                let same = |line: &str| prompt.is(line) || prompt.behind(line).is_some();
                let ending = prompt.ending();
                Some(proof.judge_shown(&self.screen, same, manner, ending, unsolicited))
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
    fn unended(&self, at: usize) -> usize {
        let line = self.screen.text()[at..].lines().next().unwrap_or_default();
        let tail = self.screen.last_line();
        let known = self.prompt.as_ref();
        if known.is_none_or(|prompt| prompt.is(line) || !prompt.resembles(tail)) {
            return 0;
        }
        Prompt::standing(tail, known).behind(line).unwrap_or(0)
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

    /// How long nothing must come before the state of things is looked at again. No end of a session hangs on
    /// it: where answers take long, it is longer.
    fn patience(&self, expect: Expect, proof: &Proof) -> Duration {
        let quiet = match (self.output_start, expect) {
            (None, _) => NO_ECHO,
            (Some(_), Expect::AnyPrompt) if !self.is_prompt_like(self.screen.last_line()) => {
                NO_PROMPT
            }
            // A device that has lost a question is asked again, ever less often.
            _ => QUIET * 4_u32.pow(u32::try_from(proof.asked()).unwrap_or(0)),
        };
        quiet.max(self.round_trip * 2)
    }

    /// Whether a question for the prompt may bring clarity now that nothing comes.
    fn is_worth_asking(&self, expect: Expect, proof: &Proof, questions: &[Question<'_>]) -> bool {
        let (tail, text) = (
            proof.touches.stripped(self.screen.last_line()),
            self.screen.text(),
        );
        if is_question(tail) {
            return false;
        }
        let Some(prompt) = self.prompt.as_ref().filter(|_| expect != Expect::AnyPrompt) else {
            // Some devices show their first prompt only after an empty line. One that may still ask
            // for a name would take it for one.
            let may_wake = !proof.has_asked() && !questions.iter().any(Question::is_awaited);
            return self.is_prompt_like(tail) || (may_wake && tail.trim().is_empty());
        };
        let Some(start) = self.output_start else {
            return prompt.is(tail) && text.contains('\n');
        };
        if self.may_be_prompt(tail, prompt) {
            return true;
        }
        if !tail.trim().is_empty() {
            return false;
        }
        // A message may have been written behind the prompt. Where Enter is not needed to ask, it may be any.
        let above = || text[start..].lines().rev().take(MOST_BELOW);
        let below = above().position(|line| prompt.is(line));
        below.is_some_and(|below| {
            let unsolicited = &self.terms.dialect.unsolicited;
            let is_message = |line: &str| is_silence(line, unsolicited);
            let mut below = above().take(below).filter(|line| !line.trim().is_empty());
            self.is_edited() || (below.next().is_some_and(is_message) && below.all(is_message))
        })
    }

    /// Whether a last line may be the prompt: the known one, that behind an output that was not ended, or what it
    /// has become.
    fn may_be_prompt(&self, line: &str, prompt: &Prompt) -> bool {
        !is_question(line)
            && (prompt.is(line)
                || prompt.behind(line).is_some()
                || (self.is_prompt_like(line) && prompt.may_become(line))
                || self.is_in_config_only())
    }

    /// Whether the device has a line editor that takes back what it is told to.
    fn is_edited(&self) -> bool {
        let manner = self.manner.as_ref();
        manner.is_some_and(|manner| manner.blanks == Blanks::Edited)
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
        self.probes = self.probes.wrapping_add(1);
        let blanks = self.blanks(proof.asked());
        let newline = self.terms.dialect.newline.as_str();
        let manner = self.manner.as_ref();
        let prompt = self.prompt.as_ref();
        let known =
            manner.filter(|_| prompt.is_some_and(|known| known.is(self.screen.last_line())));
        let lead = manner.map_or("", |manner| if manner.lead { touch::LEAD } else { "" });
        let typed = match (manner.map(|manner| manner.blanks), known) {
            (Some(Blanks::Edited), _) => proof.touches.ask(&mut self.screen, blanks),
            // What is shown is looked at before Enter, but for the second time.
            (Some(Blanks::Shown), Some(_)) if !proof.has_entered() => {
                proof.ask(&self.screen, blanks, false);
                [lead, &" ".repeat(blanks)].concat()
            }
            _ => {
                proof.ask(&self.screen, blanks, true);
                [lead, &" ".repeat(blanks), newline].concat()
            }
        };
        self.send(&typed, wait).await
    }

    /// Learns how long an answer takes.
    fn learn_round_trip(&mut self, proof: &Proof, end: usize) {
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
    fn learn(&mut self, end: usize, manner: Manner) {
        self.manner = Some(manner);
        let tail = self.screen.last_line();
        let Some(known) = self.prompt.as_ref() else {
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

    /// The output, unless something in it was asked while the prompt was asked for: nobody knows what the device
    /// took for an answer.
    fn proven_output(
        &self,
        start: usize,
        end: usize,
        answered: &[Answered],
        proof: &Proof,
    ) -> Result<String, Interruption> {
        let since = proof.asked_before(end);
        let asks = since.and_then(|since| {
            let mut lines = self.screen.text()[since..end].lines();
            lines.find(|line| is_question(line))
        });
        match asks {
            Some(question) => Err(Interruption::Unanswered(question.trim().to_owned())),
            None => Ok(self.output(start, end, answered, proof)),
        }
    }

    /// The output between echo and prompt.
    fn output(&self, start: usize, end: usize, answered: &[Answered], proof: &Proof) -> String {
        let mut output = self.screen.text()[start..end.max(start)].to_owned();
        without_pagers(&mut output, start, answered);
        proof.without_blanks(&mut output, start);
        proof.touches.without_unread(&mut output, start);
        if self.echo == Echo::No && output.starts_with('\n') {
            // The end of the line that was not echoed.
            output.remove(0);
        }
        let gap = self.manner.as_ref().map_or("", |manner| &manner.gap);
        if let Some(length) = output.strip_suffix(gap).map(str::len) {
            output.truncate(length);
        }
        if let Some(prompt) = &self.prompt {
            without_entered(&mut output, prompt, answered);
            let unsolicited = &self.terms.dialect.unsolicited;
            // A line editor read at an empty line: whatever stands between it and the prompt is a message.
            let is_late = proof.fresh() == Some(end) && self.screen.text()[end..].starts_with('\n');
            without_late_messages(&mut output, prompt, |line| {
                is_late || is_silence(line, unsolicited)
            });
        }
        output
    }
}
