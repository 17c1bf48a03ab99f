//! Reads YAML as Bolt and Puppet do, and keeps the place of every node: for families, manifests and
//! inventories.
//!
//! Plain scalars mean what they mean to Ruby's Psych. [`Value`](crate::Value) has no date and no symbol, so
//! `2024-01-02` and `:name` are texts. JSON is YAML and is read by the same rules. As in Psych, an exponent
//! therefore needs a point and a sign (`1.0e+3`), and `1e3` is a text.
//!
//! Duplicate keys are refused, where Psych silently keeps the last. In a merge (`<<`), the mapping's own
//! keys win wherever they are written, and then the first of several merged mappings.
//!
//! No error quotes a scalar: any value may be a secret until a schema has read it.

mod de;
mod error;
mod extent;
mod node;
mod parse;
mod scalar;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

pub use error::Error;
pub use node::{KeyNode, Mapping, Node, NodeKind};

/// Parses one document; an empty text is `undef`.
///
/// # Errors
///
/// Fails for invalid YAML, a second document, duplicate keys, unknown tags, and documents that nest too
/// deeply or grow too much by aliases. The error has the line, the column and the key path.
pub fn parse(text: &str) -> Result<Node, Error> {
    parse::document(text)
}

/// Formats JSON as a text that [`parse`] reads as the same value. Characters that YAML does not allow are
/// escaped.
pub fn from_json(json: &serde_json::Value) -> String {
    let text = json.to_string();
    let mut yaml = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{a0}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => yaml.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => yaml.push(c),
        }
    }
    yaml
}

/// Deserializes one document.
///
/// # Errors
///
/// Fails as [`parse`] and [`from_node`] do.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_node(&parse(text)?)
}

/// Deserializes a node.
///
/// # Errors
///
/// Fails when a node does not match the type. The error has the line, the column and the key path of that
/// node.
pub fn from_node<T: DeserializeOwned>(node: &Node) -> Result<T, Error> {
    T::deserialize(de::NodeDeserializer(node))
}
