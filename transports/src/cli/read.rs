//! Reading up to a prompt: the loop that all commands share, with its limits.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::is_question;
use super::output::{
    without_end, without_entered, without_late_messages, without_line_above, without_pagers,
};
use super::prompt::Prompt;
use super::prompt_behaviour::{BlankDisplay, PromptBehaviour};
use super::proof::PromptProof;
use super::question::{AnsweredQuestion, Question};
use super::state::{Cli, CliState, EchoState};
use super::verdict::PromptVerdict;
use super::wait::{AnswerWait, Received};
use crate::Line;
use crate::error::Interruption;
use crate::terminal::may_be_edge;

/// The silence required after a proof from a device that shows nothing of what is typed. If the probed line was
/// output, the real prompt would look like the reply to the probe, and the reply itself would arrive now.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// The message for a pager that may have taken a probe for a key.
const PAGER_MAY_HAVE_TAKEN_KEY: &str =
    "it asked for a key while it was asked for its prompt, so part of the output may be missing";

/// The prompt that ends an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedPrompt {
    /// The learnt prompt, or what it has changed to.
    Prompt,
    /// Any prompt of the dialect. It is then learnt.
    AnyPrompt,
    /// A prompt of configuration mode, or the learnt prompt or what it has changed to. It is proven, as at the end of
    /// a command.
    AnyMode,
    /// A prompt of configuration mode, or the learnt prompt if a line has left that mode.
    Config,
    /// None: a multi-line text was opened and continues. A prompt of configuration mode means that it
    /// was not opened.
    TextOpened,
    /// None: the device takes this line as text and shows it.
    Text,
}

impl ExpectedPrompt {
    /// Returns whether a prompt of configuration mode ends the answer.
    pub(super) fn is_config(self) -> bool {
        matches!(self, Self::Config | Self::TextOpened)
    }

    /// Returns whether a command was typed, whose output ends with a proven prompt.
    pub(super) fn is_of_command(self) -> bool {
        matches!(self, Self::Prompt | Self::AnyMode)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Types a line and reads its answer up to a proven prompt. Returns the output.
    pub(super) async fn type_line(
        &mut self,
        line: &Line,
        wait: &mut AnswerWait<'_>,
        expect: ExpectedPrompt,
        mut questions: Vec<Question<'_>>,
    ) -> Result<String, Interruption> {
        let dialect = Arc::clone(&self.settings.dialect);
        questions.extend(dialect.confirmations(line.text()).map(Question::confirm));
        self.state = CliState::Busy;
        self.typed_at = Some(Prompt::from_line(
            self.screen.last_line(),
            self.prompt.as_ref(),
        ));
        self.output_start = None;
        match self.echo {
            EchoState::No => self.screen.clear(),
            EchoState::Yes | EchoState::Unknown => self.screen.keep_last_line(),
        }
        let end = self.screen.column() + line.text().chars().count();
        // A device's own line break at the screen edge would look like output. A blank moves beyond the edge.
        self.is_padded = expect.is_of_command() && may_be_edge(end);
        let blank = if self.is_padded { " " } else { "" };
        let newline = dialect.newline.as_str();
        // A text is taken as it is, to its last line.
        let keys = match self.is_in_text {
            true => line.text().to_owned(),
            false => dialect.keys(line.text()),
        };
        self.is_in_text = matches!(expect, ExpectedPrompt::TextOpened | ExpectedPrompt::Text);
        if !self.ahead.advance() {
            self.send(&[&*keys, blank, newline].concat(), wait).await?;
        }
        self.read_answer(
            wait,
            expect,
            Some(line),
            &mut questions,
            PromptProof::default(),
        )
        .await
    }

    /// Reads the answer to a command (or to nothing) up to a proven prompt. Returns the output.
    pub(super) async fn read_answer(
        &mut self,
        wait: &mut AnswerWait<'_>,
        expect: ExpectedPrompt,
        command: Option<&Line>,
        questions: &mut [Question<'_>],
        mut proof: PromptProof,
    ) -> Result<String, Interruption> {
        self.output_start = self.known_start(command);
        let mut answered = Vec::new();
        let mut answers = command.map_or(&[][..], Line::answers);
        let (mut quiet_seen, mut has_settled) = (false, false);
        loop {
            let mut is_settling = false;
            if self.output_start.is_none() {
                self.output_start = self.echo_end(command, expect)?;
            }
            if expect == ExpectedPrompt::Text && self.output_start.is_some() {
                return Ok(String::new());
            }
            let start = self.output_start.unwrap_or_default();
            // A device that shows nothing of what is typed may never echo.
            let is_heard = self.output_start.is_some() || self.is_hidden();
            let is_asked = is_heard || proof.has_probed();
            if is_asked && self.screen.last_line_start() >= start && self.screen.is_settled() {
                match self.judge(&proof, expect) {
                    Some(PromptVerdict::Proven(..))
                        if self.output_start.is_none() && self.echo == EchoState::Yes =>
                    {
                        return Err(Interruption::OutOfStep(
                            "the device did not echo the command",
                        ));
                    }
                    Some(PromptVerdict::Proven(..))
                        if expect != ExpectedPrompt::AnyMode && self.is_in_config_only() =>
                    {
                        return Err(Interruption::Configuring);
                    }
                    Some(PromptVerdict::Proven(end, _))
                        if self.ahead.is_typed() && proof.probed_before(end).is_some() =>
                    {
                        return Err(self.typed_amid_output(&proof));
                    }
                    Some(PromptVerdict::Proven(end, prompt_behaviour)) => {
                        if !has_settled {
                            self.learn_round_trip(&proof, end);
                        }
                        if prompt_behaviour.blanks != BlankDisplay::Hidden || has_settled {
                            let start = self.learn_echo(command).unwrap_or(start);
                            return self.proven(start..end, prompt_behaviour, answered, &proof);
                        }
                        is_settling = true;
                    }
                    Some(PromptVerdict::Doubtful) => {
                        return Err(Interruption::OutOfStep(
                            "it did not answer each empty line with its prompt",
                        ));
                    }
                    Some(PromptVerdict::Ends) => {
                        let end = self.screen.last_line_start();
                        return Ok(self.output(start, end, &answered, &proof));
                    }
                    // A pager may take the probe for a key, so a mere line of output must get time to continue.
                    Some(PromptVerdict::Ask) if proof.may_probe() && !self.has_paged => {
                        self.probe_for_prompt(&mut proof, wait).await?;
                    }
                    Some(PromptVerdict::Enter) if self.ahead.is_typed() => {
                        return Err(self.typed_amid_output(&proof));
                    }
                    Some(PromptVerdict::Enter) => {
                        let ending = self.prompt.as_ref().map(Prompt::trailing_blanks);
                        proof.record_enter(&self.screen, ending);
                        let newline = self.settings.dialect.newline.as_str();
                        self.send(newline, wait).await?;
                    }
                    Some(_) => {}
                    None if !is_heard => {}
                    None => {
                        let before = answered.len();
                        self.reply(questions, &mut answered, wait).await?;
                        self.has_paged |=
                            answered[before..].iter().any(|answered| !answered.entered);
                        if answered.len() > before && proof.has_probed() && expect.is_of_command() {
                            return Err(Interruption::OutOfStep(PAGER_MAY_HAVE_TAKEN_KEY));
                        }
                    }
                }
            }
            let quiet = if is_settling {
                Some(SETTLE_TIME.max(self.round_trip * 2))
            } else {
                (!quiet_seen).then(|| self.silence_limit(expect, &proof))
            };
            match self.receive(wait, quiet).await? {
                Received::Bytes => (quiet_seen, has_settled) = (false, false),
                Received::Quiet if is_settling => has_settled = true,
                Received::Quiet => {
                    quiet_seen = true;
                    if self
                        .reply_unknown(&mut answers, &mut answered, &proof, wait)
                        .await?
                    {
                        wait.restart_silence();
                        quiet_seen = false;
                    } else if expect == ExpectedPrompt::TextOpened && self.output_start.is_some() {
                        return Ok(String::new());
                    } else if proof.may_probe()
                        && !self.ahead.is_typed()
                        && self.is_worth_probing(expect, &proof, questions)
                    {
                        self.probe_for_prompt(&mut proof, wait).await?;
                        wait.restart_silence();
                        quiet_seen = false;
                    }
                }
            }
        }
    }

    /// Returns the output that ends with a proof, and learns from the answer.
    fn proven(
        &mut self,
        Range { start, end }: Range<usize>,
        prompt_behaviour: PromptBehaviour,
        mut answered: Vec<AnsweredQuestion>,
        proof: &PromptProof,
    ) -> Result<String, Interruption> {
        let erased_output = self.erased_output(end);
        let end = end + self.unterminated_output(end);
        // The learnt prompt is that of commands.
        if !self.is_in_config_only() {
            self.learn(end, prompt_behaviour);
        }
        self.last_proof = proof.clone();
        self.forget_unused_pagers(proof, &mut answered)?;
        // Without echo, the prompts may begin with the one at which the command was typed.
        let output = self.proven_output(start, end.max(start), &answered, proof)?;
        Ok(output + &erased_output)
    }

    /// Forgets pagers whose keys are shown at the prompt: they were lines of output and remain in it.
    fn forget_unused_pagers(
        &self,
        proof: &PromptProof,
        answered: &mut Vec<AnsweredQuestion>,
    ) -> Result<(), Interruption> {
        let tail = self.screen.last_line();
        let untaken = match &self.prompt {
            // The cursor shows it: redrawn blanks are not visible.
            Some(prompt) if self.is_edited() && prompt.is(tail) => {
                let shown = tail.trim_end().chars().count();
                self.screen
                    .column()
                    .saturating_sub(shown + prompt.trailing_blanks())
            }
            _ => proof.excess_blanks(),
        };
        if untaken == 0 {
            return Ok(());
        }
        let pressed = answered.iter().filter(|answered| !answered.entered).count();
        answered.retain(|answered| answered.entered);
        // It is unknown which of them was not a pager.
        let is_told = untaken == pressed || pressed == 0;
        if is_told {
            Ok(())
        } else {
            Err(Interruption::OutOfStep(PAGER_MAY_HAVE_TAKEN_KEY))
        }
    }

    /// Returns the output. Fails if it contains a question that was asked during a probe, because it is unknown what
    /// the device took for an answer.
    fn proven_output(
        &self,
        start: usize,
        end: usize,
        answered: &[AnsweredQuestion],
        proof: &PromptProof,
    ) -> Result<String, Interruption> {
        let meanwhile = match proof.probed_before(end) {
            Some(since) => &self.screen.text()[since..end],
            None => "",
        };
        if let Some(question) = meanwhile.lines().find(|line| is_question(line)) {
            return Err(Interruption::PerhapsAnswered(question.trim().to_owned()));
        }
        let pagers = &self.settings.dialect.pager;
        let is_pager = |line: &str| pagers.iter().any(|pager| pager.pattern.is_found_in(line));
        let is_answered = |at| answered.iter().any(|answered| answered.at == at);
        // Some pagers were erased since.
        let mut erased_output = self.screen.redrawn_lines();
        if erased_output.any(|(at, line)| is_pager(line) && !is_answered(*at)) {
            return Err(Interruption::OutOfStep(PAGER_MAY_HAVE_TAKEN_KEY));
        }
        let mut at = end - meanwhile.len();
        for line in meanwhile.split_inclusive('\n') {
            if is_pager(line.trim_end_matches('\n')) && !is_answered(at) {
                return Err(Interruption::OutOfStep(PAGER_MAY_HAVE_TAKEN_KEY));
            }
            at += line.len();
        }
        Ok(self.output(start, end, answered, proof))
    }

    /// Returns the output between echo and prompt.
    fn output(
        &self,
        start: usize,
        end: usize,
        answered: &[AnsweredQuestion],
        proof: &PromptProof,
    ) -> String {
        let mut output = self.screen.text()[start..end.max(start)].to_owned();
        without_pagers(&mut output, start, answered);
        if self.echo != EchoState::No {
            let has_lead = self
                .prompt_behaviour
                .as_ref()
                .is_some_and(|prompt_behaviour| prompt_behaviour.lead);
            proof.remove_blanks(&mut output, start, has_lead);
        }
        proof.editor_probes.remove_unread_echo(&mut output, start);
        if self.echo == EchoState::No && !self.is_answered() && output.starts_with('\n') {
            // This is the end of the line that was not echoed.
            output.remove(0);
        }
        let gap = self
            .prompt_behaviour
            .as_ref()
            .map_or("", PromptBehaviour::text_above_prompt);
        without_line_above(&mut output, self.settings.dialect.prompt.above.as_ref());
        without_end(&mut output, gap);
        if let Some(prompt) = &self.prompt {
            without_entered(&mut output, prompt, gap, answered);
            let unsolicited = &self.settings.dialect.unsolicited;
            // A line editor reads in an empty line, so any text between that line and the prompt is a message.
            let is_late = proof.unknown_prompt_start() == Some(end)
                && self.screen.text()[end..].starts_with('\n');
            without_late_messages(&mut output, prompt, is_late, unsolicited);
        }
        output
    }
}
