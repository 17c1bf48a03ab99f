//! Connection info before any schema has read it: what is secret in it is not known yet.

use std::fmt;

use crate::{Hash, Key, Value};

/// The keys whose values no schema declares secret: enough to find the transport that knows the rest.
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
/// Any value may be a secret, so it shows its keys alone, and lends only the few values by which
/// a target is found and named.
#[derive(Clone, Default, PartialEq)]
pub struct RawConnectionInfo(Hash);

impl RawConnectionInfo {
    /// Holds connection info back until its schema is known.
    pub fn new(info: Hash) -> Self {
        Self(info)
    }

    /// The keys in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &Key> {
        self.0.iter().map(|(key, _)| key)
    }

    /// The value of `name`, `protocol`, `host`, `port`, `remote-transport` or `run-on`; of every
    /// other key nothing.
    pub fn get(&self, key: &str) -> Option<&Value> {
        if WELL_KNOWN.contains(&key) {
            self.0.get(key)
        } else {
            None
        }
    }

    /// What is secret where no schema says so: the password, by convention, and what came as a
    /// secret.
    pub fn conventional_secrets(&self) -> impl Iterator<Item = &Value> {
        self.0.get("password").into_iter().chain(self.0.secrets())
    }

    /// All of it as a task's `_target`, where no schema knows more: the password wrapped, and the
    /// URI where it holds one.
    pub fn into_target(self) -> Hash {
        let wrap = |(key, value): (Key, Value)| match key.as_str() {
            Some("password") => (key, value.into_sensitive()),
            Some("uri") if has_password(&value) => (key, value.into_sensitive()),
            _ => (key, value),
        };
        self.0.into_iter().map(wrap).collect()
    }

    /// All of it, for the schema that wraps the secrets.
    pub fn into_hash(self) -> Hash {
        self.0
    }
}

/// Whether a URI has a password before its host.
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
