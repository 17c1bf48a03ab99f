//! A value with its place in the document.

use serde::Deserialize;

/// A value that keeps its place: use it for fields whose errors are found later.
///
/// Only this module's [`from_str`](super::from_str) and [`from_node`](super::from_node) fill it. It does
/// not work inside an untagged enum, whose values serde buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "$devgate::yaml::Located")]
pub struct Located<T> {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// The value.
    pub value: T,
}

/// The name by which the deserializer recognises the type.
pub(super) const NAME: &str = "$devgate::yaml::Located";
