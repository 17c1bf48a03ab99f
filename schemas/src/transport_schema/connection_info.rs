//! Connection info that has been checked against a schema.

use std::fmt;

use crate::{Hash, Sensitive, Value};

/// Checked connection info with its secrets wrapped, as a transport receives it.
///
/// An attribute that is not sensitive may be given as a secret. The transport sees its value in clear;
/// every other view keeps it wrapped.
#[derive(Clone, Default, PartialEq)]
pub struct ConnectionInfo {
    pub(super) info: Hash,
    /// The secrets that were given for attributes that are not sensitive.
    pub(super) hidden: Hash,
}

impl ConnectionInfo {
    /// Returns a text attribute; `None` if it is not given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.info.get(name)?.as_str()
    }

    /// Returns an integer attribute.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.info.get(name)?.as_integer()
    }

    /// Returns a number attribute, integer or float, as a float.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.info.get(name)? {
            Value::Float(number) => Some(*number),
            #[expect(clippy::cast_precision_loss, reason = "seconds and ports are small")]
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// Returns a Boolean attribute.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.info.get(name)?.as_bool()
    }

    /// Returns an attribute of any type.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.info.get(name)
    }

    /// Returns a secret attribute.
    pub fn secret(&self, name: &str) -> Option<&Sensitive<Value>> {
        match self.info.get(name)? {
            Value::Sensitive(secret) => Some(secret),
            _ => None,
        }
    }

    /// Returns every secret, for the run's mask.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        self.info.secrets().chain(self.hidden.secrets())
    }

    /// Returns all attributes, with secrets wrapped.
    pub fn to_hash(&self) -> Hash {
        let mut whole = self.info.clone();
        for (key, value) in self.hidden.iter() {
            whole.insert(key.clone(), value.clone());
        }
        whole
    }

    /// Returns all attributes as JSON, with secrets redacted.
    pub fn to_json(&self) -> serde_json::Value {
        Value::Hash(self.to_hash()).to_json()
    }
}

impl fmt::Debug for ConnectionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionInfo {}", self.to_json())
    }
}
