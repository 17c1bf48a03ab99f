//! Regular expressions of a dialect: somewhere in a text, or a whole line.

use std::fmt;
use std::sync::OnceLock;

use devgate_schemas::{Regexp, RegexpError};
use serde::de::{self, Deserialize, Deserializer};

/// A regular expression of a dialect, with Ruby's meaning, compiled when the dialect is read.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    compiled: OnceLock<Regexp>,
}

/// A [`Pattern`] that describes a whole line, but for blanks at its end.
#[derive(Clone)]
pub struct LinePattern {
    source: String,
    compiled: Regexp,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        let compiled = OnceLock::from(Regexp::new(source)?);
        Ok(Self {
            source: source.to_owned(),
            compiled,
        })
    }

    /// A pattern of the program's own, compiled when it is first used, which may be never.
    pub(super) fn built_in(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            compiled: OnceLock::new(),
        }
    }

    /// As it was written.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Whether it is found in a text. A match that takes too many steps is none.
    pub fn is_found_in(&self, text: &str) -> bool {
        self.compiled().is_match(text).unwrap_or(false)
    }

    /// Where in a text its first group was found, and what that is.
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
    /// What is wrong with it.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        let compiled = Regexp::new(&format!(r"\A(?:{source})\s*\z"));
        // What is wrong is told of the text that was written.
        let compiled = compiled.map_err(|error| Regexp::new(source).err().unwrap_or(error))?;
        Ok(Self {
            source: source.to_owned(),
            compiled,
        })
    }

    /// Whether it describes this line. A match that takes too many steps is none.
    pub fn is(&self, line: &str) -> bool {
        self.compiled.is_match(line).unwrap_or(false)
    }
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
