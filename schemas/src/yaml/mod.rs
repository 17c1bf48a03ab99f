//! YAML as Bolt and Puppet read it, with the place of everything: families, manifests and inventories alike.
//!
//! Plain scalars mean what they mean to Ruby's Psych ([`Value`](crate::Value) has no date and no
//! symbol, so `2024-01-02` and `:name` stay texts). JSON is YAML and is read by the same rules,
//! which has one consequence worth knowing: as in Psych, an exponent needs a point and a sign
//! (`1.0e+3`), and `1e3` is a text.
//!
//! Duplicate keys are refused where Psych silently keeps the last. Of a merge (`<<`), the
//! mapping's own keys win wherever they stand, then the earlier of several merged mappings.
//!
//! No error quotes a scalar: what a document says may be a secret until a schema has read it.

mod de;
mod error;
mod located;
mod node;
mod parse;
mod scalar;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

pub use error::Error;
pub use located::Located;
pub use node::{KeyNode, Kind, Mapping, Node};

/// Reads one document; an empty text is `undef`.
///
/// # Errors
///
/// What is not YAML, a second document, duplicate keys, unknown tags, and documents that nest too
/// deep or grow too much by aliases; each with line, column and key path.
pub fn parse(text: &str) -> Result<Node, Error> {
    parse::document(text)
}

/// JSON as a text that is read here as the same: characters that YAML does not print are escaped.
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

/// Reads one document into a type.
///
/// # Errors
///
/// Those of [`parse`], then those of [`from_node`].
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    from_node(&parse(text)?)
}

/// Reads a node into a type.
///
/// # Errors
///
/// Where a node does not fit the type, with line, column and key path of that node.
pub fn from_node<T: DeserializeOwned>(node: &Node) -> Result<T, Error> {
    T::deserialize(de::NodeDeserializer(node))
}
