//! Lines to type at a prompt, with the secrets in them.

use std::fmt;

use devgate_schemas::{REDACTED, Sensitive};

use crate::error::RefusedLine;
use crate::{Error, Result};

/// A command or a configuration line, which may contain secrets.
///
/// Messages, errors and events show it with its secrets redacted.
#[derive(Clone)]
pub struct Line {
    text: Sensitive<String>,
    secrets: Vec<Sensitive<String>>,
    /// The answers to the questions that it makes the device ask, in order.
    answers: Vec<String>,
    is_with_previous: bool,
    is_closing: bool,
}

impl Line {
    /// Creates a line without secrets.
    pub fn new(text: impl Into<String>) -> Self {
        Self::with_secrets(text, Vec::new())
    }

    /// Creates a line that contains these secrets.
    pub fn with_secrets(text: impl Into<String>, secrets: Vec<Sensitive<String>>) -> Self {
        Self {
            text: Sensitive::new(text.into()),
            secrets,
            answers: Vec::new(),
            is_with_previous: false,
            is_closing: false,
        }
    }

    /// Adds answers to the questions that the device is expected to ask about it. A question without an answer
    /// ends the session.
    pub fn answering(self, answers: Vec<String>) -> Self {
        Self { answers, ..self }
    }

    /// Lets the line be sent together with the line before it, whose answer is then not awaited. Neither line may ask
    /// anything or change the mode, and the line must be meant also if the line before it is refused.
    pub fn with_previous(self) -> Self {
        Self {
            is_with_previous: true,
            ..self
        }
    }

    /// Makes it the line that puts those before it into effect. It is typed as the last one, also if one of them is
    /// refused, and its end is proven.
    pub fn closing(self) -> Self {
        Self {
            is_closing: true,
            ..self
        }
    }

    /// Creates a line that is secret as a whole.
    pub(crate) fn secret(text: Sensitive<String>) -> Self {
        Self {
            secrets: vec![text.clone()],
            text,
            answers: Vec::new(),
            is_with_previous: false,
            is_closing: false,
        }
    }

    /// Returns the line with its secrets redacted.
    pub fn shown(&self) -> String {
        self.mask(self.text())
    }

    /// Redacts this line's secrets in a device's text.
    pub(crate) fn mask(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(|secret| secret.reveal().as_str());
        secrets
            .filter(|secret| !secret.is_empty())
            .fold(text.to_owned(), |text, secret| {
                text.replace(secret, REDACTED)
            })
    }

    /// Returns what is told of this line, if the device refuses it as the line of this number with this message.
    pub(crate) fn refused(&self, number: usize, message: &str) -> RefusedLine {
        RefusedLine {
            number,
            line: self.shown(),
            message: self.mask(message),
        }
    }

    /// Returns the text to send.
    pub(crate) fn text(&self) -> &str {
        self.text.reveal()
    }

    /// Returns whether the line may be sent [`with_previous`](Self::with_previous).
    pub fn is_with_previous(&self) -> bool {
        self.is_with_previous
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing
    }

    pub(crate) fn answers(&self) -> &[String] {
        &self.answers
    }

    /// Refuses characters that a terminal would interpret, and those that stand for lost bytes.
    ///
    /// # Errors
    /// Fails with [`Error::ControlCharacter`], which names the line but no secret.
    pub(crate) fn check(&self) -> Result<()> {
        let texts = std::iter::once(self.text()).chain(self.answers.iter().map(String::as_str));
        let mut characters = texts.flat_map(str::chars);
        let is_no_text =
            |character: &char| character.is_control() || *character == char::REPLACEMENT_CHARACTER;
        match characters.find(is_no_text) {
            None => Ok(()),
            Some(character) => Err(Error::ControlCharacter {
                what: format!("`{}`", self.shown().escape_debug()),
                character,
            }),
        }
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Line").field(&self.shown()).finish()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let secret = Sensitive::new("canary".to_owned());
        let line = Line::with_secrets("username a password canary", vec![secret]);
        assert_eq!(line.shown(), format!("username a password {REDACTED}"));
        assert!(!format!("{line:?}").contains("canary"));
        assert_eq!(line.text(), "username a password canary");
    }

    #[test]
    fn control_characters_are_refused_with_the_secret_redacted() {
        let secret = Sensitive::new("can\nary".to_owned());
        let error = Line::with_secrets("key can\nary", vec![secret])
            .check()
            .expect_err("refused");
        assert!(
            error
                .to_string()
                .contains(r"control character '\n': nothing was sent")
        );
        assert!(!error.to_string().contains("ary"), "{error}");
        assert!(Line::new("description Zürich → Bern").check().is_ok());
        assert!(Line::new("show\tversion").check().is_err());
        let error = Line::new("description caf\u{fffd}").check();
        assert!(
            error
                .expect_err("refused")
                .to_string()
                .contains("not UTF-8")
        );
    }
}
