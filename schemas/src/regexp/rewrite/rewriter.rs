//! The state of the rewriter, and the steps that all parts share.

use super::survey::Groups;
use crate::regexp::error::RegexpError;

/// The maximum nesting depth of groups.
pub(super) const MAX_DEPTH: usize = 50;

/// The options that the letters after `(?` switch on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `i`: ignores case. The engine has this option too.
    pub(super) ignore_case: bool,
    /// `m`: the dot matches line ends.
    pub(super) dot_all: bool,
    /// `x`: ignores blanks and comments.
    pub(super) extended: bool,
    /// `a` and `u`; without either, Ruby's mixed default applies.
    pub(super) alphabet: Alphabet,
}

/// Which characters count as letters, digits and blanks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// `\w` is ASCII, but `[[:word:]]` is not.
    #[default]
    Mixed,
    Ascii,
    Unicode,
}

pub(super) struct Rewriter<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    pub(super) out: String,
    pub(super) flags: Flags,
    /// Whether any part ignores case.
    pub(super) ignores_case: bool,
    pub(super) groups: Groups,
    /// The number of capturing groups that have been opened.
    pub(super) opened: usize,
    pub(super) depth: usize,
    /// The number of atoms so far, with repeats expanded.
    pub(super) atoms: u64,
    /// Whether the current position is inside a look-behind, which must have a fixed length.
    pub(super) behind: bool,
}

impl Rewriter<'_> {
    pub(super) fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn invalid(&self, reason: impl Into<String>) -> RegexpError {
        RegexpError::Invalid {
            reason: reason.into(),
            source_text: self.source.to_owned(),
        }
    }

    pub(super) fn unsupported(&self, reason: impl Into<String>) -> RegexpError {
        RegexpError::Unsupported {
            reason: reason.into(),
            source_text: self.source.to_owned(),
        }
    }

    pub(super) fn literal(&mut self, c: char) {
        push_literal(&mut self.out, c);
    }
}

/// Appends a literal character, inside or outside a class.
pub(super) fn push_literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        out.push('\\');
        out.push(c);
    } else if c.is_ascii_control() {
        out.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
    } else {
        out.push(c);
    }
}

/// Returns a literal character as text, for the end of a range in a class.
pub(super) fn literal_text(c: char) -> String {
    let mut text = String::new();
    push_literal(&mut text, c);
    text
}
