//! Configuration lines: the output of templates, and the input of CLI sessions.

mod batch;
mod rendered;

use devgate_schemas::{REDACTED, Sensitive};
use devgate_transports::Dialect;

use crate::SecretVisibility;
use crate::template::{Escape, Revealed, Secrets};

pub(crate) use batch::{Transaction, Typing, preview, send};
pub(crate) use rendered::LineProblem;

/// A line of configuration with its depth. It is typed in the mode that the nearest line above it with less
/// depth has entered.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    depth: usize,
    /// Whether it is part of a text of several lines, which the line before continues.
    is_text: bool,
    /// The line with its secrets redacted.
    shown: String,
    /// The line in clear and its secrets, if it has any.
    secret: Option<Revealed>,
}

/// The line that leaves a mode in this dialect, unless the lines themselves do so.
pub(crate) fn mode_exit(dialect: Option<&Dialect>) -> Option<&str> {
    dialect.map_or(Some(Dialect::EXIT_MODE), Dialect::mode_exit)
}

impl Line {
    fn new(depth: usize, text: &str, secrets: &Secrets) -> Self {
        let (shown, secret) = secrets.redact(text, Escape::None);
        Self {
            depth,
            is_text: false,
            shown,
            secret,
        }
    }

    /// Creates a line that may be a secret as a whole.
    pub(crate) fn hidden(depth: usize, text: String) -> Self {
        let text = Sensitive::new(text);
        Self {
            depth,
            is_text: false,
            shown: REDACTED.to_owned(),
            secret: Some(Revealed {
                secrets: vec![text.clone()],
                text,
            }),
        }
    }

    /// Returns the line for people, indented by its depth. Text is shown as it is.
    pub(crate) fn text(&self, secrets: SecretVisibility) -> String {
        let text = match secrets {
            SecretVisibility::InClear => self.clear(),
            SecretVisibility::Redacted => &self.shown,
        };
        let depth = if self.is_text { 0 } else { self.depth };
        format!("{}{text}", " ".repeat(depth))
    }

    fn clear(&self) -> &str {
        let secret = self.secret.as_ref();
        secret.map_or(&self.shown, |revealed| revealed.text.reveal())
    }

    /// Converts the line for a CLI session.
    pub(crate) fn to_transport(&self) -> devgate_transports::Line {
        match &self.secret {
            None => devgate_transports::Line::new(self.shown.clone()),
            Some(Revealed { text, secrets }) => {
                devgate_transports::Line::with_secrets(text.reveal().clone(), secrets.clone())
            }
        }
    }

    /// Returns the lines that must be typed after this one, so that `next` is read in its own mode.
    pub(crate) fn mode_exits_before(
        &self,
        next: &Self,
        mode_exit: Option<&str>,
    ) -> impl Iterator<Item = devgate_transports::Line> {
        let exits = self.depth.saturating_sub(next.depth);
        let exits = std::iter::repeat_n(mode_exit, exits).flatten();
        exits.map(devgate_transports::Line::new)
    }
}
