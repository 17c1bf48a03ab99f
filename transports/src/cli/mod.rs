//! Sessions with a command line meant for people: commands typed at a prompt, over any byte stream.
//!
//! **The end of a command is proven, not guessed.** A terminal does not say where an answer ends;
//! it only shows a prompt again, and an answer may contain a line that looks exactly like it, with
//! a pause of any length behind it. Waiting to see whether more comes only moves the guess. So:
//!
//! 1. The prompt is learnt to the letter when the session opens, with what stands between two of
//!    them, and how the device shows what is typed ([`editor`]).
//! 2. Nothing counts as output before the device has echoed the command, so that nothing on its way
//!    (log messages, late answers) is taken for output. Whether a device echoes is known from the
//!    beginning, so no silence is ever taken for a missing echo.
//! 3. When the last line is the prompt, blanks are typed and taken back at once, without Enter
//!    ([`touch`]). Where a line editor reads, the line grows by as many columns and comes back: no
//!    output does that. If anything else follows, that line was output; what was typed waits in the
//!    device's input and marks the true end.
//! 4. A device without a line editor shows the blanks and cannot take them back. There they are seen
//!    before Enter is pressed, and the prompt must come twice ([`proof`]). At the first line that looks
//!    like a prompt it is done so, too: it may be a line of the greeting. On a device that shows nothing,
//!    the prompt must be followed by another one and nothing else, and by silence, or by the text that it
//!    answers each time ([`gap`]).
//! 5. Nothing is sent where a question stands at the end. Where a line editor reads, what is still on
//!    its way when a question comes cannot be consent: no Enter, and the first key is a control
//!    character. A question that came meanwhile is an error in any case, since nobody knows what the
//!    device took for its answer.
//! 6. After any doubt (silence, a lost connection, too much output, a prompt that does not come) the
//!    session is given up, and no answer can reach the wrong question. Time alone decides nothing:
//!    what is late is waited for, up to the limits that people set.
//!
//! Two cases are left. A device without an editor and without echo can only be asked by Enter: it is
//! asked after a pause. A pager may take what was typed for a key: that is an error, too, and from
//! then on such a session asks after a pause.
//!
//! The price is a round trip for each command. Lines of configuration need none: each line's
//! echo behind the prompt proves that the one before has ended, and the command that leaves
//! configuration mode is proven as above.
//!
//! Only the last line is searched, and each byte is looked at once, so that ten megabytes cost ten
//! times what one costs.

mod ask;
pub(crate) mod commit;
mod configure;
pub mod dialect;
mod echo;
mod editor;
mod gap;
mod judge;
mod login;
mod output;
mod pattern;
mod prompt;
mod proof;
mod question;
mod read;
pub(crate) mod screen;
mod touch;
mod wait;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::error::{Interrupted, Interruption};
use crate::{Context, Error, Line, Opening, Result};
use dialect::Dialect;
pub(crate) use login::{Credentials, Login};
use prompt::Prompt;
use proof::{Manner, Proof};
use question::Question;
use read::Expect;
use screen::Screen;
use wait::{Alarm, Wait};

/// How many bytes an answer may have.
pub(crate) const MOST_OUTPUT: usize = 64 * 1024 * 1024;

/// How many lines at the beginning and at the end of an answer are held against the failure texts:
/// further inside, an answer only quotes them.
const FAILURE_LINES: usize = 8;

/// A session at a prompt. One command at a time.
pub(crate) struct Cli<S> {
    stream: S,
    screen: Screen,
    terms: Terms,
    /// Learnt when the session opened; `None` only until then.
    prompt: Option<Prompt>,
    /// The prompt at which the last command was typed: its echo follows it.
    typed_at: Option<Prompt>,
    /// Whether a blank was typed behind it.
    is_padded: bool,
    /// Where in the screen's text the output of the command under way begins, once that is known.
    output_start: Option<usize>,
    echo: Echo,
    /// How the device answers an empty line; known once it was asked.
    manner: Option<Manner>,
    /// The questions that proved the end of the last answer.
    last_proof: Proof,
    /// How often a prompt was asked for, from a beginning that is new for each session.
    probes: usize,
    /// Whether a pager has waited for a key in the middle of an answer.
    has_paged: bool,
    /// How long an answer takes at least, as the last one has shown.
    round_trip: Duration,
    /// Whether a command is under way, or was given up: then nothing more is sent.
    state: State,
    /// What stood above the first prompt.
    greeting: String,
    alarm: Alarm,
}

/// What a session is told of its device and its limits.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// `host:port`, for messages.
    pub(crate) peer: String,
    pub(crate) dialect: Arc<Dialect>,
    /// How long logging in may take.
    pub(crate) timeout: Duration,
    /// How long a command may be silent.
    pub(crate) idle_timeout: Duration,
    /// How long a command may take in all.
    pub(crate) command_timeout: Duration,
}

/// Whether the device repeats what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Echo {
    Unknown,
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    AtPrompt,
    Busy,
    Broken,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Runs a command and gives its output, without echo and prompt.
    ///
    /// # Errors
    /// [`Error::CommandFailed`] when the device says so; otherwise why the end was not reached, and
    /// then the session is broken.
    pub(crate) async fn run(&mut self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        let output = self.ask(ctx, command, Vec::new()).await?;
        self.check_output(command, output)
    }

    /// Saves the running configuration.
    ///
    /// # Errors
    /// As [`run`](Self::run); [`Error::Unsupported`] when the dialect does not say how.
    pub(crate) async fn save(&mut self, ctx: &Context<'_>) -> Result<()> {
        let dialect = Arc::clone(&self.terms.dialect);
        let Some(save) = &dialect.save else {
            return Err(Error::Unsupported(
                "the dialect has no `save` command".to_owned(),
            ));
        };
        let questions = save.confirm().iter().map(Question::typed).collect();
        let command = Line::new(save.command());
        let output = self.ask(ctx, &command, questions).await?;
        self.check_output(&command, output).map(drop)
    }

    /// Tests that an empty line brings the prompt again.
    ///
    /// # Errors
    /// Why it did not; the session is broken then.
    pub(crate) async fn verify(&mut self, ctx: &Context<'_>) -> Result<()> {
        let doing = "the test of the session";
        self.begin(doing)?;
        let mut wait = Wait::new(ctx, doing, self.terms.timeout, self.terms.timeout);
        self.screen.keep_last_line();
        // What was noted of the last command's output says nothing of this.
        (self.typed_at, self.output_start) = (None, None);
        let mut proof = Proof::default();
        let result = match self.ask_for_prompt(&mut proof, &mut wait).await {
            Ok(()) => {
                self.read_answer(&mut wait, Expect::Prompt, None, &mut [], proof)
                    .await
            }
            Err(why) => Err(why),
        };
        self.end(doing, result.map(drop), str::to_owned)
    }

    /// Whether another command may be sent.
    pub(crate) fn is_usable(&self) -> bool {
        self.state == State::AtPrompt
    }

    /// What the device showed when the session opened; the prompt is what stands there now.
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            greeting: self.greeting.clone(),
            prompt: self.screen.last_line().to_owned(),
        }
    }

    /// Says goodbye where the device wants to hear it. Whether it arrives does not matter.
    pub(crate) async fn leave(&mut self, ctx: &Context<'_>) {
        let dialect = Arc::clone(&self.terms.dialect);
        if let (State::AtPrompt, Some(leave)) = (self.state, &dialect.leave) {
            let mut wait = Wait::for_command(ctx, "the end of the session", &self.terms);
            let _ = self
                .send(&format!("{leave}{}", dialect.newline.as_str()), &mut wait)
                .await;
        }
        self.state = State::Broken;
    }

    async fn ask(
        &mut self,
        ctx: &Context<'_>,
        command: &Line,
        questions: Vec<Question<'_>>,
    ) -> Result<String> {
        command.check()?;
        let doing = format!("`{}`", command.shown());
        self.begin(&doing)?;
        let mut wait = Wait::for_command(ctx, &doing, &self.terms);
        let result = self
            .type_line(command, &mut wait, Expect::Prompt, questions)
            .await;
        self.end(&doing, result, |partial| command.mask(partial))
    }

    fn check_output(&self, command: &Line, output: String) -> Result<String> {
        match failure(&self.terms.dialect, &output) {
            None => Ok(output),
            Some(said) => Err(Error::CommandFailed {
                peer: self.terms.peer.clone(),
                command: command.shown(),
                said: command.mask(&said),
            }),
        }
    }

    /// Notes that something is under way, unless the session was given up before.
    fn begin(&mut self, doing: &str) -> Result<()> {
        if self.state != State::AtPrompt {
            self.state = State::Broken;
            return Err(self.interrupted(doing, Interruption::Broken, String::new()));
        }
        self.state = State::Busy;
        Ok(())
    }

    /// Notes how it ended: well, or with a doubt that ends the session.
    fn end<T>(
        &mut self,
        doing: &str,
        result: std::result::Result<T, Interruption>,
        mask: impl Fn(&str) -> String,
    ) -> Result<T> {
        match result {
            Ok(value) => {
                self.state = State::AtPrompt;
                // An idle session holds no output.
                self.screen.keep_last_line();
                self.output_start = None;
                Ok(value)
            }
            Err(why) => {
                self.state = State::Broken;
                let partial = mask(self.partial_output());
                Err(self.interrupted(doing, why, partial))
            }
        }
    }

    /// What has arrived of an answer.
    fn partial_output(&self) -> &str {
        let text = self.screen.text();
        match (self.output_start, &self.typed_at) {
            (Some(start), _) => &text[start..],
            (None, Some(prompt)) => prompt.strip(text).unwrap_or(text),
            (None, None) => text,
        }
    }

    fn interrupted(&self, doing: &str, why: Interruption, partial: String) -> Error {
        let (peer, doing) = (self.terms.peer.clone(), doing.to_owned());
        Error::Interrupted(Box::new(Interrupted {
            peer,
            doing,
            changing: false,
            why,
            partial,
        }))
    }
}

/// What the device says of a failure, if this output does.
fn failure(dialect: &Dialect, output: &str) -> Option<String> {
    if dialect.failure.is_empty() {
        return None;
    }
    let lines = || output.lines().filter(|line| !line.trim().is_empty());
    let fails = |line: &&str| {
        dialect
            .failure
            .iter()
            .any(|pattern| pattern.is_found_in(line))
    };
    let failed = lines().take(FAILURE_LINES).find(fails).or_else(|| {
        let last = output.lines().rev().filter(|line| !line.trim().is_empty());
        last.take(FAILURE_LINES).find(fails)
    });
    failed.map(|line| {
        // A short answer is all about the failure; of a long one only the line is.
        if lines().nth(FAILURE_LINES).is_none() {
            output.trim().to_owned()
        } else {
            line.to_owned()
        }
    })
}

impl<S> fmt::Debug for Cli<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli")
            .field("peer", &self.terms.peer)
            .field("state", &self.state)
            .finish()
    }
}
