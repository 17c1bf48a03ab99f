//! What a mask hides and what it leaves.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};

use super::*;

fn mask(secrets: &[&str]) -> Mask {
    let secrets: Vec<Value> = secrets
        .iter()
        .map(|&secret| Value::from(secret).into_sensitive())
        .collect();
    Mask::new(&secrets)
}

#[test]
fn a_complete_text_is_replaced_at_any_length() {
    assert_eq!(mask(&["x"]).text("x"), REDACTED);
    assert_eq!(mask(&["abc"]).text("abc"), REDACTED);
    assert_eq!(mask(&["abc"]).text("abcd"), "abcd");
}

#[test]
fn a_short_secret_is_replaced_in_text_where_it_stands_as_a_word() {
    let mask = mask(&["cisco", "x"]);
    for (text, masked) in [
        ("password cisco", "password ********"),
        (
            "cisco:cisco@r1, \"cisco\"",
            "********:********@r1, \"********\"",
        ),
        (
            "ciscos, Cisco, cisco_ios, xcisco",
            "ciscos, Cisco, cisco_ios, xcisco",
        ),
        ("\u{e9}cisco", "\u{e9}cisco"),
        ("x y", "x y"),
    ] {
        assert_eq!(mask.text(text), masked);
    }
}

#[test]
fn a_short_secret_in_data_is_replaced_only_under_the_name_of_a_secret() {
    let facts = serde_json::json!({
        "os": {"vendor": "cisco", "title": "a cisco 2900", "cisco": 1},
        "login": {"password": "cisco", "secrets": ["cisco"]},
        "_error": {"msg": "cisco refused", "details": {"said": "no cisco"}},
        "_output": "cisco",
    });
    let masked = serde_json::json!({
        "os": {"vendor": "cisco", "title": "a cisco 2900", "cisco": 1},
        "login": {"password": REDACTED, "secrets": [REDACTED]},
        "_error": {"msg": "******** refused", "details": {"said": "no ********"}},
        "_output": REDACTED,
    });
    let mask = mask(&["cisco"]);
    assert_eq!(mask.json(facts.clone()), masked);
    assert_eq!(mask.value(Value::from(facts)).to_json(), masked);
}

#[test]
fn what_a_secret_begins_with_is_replaced_where_a_text_was_cut() {
    let secret = "canary-w\u{f6}rd&1";
    let mask = mask(&[secret, "cisco"]);
    let percent = "canary-w%C3%B6rd%261";
    for whole in [secret, percent] {
        let ends = whole.char_indices().map(|(at, _)| at).filter(|at| *at >= 4);
        for begin in ends.map(|end| &whole[..end]) {
            let said = format!("it said `x{begin}...`; look");
            assert_eq!(mask.text(&said), "it said `x********...`; look");
            let long = format!("{}{begin}", "x".repeat(1 << 18));
            assert!(mask.text(&format!("{long}...")).ends_with("x********..."));
            assert_eq!(mask.text(&long), long);
        }
    }
    for (text, masked) in [
        ("can... canary.. cana", "can... canary.. cana"),
        ("cisc... xcisc...", "********... xcisc..."),
        ("cisco... cisco", "********... ********"),
    ] {
        assert_eq!(mask.text(text), masked);
    }
    let facts = serde_json::json!({"os": "canary..."});
    assert_eq!(mask.json(facts.clone()), facts);
}

#[test]
fn secrets_in_keys_are_replaced_and_keys_stay_as_many() {
    let json = serde_json::json!({
        "canary1": 1, "canary2": 2, "a canary1": 3, REDACTED: 4, "b": {"canary1": 5},
    });
    let masked = serde_json::json!({
        REDACTED: 1, format!("{REDACTED} (2)"): 2, "a ********": 3, format!("{REDACTED} (3)"): 4,
        "b": {REDACTED: 5},
    });
    let mask = mask(&["canary1", "canary2"]);
    assert_eq!(mask.json(json.clone()), masked);
    assert_eq!(mask.value(Value::from(json)).to_json(), masked);
}

#[test]
fn what_servers_make_of_a_secret_is_replaced() {
    let mask = mask(&["p&ss w'rd?/1\u{e4}"]);
    for text in [
        "p%26ss%20w%27rd%3F%2F1%C3%A4",
        "p%26ss%20w%27rd%3f%2f1%c3%a4",
        "p%26ss+w%27rd%3F%2F1%C3%A4",
        "p%26ss%20w'rd%3F%2F1%C3%A4",
        "p%26ss%20w%27rd%3F/1%C3%A4",
        r"p&ss w'\''rd?/1ä",
        "p&ss w'\"'\"'rd?/1ä",
        r"p\&ss\ w\'rd\?/1ä",
        "p&amp;ss w&#39;rd?/1ä",
        "p&amp;ss w'rd?/1ä",
        // Go, PHP, .NET, JavaScript's encodeURI, Python, and nested escapes.
        r"p\u0026ss w'rd?/1ä",
        r"p&ss w'rd?\/1\u00e4",
        r"p\u0026ss w\u0027rd?/1\u00E4",
        "p&ss%20w'rd?/1%C3%A4",
        r"p&ss w\'rd?/1ä",
        r"p&ss w\'rd?/1\xe4",
        "p&#38;ss w&#39;rd?/1&#228;",
        "p&#x26;ss w&#039;rd&#x3F;&#x2F;1&#xE4;",
        r"p\u0026amp;ss w'rd?\/1ä",
        r"p&ss w'rd?\\\/1\\u00e4",
    ] {
        assert_eq!(mask.text(&format!("say {text}!")), "say ********!");
    }
}

#[test]
fn a_secret_is_replaced_in_base64_with_whatever_stands_beside_it() {
    let secret = "canary?>secret";
    let mask = mask(&[secret]);
    for user in ["", "a:", "me:", "root:", "admin:", "operator:"] {
        for behind in ["", "!", "!!", "\"}"] {
            let text = format!("{user}{secret}{behind}");
            for coded in [
                Base64::encode_string(text.as_bytes()),
                Base64UrlUnpadded::encode_string(text.as_bytes()),
            ] {
                let said = mask.text(&coded).into_owned();
                assert!(said.contains("***") || said == REDACTED, "{text}: {said}");
                // A character that holds bits of both the secret and its neighbour is removed, too.
                let left = said.replace("********", "").replace('=', "");
                let most = user.len() * 8 / 6 + (behind.len() * 8).div_ceil(6);
                assert!(said == REDACTED || left.len() <= most, "{text}: {said}");
            }
        }
    }
    assert_eq!(self::mask(&["word"]).text("d29yZA"), "d29yZA");
}

#[test]
fn a_long_secret_is_replaced_inside_texts_the_longest_first() {
    let mask = mask(&["canary", "canary-long"]);
    assert_eq!(
        mask.text("user me password canary-long!"),
        "user me password ********!"
    );
}

#[test]
fn numbers_and_empty_texts_stay() {
    let value = Value::from(serde_json::json!({"n": 123_456, "e": ""}));
    let masked = mask(&["canary1", "123456", ""]).value(value);
    assert_eq!(masked.to_json(), serde_json::json!({"n": 123_456, "e": ""}));
}

#[test]
fn secrets_are_replaced_in_json_however_it_spells_them() {
    let mask = mask(&["pa\"ss\\word", "geheim\u{e4}\u{1f511}"]);
    for text in [
        r#"{"password": "pa\"ss\\word"}"#,
        r#"{"password": "geheim\u00e4\ud83d\udd11"}"#,
        "{\"password\": \"geheim\u{e4}\u{1f511}\"}",
    ] {
        assert_eq!(mask.text(text), r#"{"password": "********"}"#);
    }
}

#[test]
fn json_keeps_what_is_no_secret_to_the_letter() {
    let text = r#"{"y":[18446744073709551615,1e300],"x":"a canary1"}"#;
    let json: Json = serde_json::from_str(text).expect("JSON");
    let masked = mask(&["canary1"]).json(json).to_string();
    assert!(masked.contains("18446744073709551615"), "{masked}");
    assert!(masked.ends_with(r#""x":"a ********"}"#), "{masked}");
}

#[test]
fn the_lines_of_a_key_are_replaced_one_by_one() {
    let mask = mask(&["-----BEGIN-----\nAAAAcanaryAAAABBBBBBBB\n"]);
    assert_eq!(mask.text("> AAAAcanaryAAAABBBBBBBB"), "> ********");
}
