//! Connection info that no schema has read yet: its secrets are not known.

use std::fmt;

use crate::{Hash, Key, Value};

/// The keys whose values no schema declares secret. They suffice to find the transport that knows the rest.
const WELL_KNOWN: [&str; 6] = [
    "name",
    "protocol",
    "host",
    "port",
    "remote-transport",
    "run-on",
];

/// The raw connection info of a target, which becomes a task's `_target`.
///
/// Any value may be a secret. The type therefore shows only its keys, and gives access only to the few
/// values that find and name a target.
#[derive(Clone, Default, PartialEq)]
pub struct RawConnectionInfo(Hash);

impl RawConnectionInfo {
    /// Wraps connection info until its schema is known.
    pub fn new(info: Hash) -> Self {
        Self(info)
    }

    /// Returns the keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.0.iter().map(|(key, _)| key)
    }

    /// Returns the value of `name`, `protocol`, `host`, `port`, `remote-transport` or `run-on`, and `None`
    /// for every other key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        if WELL_KNOWN.contains(&key) {
            self.0.get(key)
        } else {
            None
        }
    }

    /// Returns the secrets that need no schema: the password, by convention, and every value that is
    /// already marked sensitive.
    pub fn conventional_secrets(&self) -> impl Iterator<Item = &Value> {
        self.0.get("password").into_iter().chain(self.0.secrets())
    }

    /// Converts the connection info into a task's `_target` if no schema is known: the password is wrapped,
    /// and so is a URI that contains one.
    pub fn into_target(self) -> Hash {
        let wrap = |(key, value): (Key, Value)| match key.as_str() {
            Some("password") => (key, value.into_sensitive()),
            Some("uri") if has_password(&value) => (key, value.into_sensitive()),
            _ => (key, value),
        };
        self.0.into_iter().map(wrap).collect()
    }

    /// Returns all of the connection info, for the schema that wraps the secrets.
    pub fn into_hash(self) -> Hash {
        self.0
    }
}

/// Whether a URI contains a password before its host.
fn has_password(uri: &Value) -> bool {
    let authority = uri
        .as_str()
        .and_then(|uri| uri.split_once("://"))
        .map(|(_, rest)| rest);
    let user = authority
        .and_then(|rest| rest.split('/').next())
        .and_then(|a| a.rsplit_once('@'));
    user.is_some_and(|(user, _)| user.contains(':'))
}

impl fmt::Debug for RawConnectionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unread ")?;
        f.debug_set()
            .entries(self.keys().map(Key::to_string))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_and_what_names_a_target_can_be_seen() {
        let info = RawConnectionInfo::new(
            [
                ("host", "192.0.2.1"),
                ("password", "canary"),
                ("token", "canary"),
            ]
            .into_iter()
            .map(|(key, text)| (key, Value::from(text)))
            .collect(),
        );
        assert_eq!(
            format!("{info:?}"),
            r#"Unread {"host", "password", "token"}"#
        );
        assert_eq!(info.get("host"), Some(&Value::from("192.0.2.1")));
        assert_eq!((info.get("password"), info.get("token")), (None, None));
        assert_eq!(
            info.into_hash().get("password"),
            Some(&Value::from("canary"))
        );
    }
}
