//! Requests to a datastore, and its answers.

use devgate_schemas::{Hash, Key, Value};

use crate::xml::Element;
use crate::{Error, Result};

/// A request that may change a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataRequest {
    /// The subject, as for [`DataStore::get`](crate::DataStore::get). It may be empty if the body is sufficient.
    pub what: String,
    /// The method: an HTTP method, a NETCONF default operation, a JSON-RPC method. `None` is the
    /// protocol's default.
    pub method: Option<String>,
    /// The body. A text is sent unchanged, any other value as JSON. It may contain secrets.
    pub body: Option<Value>,
}

impl DataRequest {
    /// The method of several requests that take effect together, or not at all.
    pub const TRANSACTION: &str = "transaction";

    /// Returns a request for several requests. Not every protocol supports it.
    pub fn transaction<'r>(requests: impl IntoIterator<Item = &'r Self>) -> Self {
        let one = |request: &Self| {
            let mut hash = Hash::new();
            hash.insert("path", Value::from(request.what.as_str()));
            if let Some(method) = &request.method {
                hash.insert("method", Value::from(method.as_str()));
            }
            if let Some(body) = &request.body {
                hash.insert("body", body.clone());
            }
            Value::Hash(hash)
        };
        Self {
            what: String::new(),
            method: Some(Self::TRANSACTION.to_owned()),
            body: Some(Value::Array(requests.into_iter().map(one).collect())),
        }
    }

    /// Returns the requests of a transaction.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`], which says what is expected.
    pub(crate) fn parts(&self) -> Result<Vec<Self>> {
        let unfit = || {
            let problem = "a transaction takes a list of requests, each with `method`, `path` and perhaps `body`: nothing \
                           was sent";
            Error::Unsupported(problem.to_owned())
        };
        let given = match &self.body {
            Some(Value::String(text)) => {
                let json: serde_json::Value = serde_json::from_str(text).map_err(|_| unfit())?;
                Value::from(json)
            }
            Some(given) => given.clone(),
            None => return Err(unfit()),
        };
        let Value::Array(items) = given else {
            return Err(unfit());
        };
        let part = |item: &Value| {
            let hash = item.as_hash()?;
            let text = |key| hash.get(key).and_then(Value::as_str).map(str::to_owned);
            Some(Self {
                what: text("path")?,
                method: text("method"),
                body: hash.get("body").cloned(),
            })
        };
        items
            .iter()
            .map(|item| part(item).ok_or_else(unfit))
            .collect()
    }
}

/// A target's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// JSON, or equivalent data.
    Data(Value),
    /// A text: XML, or anything else that is not JSON.
    Text(String),
}

/// The key for an XML element's text, if the element becomes a hash because it also has attributes.
pub const XML_TEXT: &str = "#text";

impl Document {
    /// Converts the answer to data. The content of the outermost XML element, or of `<data>` in a reply of NETCONF, becomes hashes with the elements'
    /// names as keys, without prefixes. Elements of the same name become a list. An element with text only
    /// becomes that text. An attribute gets the key `@` and its name. Any other text is parsed as JSON.
    ///
    /// Returns `None` if the text is neither.
    pub fn into_data(self) -> Option<Value> {
        let text = match self {
            Self::Data(data) => return Some(data),
            Self::Text(text) => text,
        };
        if text.trim_start().starts_with('<') {
            let document = Element::read(&text)?;
            // A whole reply of NETCONF (RFC 6241, section 7) has the data below `<data>`.
            let reply = document.name == "rpc-reply";
            let data = reply.then(|| document.at("data")).flatten();
            return Some(data_of(data.unwrap_or(&document)));
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
            // An element alone never becomes a list, so a list holds elements of one name.
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
    fn the_requests_of_a_transaction_are_what_they_were() {
        let request = |what: &str, body: Option<Value>| DataRequest {
            what: what.to_owned(),
            method: Some("POST".to_owned()),
            body,
        };
        let secret = Value::from("canary").into_sensitive();
        let requests = [request("/a", Some(secret)), request("/b", None)];
        let transaction = DataRequest::transaction(&requests);
        assert_eq!(transaction.parts().expect("a list"), requests);
        for body in [
            Value::from("canary"),
            Value::from(json!([{ "method": "POST" }])),
        ] {
            let other = DataRequest {
                body: Some(body),
                ..transaction.clone()
            };
            let error = other.parts().expect_err("no list").to_string();
            assert!(error.contains("a transaction takes a list"), "{error}");
        }
    }

    #[test]
    fn xml_becomes_data_by_the_names_of_its_elements() {
        let text = "<data xmlns='urn:b'><n:a xmlns:n='urn:n'><b>1</b><b>2</b><c x='y'>t</c><d/></n:a></data>";
        assert_eq!(
            data(text),
            Some(json!({ "a": { "b": ["1", "2"], "c": { "@x": "y", "#text": "t" }, "d": "" } }))
        );
        let reply = format!(
            "<?xml version='1.0'?>\n<nc:rpc-reply message-id='1' xmlns:nc='urn:b'>{text}</nc:rpc-reply>"
        );
        assert_eq!(data(&reply), data(text), "a whole reply is its data");
        assert_eq!(
            data("<rpc-reply><ok/></rpc-reply>"),
            Some(json!({ "ok": "" }))
        );
        assert_eq!(data("<data/>"), Some(json!("")));
        assert_eq!(data(" [1]"), Some(json!([1])));
        assert_eq!(data("<data>"), None);
        assert_eq!(data("no data"), None);
    }
}
