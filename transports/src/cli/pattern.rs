//! A dialect's regular expressions: for a part of a text, or for a whole line.

use std::fmt;
use std::sync::OnceLock;

use devgate_schemas::{Regexp, RegexpError};
use serde::de::{self, Deserialize, Deserializer};

/// A regular expression of a dialect, in Ruby syntax. It is compiled when the dialect is read.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    compiled: OnceLock<Regexp>,
}

/// A [`Pattern`] that must match a whole line, except for trailing blanks.
#[derive(Clone)]
pub struct LinePattern {
    source: String,
    whole: Pattern,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Fails when the pattern is invalid.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        let compiled = OnceLock::from(Regexp::new(source)?);
        Ok(Self {
            source: source.to_owned(),
            compiled,
        })
    }

    /// Creates a built-in pattern. It is compiled at its first use, which may never come.
    pub(super) fn built_in(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the source text.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether the pattern matches somewhere in a text. A match that takes too many steps counts as none.
    pub fn is_found_in(&self, text: &str) -> bool {
        self.compiled().is_match(text).unwrap_or(false)
    }

    /// Returns the offset and the text of the first group.
    pub(super) fn first_group<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let captures = self.compiled().captures(text).ok()??;
        let group = captures.group(1)?;
        Some((group.as_ptr().addr() - text.as_ptr().addr(), group))
    }

    fn compiled(&self) -> &Regexp {
        let compile = || Regexp::new(&self.source).expect("it was compiled before, or is built in");
        self.compiled.get_or_init(compile)
    }
}

impl LinePattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Fails when the pattern is invalid.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        let whole = Pattern::new(&whole(source));
        // The error must refer to the source text, not to the extended one.
        let whole = whole.map_err(|error| Regexp::new(source).err().unwrap_or(error))?;
        Ok(Self {
            source: source.to_owned(),
            whole,
        })
    }

    /// Creates a built-in pattern. It is compiled at its first use, which may never come.
    pub(super) fn built_in(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            whole: Pattern::built_in(&whole(source)),
        }
    }

    /// Converts it to a pattern for a part of a text, which is a whole line.
    pub(super) fn to_pattern(&self) -> Pattern {
        self.whole.clone()
    }

    /// Returns whether the pattern matches this line. A match that takes too many steps counts as none.
    pub fn is(&self, line: &str) -> bool {
        self.whole.is_found_in(line)
    }
}

/// Extends a pattern to a whole line.
fn whole(source: &str) -> String {
    format!(r"\A(?:{source})\s*\z")
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl fmt::Debug for LinePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.source)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::new(&source).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for LinePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        Self::new(&source).map_err(de::Error::custom)
    }
}
