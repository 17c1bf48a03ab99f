//! Parameters on the command line: words `name=value`, or one JSON object.

use devgate_schemas::task::Metadata;
use devgate_schemas::{Hash, Value, read_unique};

use super::TaskError;

/// Returns the parameters in words `name=value` or in the text of `--params`. Parameters that are sensitive by the
/// metadata are wrapped as secrets.
///
/// # Errors
/// Fails when both forms are used, when a word has no `=`, when the text is not a JSON object, or when a parameter or
/// a key is given twice.
pub fn given_parameters(
    words: &[String],
    json: Option<&str>,
    metadata: &Metadata,
) -> Result<Hash, TaskError> {
    let given = match json {
        Some(_) if !words.is_empty() => return Err(TaskError::BothForms),
        Some(json) => object(json)?,
        None => pairs(words, metadata)?,
    };
    Ok(metadata.hide_sensitive(given))
}

fn object(json: &str) -> Result<Hash, TaskError> {
    // For an untyped value, only syntax errors and duplicate keys are possible, and they quote no value.
    match read_unique(json.as_bytes()).map(Value::from) {
        Ok(Value::Hash(hash)) => Ok(hash),
        Ok(_) => Err(TaskError::ParamsNotJson("expected an object".to_owned())),
        Err(error) => Err(TaskError::ParamsNotJson(format!(
            "{error}; write an object: --params '{{\"name\": \"value\"}}', or name=value without --params"
        ))),
    }
}

fn pairs(words: &[String], metadata: &Metadata) -> Result<Hash, TaskError> {
    let mut given = Hash::new();
    for (index, word) in words.iter().enumerate() {
        let Some((name, text)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err(TaskError::NoPair {
                position: index + 1,
            });
        };
        if given.get(name).is_some() {
            return Err(TaskError::GivenTwice {
                name: name.to_owned(),
            });
        }
        let value = value(name, text, metadata).map_err(|error| TaskError::DuplicateKey {
            name: name.to_owned(),
            problem: error.to_string(),
        })?;
        given.insert(name, value);
    }
    Ok(given)
}

/// Returns the JSON value of a word if it has one of the parameter's type, or else the word itself. If neither has the
/// right type, the JSON value gives the better message.
///
/// # Errors
/// Fails when JSON that would be the value has a duplicate key.
fn value(name: &str, text: &str, metadata: &Metadata) -> serde_json::Result<Value> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        return Ok(Value::from(text));
    };
    let json = Value::from(json);
    let parameter = metadata
        .parameters
        .as_ref()
        .and_then(|parameters| parameters.get(name));
    let word = Value::from(text);
    if parameter.is_none_or(|parameter| parameter.accepts(&json) || !parameter.accepts(&word)) {
        read_unique(text.as_bytes()).map(Value::from)
    } else {
        Ok(word)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(words: &[&str]) -> Result<serde_json::Value, String> {
        let metadata = Metadata::from_json(json!({"parameters": {
            "text": {"type": "String"},
            "count": {"type": "Integer"},
            "any": {},
            "secret": {"type": "String", "sensitive": true},
        }}))
        .expect("metadata");
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        given_parameters(&words, None, &metadata)
            .map(|hash| Value::Hash(hash).to_json())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_word_is_json_only_where_that_fits_the_type() {
        assert_eq!(
            words(&["text=12", "count=12", "any=[1]", "unknown=true"]),
            Ok(json!({"text": "12", "count": 12, "any": [1], "unknown": true}))
        );
        assert_eq!(
            words(&["count=x", "any=a=b"]),
            Ok(json!({"count": "x", "any": "a=b"}))
        );
        assert_eq!(words(&["count=[1]"]), Ok(json!({"count": [1]})));
        assert_eq!(
            words(&["text=\"x\"", "any="]),
            Ok(json!({"text": "x", "any": ""}))
        );
    }

    #[test]
    fn a_sensitive_word_is_hidden_and_a_lone_word_is_not_quoted() {
        assert_eq!(
            words(&["secret=canary"]),
            Ok(json!({"secret": "Sensitive [value redacted]"}))
        );
        for lone in [["text=a", "canary"], ["text=a", "=canary"]] {
            let error = words(&lone).expect_err("no pair");
            assert!(
                error.contains("parameter 2") && !error.contains("canary"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_given_twice_is_refused_by_name_and_no_value_is_quoted() {
        let told = words(&["text=canary", "count=1", "text=canary"]).expect_err("twice");
        assert!(told.contains("the parameter text is given twice"), "{told}");
        let inside = r#"{"x": "canary", "x": 1}"#;
        let told = words(&[&format!("any={inside}")]).expect_err("twice");
        assert!(
            told.contains("the parameter any: the key `x` occurs twice"),
            "{told}"
        );
        assert!(!told.contains("canary"), "{told}");
        assert_eq!(
            words(&[&format!("text={inside}")]),
            Ok(json!({"text": inside}))
        );
        for object in [inside, r#"{"a": {"x": "canary", "x": 2}}"#] {
            let error = given_parameters(&[], Some(object), &Metadata::default());
            let told = error.expect_err("twice").to_string();
            assert!(told.contains("the key `x` occurs twice"), "{told}");
            assert!(!told.contains("canary"), "{told}");
        }
    }

    #[test]
    fn both_forms_together_are_refused_in_bolts_words() {
        let both = given_parameters(&["a=1".to_owned()], Some("{}"), &Metadata::default());
        let both = both.expect_err("both");
        assert_eq!(both.kind(), "bolt/cli-error");
        assert_eq!(
            both.to_string(),
            "Parameters must be specified through either the --params option or param=value \
             pairs, not both"
        );
        for wrong in ["[]", "{\"a\": \"canary\"", "canary"] {
            let error = given_parameters(&[], Some(wrong), &Metadata::default());
            let error = error.expect_err("no object").to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
