//! Reading up to a prompt: the loop behind every command, with its limits.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::dialect::{Answer, Pattern};
use super::prompt::Prompt;
use super::proof::{Proof, Verdict, is_silence};
use super::{Cli, Echo, Line, MOST_OUTPUT, Terms, echo};
use crate::Context;
use crate::error::Interruption;

/// How often silence is told.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// How long nothing must come before a line that is not quite the prompt is asked about.
const QUIET: Duration = Duration::from_millis(300);

/// How long nothing must come before a device that has not echoed yet is taken for one that
/// does not echo at all.
const NO_ECHO: Duration = Duration::from_secs(1);

/// How long a device may be silent after the login before an empty line is sent to wake it.
const NO_PROMPT: Duration = Duration::from_secs(2);

/// How long a last line may be that is held against patterns.
const LONGEST_PROMPT: usize = 512;

/// How much is read at once.
const CHUNK: usize = 16 * 1024;

/// The limits of one answer.
pub(super) struct Wait<'a> {
    ctx: &'a Context<'a>,
    doing: &'a str,
    idle: Duration,
    limit: Duration,
    deadline: Instant,
    heard: Instant,
    told: u32,
}

/// Which prompt ends an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// The prompt that was learnt, or what it has become.
    Prompt,
    /// Whatever the dialect calls a prompt, which is learnt then.
    AnyPrompt,
    /// A prompt of configuration mode, or the learnt one when a line left that mode.
    Config,
}

/// A question that the device may ask, and the reply.
pub(super) struct Question<'a> {
    pattern: &'a Pattern,
    reply: Reply<'a>,
    /// How often it may be answered.
    left: usize,
}

enum Reply<'a> {
    Typed(&'a str),
    Line(&'a Line),
}

enum Got {
    Bytes,
    Quiet,
}

impl<'a> Wait<'a> {
    /// The limits of a command.
    pub(super) fn for_command(ctx: &'a Context<'a>, doing: &'a str, terms: &Terms) -> Self {
        Self::new(ctx, doing, terms.idle_timeout, terms.command_timeout)
    }

    /// Limits of one's own.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        doing: &'a str,
        idle: Duration,
        limit: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            ctx,
            doing,
            idle,
            limit,
            deadline: now + limit,
            heard: now,
            told: 0,
        }
    }
}

impl<'a> Question<'a> {
    /// A question of the dialect, whose answer is typed as a line.
    pub(super) fn typed(answer: &'a Answer) -> Self {
        Self {
            pattern: &answer.pattern,
            reply: Reply::Typed(&answer.answer),
            left: 3,
        }
    }

    /// A question that is answered by a secret, once; without one it is an error to be asked.
    pub(super) fn secret(pattern: &'a Pattern, secret: Option<&'a Line>) -> Self {
        match secret {
            Some(line) => Self {
                pattern,
                reply: Reply::Line(line),
                left: 1,
            },
            None => Self {
                pattern,
                reply: Reply::Typed(""),
                left: 0,
            },
        }
    }
}

/// What an answer is made of, as offsets in the screen's text.
#[derive(Default)]
struct Found {
    /// Where the output begins: after the echo.
    start: Option<usize>,
    /// Pagers that were answered, to be taken out if the device does not wipe them.
    pagers: Vec<(usize, String)>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Types a line; what arrives from now on is its answer.
    pub(super) async fn type_line(
        &mut self,
        line: &Line,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        self.typed_at = Some(Prompt::standing(
            self.screen.last_line(),
            self.prompt.as_ref(),
        ));
        match self.echo {
            Echo::No => self.screen.clear(),
            Echo::Yes | Echo::Unknown => self.screen.keep_last_line(),
        }
        let newline = self.terms.dialect.newline.as_str();
        self.send(&[line.text(), newline].concat(), wait).await
    }

    /// Sends text as it is.
    pub(super) async fn send(
        &mut self,
        text: &str,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        let until = wait.deadline.min(Instant::now() + wait.idle);
        let sending = async {
            self.stream.write_all(text.as_bytes()).await?;
            self.stream.flush().await
        };
        match timeout_at(until, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Interruption::Lost),
            Err(_) => Err(Interruption::Silent(wait.idle)),
        }
    }

    /// Reads the answer to a command (or to nothing) up to a proven prompt; gives the output.
    pub(super) async fn to_prompt(
        &mut self,
        wait: &mut Wait<'_>,
        expect: Expect,
        command: Option<&Line>,
        questions: &mut [Question<'_>],
        mut proof: Proof,
    ) -> Result<String, Interruption> {
        let mut found = Found {
            start: self.known_start(command),
            pagers: Vec::new(),
        };
        let mut quiet_seen = false;
        loop {
            if found.start.is_none() {
                found.start = self.echo_end(command)?;
            }
            if let Some(start) = found.start
                && self.screen.last_line_start() >= start
                && self.screen.is_settled()
            {
                match self.judge(&proof, expect) {
                    Some(Verdict::Proven(end)) => {
                        if expect != Expect::Config {
                            self.learn(end);
                        }
                        return Ok(self.output(start, end, &found.pagers));
                    }
                    Some(Verdict::Ask) if proof.may_ask() => {
                        self.probe(&mut proof, wait).await?;
                    }
                    Some(_) => {}
                    None => self.reply(questions, &mut found.pagers, wait).await?,
                }
            }
            let quiet = (!quiet_seen).then(|| self.patience(&found, expect));
            match self.more(wait, quiet).await? {
                Got::Bytes => quiet_seen = false,
                Got::Quiet => {
                    quiet_seen = true;
                    if found.start.is_none() {
                        found.start = self.start_without_echo()?;
                    } else if proof.may_ask() && self.is_worth_asking(&found, expect, &proof) {
                        self.probe(&mut proof, wait).await?;
                        quiet_seen = false;
                    }
                }
            }
        }
    }

    /// Waits for bytes and puts them on the screen, or for nothing to come for a while.
    async fn more(
        &mut self,
        wait: &mut Wait<'_>,
        quiet: Option<Duration>,
    ) -> Result<Got, Interruption> {
        self.chunk.resize(CHUNK, 0);
        loop {
            let idle = wait.heard + wait.idle;
            let telling = wait.heard + TOLD_EVERY * (wait.told + 1);
            let quiet_at = quiet.map_or(idle, |quiet| wait.heard + quiet);
            let until = idle.min(telling).min(quiet_at).min(wait.deadline);
            match timeout_at(until, self.stream.read(&mut self.chunk)).await {
                Ok(Ok(0) | Err(_)) => return Err(Interruption::Lost),
                Ok(Ok(length)) => {
                    self.screen.push(&self.chunk[..length]);
                    if self.screen.text().len() > MOST_OUTPUT {
                        return Err(Interruption::TooMuch(MOST_OUTPUT));
                    }
                    wait.heard = Instant::now();
                    wait.told = 0;
                    return Ok(Got::Bytes);
                }
                Err(_) if until == wait.deadline => return Err(Interruption::TooLong(wait.limit)),
                Err(_) if until == idle => return Err(Interruption::Silent(wait.idle)),
                Err(_) if quiet.is_some() && until == quiet_at => return Ok(Got::Quiet),
                Err(_) => {
                    wait.told += 1;
                    wait.ctx.notice(format!(
                        "nothing from {} for {} s during {}; giving up after {} s",
                        self.terms.peer,
                        (TOLD_EVERY * wait.told).as_secs(),
                        wait.doing,
                        wait.idle.as_secs(),
                    ));
                }
            }
        }
    }

    /// Where the output begins if no echo is to be waited for.
    fn known_start(&self, command: Option<&Line>) -> Option<usize> {
        (command.is_none() || self.echo == Echo::No).then_some(0)
    }

    fn echo_end(&mut self, command: Option<&Line>) -> Result<Option<usize>, Interruption> {
        let (Some(command), Some(prompt)) = (command, &self.typed_at) else {
            return Ok(Some(0));
        };
        if let Some(end) = echo::end(self.screen.text(), prompt, command.text()) {
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
            (_, Expect::Config) if self.is_config(tail) => {
                Some(Verdict::Proven(self.screen.last_line_start()))
            }
            (Some(prompt), Expect::Config) if prompt.is(tail) => {
                Some(Verdict::Proven(self.screen.last_line_start()))
            }
            (Some(prompt), Expect::Prompt) if prompt.is(tail) => {
                Some(proof.judge(&self.screen, |line| prompt.is(line), unsolicited))
            }
            (_, Expect::AnyPrompt) if self.is_prompt_like(tail) => {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, unsolicited))
            }
            (Some(prompt), Expect::Prompt | Expect::Config)
                if proof.has_asked() && self.is_prompt_like(tail) && prompt.may_become(tail) =>
            {
                let same = |line: &str| Prompt::learn(line, tail).is_some();
                Some(proof.judge(&self.screen, same, unsolicited))
            }
            _ => None,
        }
    }

    /// Whether a line looks like a prompt where commands are run.
    pub(super) fn is_prompt_like(&self, line: &str) -> bool {
        let prompts = &self.terms.dialect.prompt;
        line.len() <= LONGEST_PROMPT
            && (prompts.exec.is_line(line)
                || prompts
                    .privileged
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_line(line)))
    }

    /// Whether a line is a prompt of configuration mode.
    pub(super) fn is_config(&self, line: &str) -> bool {
        let config = self.terms.dialect.prompt.config.as_ref();
        line.len() <= LONGEST_PROMPT && config.is_some_and(|pattern| pattern.is_line(line))
    }

    /// How long nothing must come before the state of things is looked at again.
    fn patience(&self, found: &Found, expect: Expect) -> Duration {
        match (found.start, expect) {
            (None, _) => NO_ECHO,
            (Some(_), Expect::AnyPrompt) if !self.is_prompt_like(self.screen.last_line()) => {
                NO_PROMPT
            }
            _ => QUIET,
        }
    }

    /// Whether an empty line may bring clarity now that nothing comes.
    fn is_worth_asking(&self, found: &Found, expect: Expect, proof: &Proof) -> bool {
        let (tail, text) = (self.screen.last_line(), self.screen.text());
        let Some(prompt) = self.prompt.as_ref().filter(|_| expect != Expect::AnyPrompt) else {
            // Some devices show their first prompt only after an empty line.
            return self.is_prompt_like(tail) || (!proof.has_asked() && tail.trim().is_empty());
        };
        if prompt.is(tail) || (self.is_prompt_like(tail) && prompt.may_become(tail)) {
            return true;
        }
        // A message may have been written behind the prompt.
        let start = found.start.unwrap_or_default();
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

    async fn probe(&mut self, proof: &mut Proof, wait: &mut Wait<'_>) -> Result<(), Interruption> {
        proof.ask(&self.screen);
        let newline = self.terms.dialect.newline.as_str();
        self.send(newline, wait).await
    }

    /// Replies to the question or the pager that the last line shows, if it shows one.
    async fn reply(
        &mut self,
        questions: &mut [Question<'_>],
        pagers: &mut Vec<(usize, String)>,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        let (tail, at) = (self.screen.last_line(), self.screen.last_line_start());
        if tail.trim().is_empty() || tail.len() > LONGEST_PROMPT {
            return Ok(());
        }
        let shown = (at, tail.to_owned());
        if pagers.last() == Some(&shown) {
            return Ok(());
        }
        let newline = self.terms.dialect.newline.as_str();
        let asked = questions
            .iter_mut()
            .find(|question| question.pattern.is_found_in(tail));
        let typed = match asked {
            Some(question) if question.left == 0 => {
                return Err(Interruption::Asked(tail.trim().to_owned()));
            }
            Some(question) => {
                question.left -= 1;
                match question.reply {
                    Reply::Typed(text) => [text, newline].concat(),
                    Reply::Line(line) => [line.text(), newline].concat(),
                }
            }
            None => {
                let dialect = &self.terms.dialect;
                let pager = dialect
                    .pager
                    .iter()
                    .find(|pager| pager.pattern.is_found_in(tail));
                let Some(pager) = pager else { return Ok(()) };
                pager.answer.clone()
            }
        };
        pagers.push(shown);
        self.send(&typed, wait).await
    }

    /// Learns the prompt anew where it has changed.
    fn learn(&mut self, end: usize) {
        let tail = self.screen.last_line();
        if self.prompt.as_ref().is_some_and(|prompt| prompt.is(tail)) {
            return;
        }
        let first = self.screen.text()[end..].lines().next().unwrap_or_default();
        self.prompt = Prompt::learn(first, tail).or(self.prompt.take());
    }

    /// The output between echo and prompt, without answered pagers and late log messages.
    fn output(&self, start: usize, end: usize, pagers: &[(usize, String)]) -> String {
        let mut output = self.screen.text()[start..end.max(start)].to_owned();
        for (at, shown) in pagers.iter().rev() {
            let Some(at) = at.checked_sub(start) else {
                continue;
            };
            let Some(rest) = output
                .get(at..)
                .and_then(|rest| rest.strip_prefix(shown.trim_end()))
            else {
                continue;
            };
            let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let wiped = if rest[blank..].starts_with('\n') {
                blank + 1
            } else {
                0
            };
            output.replace_range(at..at + shown.trim_end().len() + wiped, "");
        }
        self.without_late_messages(output)
    }

    fn without_late_messages(&self, mut output: String) -> String {
        let (Some(prompt), unsolicited) = (&self.prompt, &self.terms.dialect.unsolicited) else {
            return output;
        };
        let mut end = output.len();
        while let Some(above) = output[..end].trim_end_matches('\n').rfind('\n') {
            let line = &output[above + 1..end];
            if prompt.is(line.trim_end_matches('\n')) {
                output.truncate(above + 1);
                break;
            }
            if !is_silence(line, unsolicited) {
                break;
            }
            end = above + 1;
        }
        output
    }
}
