//! What is asked of a data store, and what it answers.

use devgate_schemas::{Hash, Key, Value};

use crate::xml::Element;

/// A request that may change a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What it is about, as for [`DataStore::get`](crate::DataStore::get); may be empty where the body says it all.
    pub what: String,
    /// How: an HTTP method, a NETCONF default-operation, a JSON-RPC method. `None` is the
    /// protocol's usual one.
    pub method: Option<String>,
    /// What to set: text is sent as it is, everything else as JSON. It may hold secrets.
    pub body: Option<Value>,
}

/// What a target answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// JSON, or what reads like it.
    Data(Value),
    /// A text: XML, or something else that is no JSON.
    Text(String),
}

/// The key of an XML element's text, where the element is a hash because it has attributes as well.
pub const XML_TEXT: &str = "#text";

impl Document {
    /// What it says as data. What lies in the outermost element of XML becomes hashes by the elements'
    /// names, without prefixes: several of one name become a list, an element that holds nothing but
    /// text that text, an attribute stands under `@` and its name. Other text is read as JSON.
    ///
    /// `None` where it is neither.
    pub fn into_data(self) -> Option<Value> {
        let text = match self {
            Self::Data(data) => return Some(data),
            Self::Text(text) => text,
        };
        if text.trim_start().starts_with('<') {
            return Some(data_of(&Element::read(&text)?));
        }
        let json: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(json.into())
    }
}

fn data_of(element: &Element) -> Value {
    let text = element.text.trim();
    let attributes = element.attributes.iter();
    let mut hash: Hash = attributes
        .map(|(name, value)| (format!("@{name}"), Value::from(value.as_str())))
        .collect();
    if element.children.is_empty() {
        if hash.is_empty() {
            return Value::from(text);
        }
        hash.insert(XML_TEXT, Value::from(text));
        return Value::Hash(hash);
    }
    for child in &element.children {
        let key = Key::from(child.name.as_str());
        let value = data_of(child);
        match hash.get_mut(&key) {
            None => {
                hash.insert(key, value);
            }
            // No element is a list by itself.
            Some(Value::Array(items)) => items.push(value),
            Some(first) => *first = Value::Array(vec![first.clone(), value]),
        }
    }
    Value::Hash(hash)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn data(text: &str) -> Option<serde_json::Value> {
        let data = Document::Text(text.to_owned()).into_data();
        data.map(|data| data.to_json())
    }

    #[test]
    fn xml_becomes_data_by_the_names_of_its_elements() {
        let text = "<data xmlns='urn:b'><n:a xmlns:n='urn:n'><b>1</b><b>2</b><c x='y'>t</c><d/></n:a></data>";
        assert_eq!(
            data(text),
            Some(json!({ "a": { "b": ["1", "2"], "c": { "@x": "y", "#text": "t" }, "d": "" } }))
        );
        assert_eq!(data("<data/>"), Some(json!("")));
        assert_eq!(data(" [1]"), Some(json!([1])));
        assert_eq!(data("<data>"), None);
        assert_eq!(data("no data"), None);
    }
}
