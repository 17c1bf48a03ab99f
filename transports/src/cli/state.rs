//! What a session at a prompt holds, and whether it can be used.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::alarm::Alarm;
use super::dialect::Dialect;
use super::manner::Manner;
use super::prompt::Prompt;
use super::proof::Proof;
use super::screen::Screen;
use crate::error::{Interrupted, Interruption};
use crate::{Error, Opening, Result};

/// How many bytes an answer may have.
pub(crate) const MOST_OUTPUT: usize = 64 * 1024 * 1024;

/// A session at a prompt. One command at a time.
pub(crate) struct Cli<S> {
    pub(super) stream: S,
    pub(super) screen: Screen,
    pub(super) settings: CliSettings,
    /// Learnt when the session opened; `None` only until then.
    pub(super) prompt: Option<Prompt>,
    /// The prompt at which the last command was typed: its echo follows it.
    pub(super) typed_at: Option<Prompt>,
    /// Whether a blank was typed behind it.
    pub(super) is_padded: bool,
    /// Where in the screen's text the output of the command under way begins, once that is known.
    pub(super) output_start: Option<usize>,
    pub(super) echo: Echo,
    /// How the device answers an empty line; known once it was asked.
    pub(super) manner: Option<Manner>,
    /// The questions that proved the end of the last answer.
    pub(super) last_proof: Proof,
    /// How often a prompt was asked for, from a beginning that is new for each session.
    pub(super) probes: usize,
    /// Whether a pager has waited for a key in the middle of an answer.
    pub(super) has_paged: bool,
    /// How long an answer takes at least, as the last one has shown.
    pub(super) round_trip: Duration,
    /// Whether a command is under way, or was given up: then nothing more is sent.
    pub(super) state: State,
    /// What stood above the first prompt.
    pub(super) greeting: String,
    pub(super) alarm: Alarm,
}

/// What a session is told of its device and its limits.
#[derive(Clone, Debug)]
pub(crate) struct CliSettings {
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
pub(super) enum Echo {
    Unknown,
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    AtPrompt,
    Busy,
    Broken,
}

impl<S> Cli<S> {
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

    /// Notes that something is under way, unless the session was given up before.
    pub(super) fn begin(&mut self, doing: &str) -> Result<()> {
        if self.state != State::AtPrompt {
            self.state = State::Broken;
            return Err(self.interrupted(doing, Interruption::Broken, String::new()));
        }
        self.state = State::Busy;
        Ok(())
    }

    /// Notes how it ended: well, or with a doubt that ends the session.
    pub(super) fn end<T>(
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
    pub(super) fn partial_output(&self) -> &str {
        let text = self.screen.text();
        match (self.output_start, &self.typed_at) {
            (Some(start), _) => &text[start..],
            (None, Some(prompt)) => prompt.strip(text).unwrap_or(text),
            (None, None) => text,
        }
    }

    pub(super) fn interrupted(&self, doing: &str, why: Interruption, partial: String) -> Error {
        let (peer, doing) = (self.settings.peer.clone(), doing.to_owned());
        Error::Interrupted(Box::new(Interrupted {
            peer,
            doing,
            changing: false,
            why,
            partial,
        }))
    }
}

impl<S> fmt::Debug for Cli<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cli")
            .field("peer", &self.settings.peer)
            .field("state", &self.state)
            .finish()
    }
}
