//! Redacts the data of targets for display, where no schema says what is secret.

use devgate_schemas::{Hash, Key, Value, is_secret_name};

use super::uri::Uri;

/// Masks secrets and what may be one: marked values, values whose key suggests a secret, and passwords in URIs.
pub(super) fn redact(hash: Hash) -> Hash {
    let redact_pair = |(key, value): (Key, Value)| {
        let value = if is_secret_name(&key.to_string()) && !is_harmless(&value) {
            value.into_sensitive()
        } else {
            redact_value(value)
        };
        (key, value)
    };
    hash.into_iter().map(redact_pair).collect()
}

fn redact_value(value: Value) -> Value {
    match value {
        Value::Hash(hash) => Value::Hash(redact(hash)),
        Value::Array(items) => Value::Array(items.into_iter().map(redact_value).collect()),
        Value::String(text) if text.contains("://") && text.contains('@') => {
            match Uri::parse(&text) {
                Ok(uri) => Value::from(uri.to_string()),
                Err(_) => Value::from(text).into_sensitive(),
            }
        }
        other => other,
    }
}

/// Whether a value cannot be a secret: null, a boolean, or the path of a key.
fn is_harmless(value: &Value) -> bool {
    match value {
        Value::Undef | Value::Boolean(_) => true,
        Value::String(text) => text.starts_with(['/', '~']) && !text.contains(['\n', ' ']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn possible_secrets_are_redacted_at_any_depth() {
        let hash: Hash = yaml::from_str(
            "{user: me, password: canary, api_token: canary, enable_secret: {x: canary},
              snmp: [{community: canary, version: 2}], url: 'https://me:canary@h/x',
              uri: 'odd://a:canary/b@h', pin: 123456, auth_key: canary, private-key: /home/me/key,
              private_key: {key-data: canary}, use_password: true, pinned: yes, author: a}",
        )
        .expect("a hash");
        let redacted = Value::Hash(redact(hash)).to_json();
        let text = redacted.to_string();
        assert!(
            !text.contains("canary") && !text.contains("123456"),
            "{text}"
        );
        for (key, expected) in [
            ("user", "me"),
            ("url", "https://me@h/x"),
            ("private-key", "/home/me/key"),
            ("author", "a"),
        ] {
            assert_eq!(redacted[key], expected);
        }
        assert_eq!(redacted["use_password"], true);
        assert_eq!(redacted["snmp"][0]["version"], 2);
    }
}
