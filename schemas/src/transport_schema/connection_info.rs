//! Connection info that a schema has checked: what a transport is given.

use std::fmt;

use crate::{Hash, Sensitive, Value};

/// Checked connection info, its secrets wrapped: what a transport is given.
///
/// A value that was a secret when it came, at an attribute that is none, is in clear for the
/// transport and for nobody else.
#[derive(Clone, Default, PartialEq)]
pub struct ConnectionInfo {
    pub(super) info: Hash,
    /// The secrets at attributes that are none.
    pub(super) hidden: Hash,
}

impl ConnectionInfo {
    /// A text attribute; `None` where it is not given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.info.get(name)?.as_str()
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.info.get(name)?.as_integer()
    }

    /// A number, whole or not, as a float.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.info.get(name)? {
            Value::Float(number) => Some(*number),
            #[expect(clippy::cast_precision_loss, reason = "seconds and ports are small")]
            Value::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// A truth.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.info.get(name)?.as_bool()
    }

    /// An attribute of any type.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.info.get(name)
    }

    /// A secret.
    pub fn secret(&self, name: &str) -> Option<&Sensitive<Value>> {
        match self.info.get(name)? {
            Value::Sensitive(secret) => Some(secret),
            _ => None,
        }
    }

    /// Every secret in it, for the run's mask.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        self.info.secrets().chain(self.hidden.secrets())
    }

    /// All of it, its secrets wrapped.
    pub fn to_hash(&self) -> Hash {
        let mut whole = self.info.clone();
        for (key, value) in self.hidden.iter() {
            whole.insert(key.clone(), value.clone());
        }
        whole
    }

    /// All of it as JSON, its secrets redacted.
    pub fn to_json(&self) -> serde_json::Value {
        Value::Hash(self.to_hash()).to_json()
    }
}

impl fmt::Debug for ConnectionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConnectionInfo {}", self.to_json())
    }
}
