//! Questions that a device asks before its prompt and within an answer, and pagers.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::dialect::{Answer, Confirm, Pattern, is_question};
use super::prompt::MAX_PROMPT_LENGTH;
use super::proof::PromptProof;
use super::state::Cli;
use super::wait::{AnswerWait, Received};
use crate::Line;
use crate::error::Interruption;

/// The maximum number of replies to the same dialect question within one answer.
const MAX_ANSWERS: usize = 3;

/// The silence after which Return is pressed at a command line that should ask for a login.
const NO_QUESTION: Duration = Duration::from_secs(2);

/// The silence to await after Return has brought something. A line that is only slow asks twice, or asks for the
/// password of an empty user name.
const WAKE_SILENCE: Duration = Duration::from_secs(1);

/// The maximum number of times Return is pressed: each one may answer a late question.
const MAX_RETURNS: usize = 2;

/// The silence after the first key of an answer before the rest is typed. A question that wants a single key
/// continues by then.
const KEY_SILENCE: Duration = Duration::from_millis(300);

/// A question that the device may ask, and the reply.
pub(super) struct Question<'a> {
    pattern: &'a Pattern,
    reply: QuestionReply<'a>,
    /// The number of times it may still be answered.
    left: usize,
    /// Whether the reply comes from the target's settings and not from the dialect.
    is_credential: bool,
}

enum QuestionReply<'a> {
    Typed(&'a str),
    Secret(&'a Line),
}

/// A question or a pager that was answered: the start of its line, and the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AnsweredQuestion {
    pub(super) at: usize,
    pub(super) line: String,
    /// Whether Enter was pressed behind the answer.
    pub(super) entered: bool,
}

impl AnsweredQuestion {
    /// Returns whether it is the same line at the same place. A trailing blank may have arrived since.
    fn is_same(&self, other: &Self) -> bool {
        (self.at, self.line.trim_end()) == (other.at, other.line.trim_end())
    }
}

impl<'a> Question<'a> {
    /// Creates a dialect question whose answer is typed as a line.
    pub(super) fn typed(answer: &'a Answer) -> Self {
        Self {
            pattern: &answer.pattern,
            reply: QuestionReply::Typed(&answer.answer),
            left: MAX_ANSWERS,
            is_credential: false,
        }
    }

    /// Creates a question that a command may ask, and whose answer is typed as a line.
    pub(super) fn confirm(confirm: &'a Confirm) -> Self {
        Self {
            pattern: &confirm.pattern,
            reply: QuestionReply::Typed(&confirm.answer),
            left: MAX_ANSWERS,
            is_credential: false,
        }
    }

    /// Creates the question for the user name, which is answered once.
    pub(super) fn name(pattern: &'a Pattern, name: &'a str) -> Self {
        Self {
            pattern,
            reply: QuestionReply::Typed(name),
            left: 1,
            is_credential: true,
        }
    }

    /// Creates a question that is answered with a secret, once. Without a secret, the question is an error.
    pub(super) fn secret(pattern: &'a Pattern, secret: Option<&'a Line>) -> Self {
        match secret {
            Some(line) => Self {
                pattern,
                reply: QuestionReply::Secret(line),
                left: 1,
                is_credential: true,
            },
            None => Self {
                pattern,
                reply: QuestionReply::Typed(""),
                left: 0,
                is_credential: true,
            },
        }
    }

    /// Returns whether a line is this question.
    pub(super) fn is(&self, line: &str) -> bool {
        line.len() <= MAX_PROMPT_LENGTH && self.pattern.is_found_in(line)
    }

    /// Returns whether it asks for a user name or a password and can still be answered, so that it is expected.
    pub(super) fn is_expected(&self) -> bool {
        self.is_credential && self.left > 0
    }

    fn is_name(&self) -> bool {
        self.is_credential && matches!(self.reply, QuestionReply::Typed(name) if !name.is_empty())
    }

    /// Returns whether a secret was typed in reply.
    pub(super) fn has_sent_secret(&self) -> bool {
        matches!(self.reply, QuestionReply::Secret(_)) && self.left == 0
    }

    /// Returns whether a line is this question, and it asks for a user name or a password.
    pub(super) fn is_credential(&self, line: &str) -> bool {
        self.is_credential && self.pattern.is_found_in(line)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Presses Return if the device neither asks for a login nor shows a prompt: a serial line behind a terminal
    /// server shows nothing before. A device that was only slow takes Return for an empty user name. Then an empty
    /// password makes that login fail, so that the device asks for a name again. After a while, only the wait is given
    /// up, not the session. Returns the number of times Return was pressed.
    pub(super) async fn wake(
        &mut self,
        questions: &[Question<'_>],
        wait: &mut AnswerWait<'_>,
    ) -> Result<usize, Interruption> {
        let mut returns = 0;
        // The start of the question that an empty password has answered.
        let mut refused = None;
        loop {
            let last = self.screen.last_line();
            let is_refused = refused == Some(self.screen.last_line_start());
            let is_asked = questions.iter().any(|question| question.is(last));
            let is_awake = is_asked || self.is_prompt_like(last);
            if is_awake && returns == 0 {
                return Ok(returns);
            }
            let quiet = if is_awake { WAKE_SILENCE } else { NO_QUESTION };
            match self.receive(wait, (!is_refused).then_some(quiet)).await? {
                Received::Bytes => continue,
                Received::Quiet
                    if refused.is_none() && self.asks_password_without_user(questions) =>
                {
                    refused = Some(self.screen.last_line_start());
                    returns = MAX_RETURNS;
                }
                Received::Quiet if is_awake || returns == MAX_RETURNS => return Ok(returns),
                Received::Quiet => returns += 1,
            }
            let newline = self.settings.dialect.newline.as_str();
            self.send(newline, wait).await?;
            wait.restart_silence();
        }
    }

    /// Returns whether the device asks for a password right below its question for a user name, which was not answered.
    fn asks_password_without_user(&self, questions: &[Question<'_>]) -> bool {
        let mut lines = self.screen.text().lines().rev();
        let mut asks_for = |name: bool| {
            let line = lines.find(|line| !line.trim().is_empty());
            let is_it = |asked: &Question<'_>, line: &str| {
                asked.is_credential && asked.is_name() == name && asked.is(line)
            };
            line.is_some_and(|line| questions.iter().any(|asked| is_it(asked, line)))
        };
        asks_for(false) && asks_for(true)
    }

    /// Replies to the question or the pager in the last line, if there is one.
    pub(super) async fn reply(
        &mut self,
        questions: &mut [Question<'_>],
        answered: &mut Vec<AnsweredQuestion>,
        wait: &mut AnswerWait<'_>,
    ) -> Result<(), Interruption> {
        let line = self.screen.last_line();
        if line.trim().is_empty() || line.len() > MAX_PROMPT_LENGTH {
            return Ok(());
        }
        let mut shown = AnsweredQuestion {
            at: self.screen.last_line_start(),
            line: line.to_owned(),
            entered: false,
        };
        if answered.last().is_some_and(|last| last.is_same(&shown)) {
            return Ok(());
        }
        let dialect = &self.settings.dialect;
        let newline = dialect.newline.as_str();
        let typed = match questions
            .iter_mut()
            .find(|asked| asked.pattern.is_found_in(line))
        {
            Some(Question { left: 0, .. }) => {
                return Err(Interruption::Asked(line.trim().to_owned()));
            }
            Some(question) => {
                question.left -= 1;
                match question.reply {
                    QuestionReply::Typed(text) => [text, newline].concat(),
                    QuestionReply::Secret(line) => [line.text(), newline].concat(),
                }
            }
            None => match dialect
                .pager
                .iter()
                .find(|pager| pager.pattern.is_found_in(line))
            {
                Some(pager) => pager.answer.clone(),
                None => return Ok(()),
            },
        };
        shown.entered = typed.ends_with(newline);
        answered.push(shown);
        self.send(&typed, wait).await
    }

    /// Replies after silence to a question that the dialect does not know, with the next answer that
    /// was given with the command. Returns whether there was such a question.
    pub(super) async fn reply_unknown(
        &mut self,
        answers: &mut &[String],
        answered: &mut Vec<AnsweredQuestion>,
        proof: &PromptProof,
        wait: &mut AnswerWait<'_>,
    ) -> Result<bool, Interruption> {
        let line = self.screen.last_line();
        let mut shown = AnsweredQuestion {
            at: self.screen.last_line_start(),
            line: line.to_owned(),
            entered: true,
        };
        let is_known = answered.last().is_some_and(|last| last.is_same(&shown));
        if line.len() > MAX_PROMPT_LENGTH || !is_question(line) || is_known {
            return Ok(false);
        }
        let Some((answer, rest)) = answers.split_first() else {
            let question = line.trim().to_owned();
            return Err(if proof.has_typed() {
                Interruption::PerhapsAnswered(question)
            } else {
                Interruption::Unanswered(question)
            });
        };
        *answers = rest;
        let (key, rest) = answer.split_at(answer.chars().next().map_or(0, char::len_utf8));
        self.send(key, wait).await?;
        wait.restart_silence();
        shown.entered = key.is_empty() || !self.has_taken_key(shown.at, wait).await?;
        if shown.entered {
            let newline = self.settings.dialect.newline.as_str();
            self.send(&[rest, newline].concat(), wait).await?;
        }
        answered.push(shown);
        Ok(true)
    }

    /// Returns whether a question in the line that begins at `start` took a single key for its answer. Then any further
    /// input would answer the next question, or be a command.
    async fn has_taken_key(
        &mut self,
        start: usize,
        wait: &mut AnswerWait<'_>,
    ) -> Result<bool, Interruption> {
        let quiet = KEY_SILENCE.max(self.round_trip * 2);
        while self.screen.last_line_start() == start {
            if let Received::Quiet = self.receive(wait, Some(quiet)).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
