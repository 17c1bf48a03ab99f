//! The state of a session at a prompt.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::ahead::Ahead;
use super::alarm::Alarm;
use super::dialect::Dialect;
use super::prompt::Prompt;
use super::prompt_behaviour::PromptBehaviour;
use super::proof::PromptProof;
use super::screen::Screen;
use crate::error::{Interrupted, Interruption, PartialOutput};
use crate::{Error, Opening, Result};

/// The maximum size of an answer in bytes.
pub(crate) const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// A session at a prompt. It runs one command at a time.
pub(crate) struct Cli<S> {
    pub(super) stream: S,
    pub(super) screen: Screen,
    pub(super) settings: CliSettings,
    /// The prompt. It is `None` only until the session has opened.
    pub(super) prompt: Option<Prompt>,
    /// The prompt at which the last command was typed: its echo follows it.
    pub(super) typed_at: Option<Prompt>,
    /// Whether the last line opened a text of several lines, or is part of one.
    pub(super) is_in_text: bool,
    /// Whether a blank was typed behind the last command.
    pub(super) is_padded: bool,
    /// The start of the current command's output in the screen's text, once known.
    pub(super) output_start: Option<usize>,
    pub(super) echo: EchoState,
    /// How the device answers an empty line. Known after the first probe.
    pub(super) prompt_behaviour: Option<PromptBehaviour>,
    /// The command that is typed behind the next probe, or was.
    pub(super) ahead: Ahead,
    /// The probes that proved the end of the last answer.
    pub(super) last_proof: PromptProof,
    /// The number of probes so far. It starts with a random number for each session.
    pub(super) probes: usize,
    /// Whether a pager has waited for a key in the middle of an answer.
    pub(super) has_paged: bool,
    /// The minimum time for an answer, according to the last one.
    pub(super) round_trip: Duration,
    /// Whether a command is running, or was abandoned: then nothing more is sent.
    pub(super) state: CliState,
    /// Whether privileged mode was not entered because the target has no password for it.
    pub(super) is_unprivileged: bool,
    /// The text above the first prompt.
    pub(super) greeting: String,
    /// The number of bytes of an incomplete answer that an error keeps.
    pub(super) most_kept: usize,
    pub(super) alarm: Alarm,
}

/// The settings of a session.
#[derive(Clone, Debug)]
pub(crate) struct CliSettings {
    /// `host:port`, for messages.
    pub(crate) peer: String,
    pub(crate) dialect: Arc<Dialect>,
    /// The limit for logging in.
    pub(crate) timeout: Duration,
    /// The limit for silence during a command.
    pub(crate) idle_timeout: Duration,
    /// The limit for a command in total.
    pub(crate) command_timeout: Duration,
}

/// Whether the device echoes what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EchoState {
    Unknown,
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CliState {
    AtPrompt,
    Busy,
    Broken,
}

impl<S> Cli<S> {
    /// Returns whether another command may be sent.
    pub(crate) fn is_usable(&self) -> bool {
        self.state == CliState::AtPrompt
    }

    /// Returns what the device showed when the session opened, with the current prompt.
    pub(crate) fn opening(&self) -> Opening {
        Opening {
            greeting: self.greeting.clone(),
            prompt: self.screen.last_line().to_owned(),
        }
    }

    /// Marks the session as busy. Fails if it was abandoned before.
    pub(super) fn begin(&mut self, operation: &str) -> Result<()> {
        if self.state != CliState::AtPrompt {
            self.state = CliState::Broken;
            return Err(self.interrupted(operation, Interruption::Broken, ""));
        }
        self.state = CliState::Busy;
        Ok(())
    }

    /// Records the result of an operation. An interruption breaks the session.
    pub(super) fn end<T>(
        &mut self,
        operation: &str,
        result: std::result::Result<T, Interruption>,
        mask: impl Fn(&str) -> String,
    ) -> Result<T> {
        match result {
            Ok(value) => {
                self.state = CliState::AtPrompt;
                // An idle session keeps no output.
                self.screen.keep_last_line();
                self.output_start = None;
                Ok(value)
            }
            Err(why) => {
                self.state = CliState::Broken;
                let error = self.interrupted(operation, why, &mask(self.partial_output()));
                // A broken session keeps no output.
                self.screen.clear();
                self.output_start = None;
                Err(error)
            }
        }
    }

    /// Returns what may help if a command is refused, to end the message with.
    pub(super) fn privilege_hint(&self) -> &'static str {
        match self.is_unprivileged {
            true => {
                "; the session is not in privileged mode: if the command needs it, set `enable_password`"
            }
            false => "",
        }
    }

    /// Returns the part of an answer that has arrived.
    pub(super) fn partial_output(&self) -> &str {
        let text = self.screen.text();
        match (self.output_start, &self.typed_at) {
            (Some(start), _) => &text[start..],
            (None, Some(prompt)) => prompt.strip(text).unwrap_or(text),
            (None, None) => text,
        }
    }

    pub(super) fn interrupted(&self, operation: &str, why: Interruption, partial: &str) -> Error {
        let (peer, operation) = (self.settings.peer.clone(), operation.to_owned());
        Error::Interrupted(Box::new(Interrupted {
            peer,
            operation,
            changing: false,
            why,
            partial: PartialOutput::new(partial, self.most_kept),
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
