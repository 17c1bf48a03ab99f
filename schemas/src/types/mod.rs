//! Puppet's data types: parsed from text, printed in canonical form, checked against values.
//!
//! Texts of errors and violations are Puppet's own (7.23), word for word.

mod covers;
mod describe;
mod display;
mod error;
mod expression;
mod general;
mod infer;
mod init;
mod instance;
mod interpret;
mod iterate;
mod lexer;
mod mismatch;
mod model;
mod normal;
mod pattern;
mod range;
mod syntax;
mod verdict;
mod wording;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::Value;
use mismatch::Quoting;
use model::Type;

pub use error::TypeError;
pub use mismatch::{Mismatch, Violation};
pub use verdict::verdict;

/// One of Puppet's data types. It displays in canonical form.
#[derive(Clone, Debug, PartialEq)]
pub struct DataType(Type);

impl DataType {
    /// The data type that a text names.
    ///
    /// # Errors
    /// When the text is no type, in Puppet's words.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        interpret::read(text)
            .map(Self)
            .map_err(|fault| TypeError::new(text, fault))
    }

    /// The names in this type that nobody knows, such as `Stdlib::Port`: no value is of them.
    pub fn unresolved(&self) -> Vec<&str> {
        self.0.references().collect()
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Every violation with its path.
    pub fn check(&self, value: &Value) -> Result<(), Mismatch> {
        self.checked(value, Quoting::Allowed)
    }

    /// Checks a secret: as [`check`](Self::check), but no message quotes any part of the value.
    ///
    /// # Errors
    /// Every violation with its path.
    pub fn check_secret(&self, value: &Value) -> Result<(), Mismatch> {
        self.checked(value, Quoting::Forbidden)
    }

    fn checked(&self, value: &Value, quoting: Quoting) -> Result<(), Mismatch> {
        if self.0.admits(value) {
            return Ok(());
        }
        if infer::is_deeper(value, infer::MAX_DEPTH) {
            return Err(Mismatch::too_deep());
        }
        Err(Mismatch::new(describe::violations(
            &self.0,
            &infer::exact(value),
            quoting,
        )))
    }

    /// Whether the type is written as `Optional[...]`.
    pub fn is_optional(&self) -> bool {
        matches!(self.0, Type::Optional(_))
    }

    /// Whether `undef` is a value of this type.
    pub fn accepts_undef(&self) -> bool {
        self.0.accepts_undef()
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DataType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}
