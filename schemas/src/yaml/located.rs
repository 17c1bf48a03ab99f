//! A value together with the place where it was written.

use serde::Deserialize;

/// A value that remembers its place: use it for fields whose errors are found later.
///
/// It is filled only by this module's [`from_str`](super::from_str) and
/// [`from_node`](super::from_node), and not inside an untagged enum, whose values serde buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename = "$devgate::yaml::Located")]
pub struct Located<T> {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was written there.
    pub value: T,
}

/// The name by which the deserializer knows that places are asked for.
pub(super) const NAME: &str = "$devgate::yaml::Located";
