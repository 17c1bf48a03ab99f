//! Tests of values: equality, JSON, and wiping.

use serde_json::json;

use super::*;

#[test]
fn json_comes_back_as_it_was_with_its_order() {
    let json = json!({"b": 1, "a": [null, true, 1.5, "x"], "": {}});
    assert_eq!(Value::from(json.clone()).to_json(), json);
}

#[test]
fn a_value_is_small_and_an_emptied_hash_is_an_empty_one() {
    assert!(size_of::<Value>() <= 32);
    let mut hash: Hash = [("a", Value::from(1))].into_iter().collect();
    assert_eq!(hash.remove("a"), Some(Value::from(1)));
    assert!(hash.is_empty() && hash == Hash::new() && hash.iter_mut().next().is_none());
    assert_eq!(Hash::new().remove("a"), None);
}

#[test]
fn a_secret_shows_only_where_it_is_revealed() {
    let value = Value::Hash(
        [
            ("user", Value::from("me")),
            ("password", Value::from("canary").into_sensitive()),
        ]
        .into_iter()
        .collect(),
    );
    assert!(!format!("{value:?} {}", value.to_json()).contains("canary"));
    assert_eq!(
        value.reveal_json(),
        json!({"user": "me", "password": "canary"})
    );
}
