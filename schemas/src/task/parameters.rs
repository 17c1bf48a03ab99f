//! Checks a task's parameters before anything runs. Messages have Puppet's wording.

use std::fmt;

use super::{Metadata, Parameter, is_name};
use crate::{Hash, Key, Value};

/// The problems of invalid parameters, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidParameters {
    /// The task's name.
    pub task: String,
    /// All problems: unknown names first, then missing values, then values of a wrong type.
    pub problems: Vec<String>,
}

/// Explains why a name that begins with `_` cannot be given. Puppet does not explain it.
const METAPARAMETER: &str =
    ": names that begin with '_' are metaparameters, which only the task runner sets";

impl Metadata {
    /// Checks the parameters that were given to the task of this name. Defaults replace values that are
    /// missing or `undef`, and the values of sensitive parameters are wrapped (Task Specification, "Task
    /// parameters"). No parameter may have a name that begins with `_`, so that a metaparameter cannot be
    /// passed.
    ///
    /// # Errors
    /// Fails with everything that is wrong, without quoting a sensitive value.
    pub fn check_parameters(&self, task: &str, given: Hash) -> Result<Hash, InvalidParameters> {
        let given = self.hide_sensitive(given);
        let problems = match &self.parameters {
            None => ill_named(&given),
            Some(_) => self.problems(&given),
        };
        if problems.is_empty() {
            Ok(self.with_defaults(given))
        } else {
            Err(InvalidParameters {
                task: task.to_owned(),
                problems,
            })
        }
    }

    /// Wraps the values of sensitive parameters before they are checked or can be shown. `undef` is not
    /// wrapped: it stands for a missing value.
    pub fn hide_sensitive(&self, given: Hash) -> Hash {
        let hide = |(key, value): (Key, Value)| {
            let sensitive = self
                .parameter(&key)
                .is_some_and(|parameter| parameter.sensitive);
            if sensitive && !value.is_undef() {
                (key, value.into_sensitive())
            } else {
                (key, value)
            }
        };
        given.into_iter().map(hide).collect()
    }

    fn problems(&self, given: &Hash) -> Vec<String> {
        let mut problems: Vec<String> = given
            .iter()
            .filter(|(key, _)| self.parameter(key).is_none())
            .map(|(key, _)| {
                let name = key.to_string();
                let why = reserved(&name);
                format!(" has no parameter named '{}'{why}", name.escape_debug())
            })
            .collect();
        let declared = || self.parameters.iter().flatten();
        for (name, parameter) in declared() {
            if parameter.is_mandatory() && given.get(name).is_none() {
                problems.push(format!(" expects a value for parameter '{name}'"));
            }
        }
        for (name, parameter) in declared() {
            let value = given
                .get(name)
                .filter(|value| !(value.is_undef() && parameter.default.is_some()));
            if let Some(Err(mismatch)) = value.map(|value| parameter.check(value)) {
                for violation in mismatch.violations() {
                    problems.push(format!(" parameter '{name}' {violation}"));
                }
            }
        }
        problems
    }

    fn with_defaults(&self, mut given: Hash) -> Hash {
        for (name, parameter) in self.parameters.iter().flatten() {
            if let Some(default) = &parameter.default
                && given.get(name).is_none_or(Value::is_undef)
            {
                given.insert(name.as_str(), default.clone());
            }
        }
        given
    }

    fn parameter(&self, key: &Key) -> Option<&Parameter> {
        self.parameters.as_ref()?.get(key.as_str()?)
    }
}

/// Returns a problem for each name that no parameter can have, for a task that accepts any parameters.
fn ill_named(given: &Hash) -> Vec<String> {
    given
        .iter()
        .map(|(key, _)| key.to_string())
        .filter(|name| !is_name(name))
        .map(|name| {
            let (why, name) = (reserved(&name), name.escape_debug());
            format!(
                "key of entry '{name}' expects a match for Pattern[/\\A[a-z][a-z0-9_]*\\z/], got \
                 '{name}'{why}"
            )
        })
        .collect()
}

/// Explains why a parameter of this name cannot be given, if the name is reserved.
fn reserved(name: &str) -> &'static str {
    if name.starts_with('_') {
        METAPARAMETER
    } else {
        ""
    }
}

impl fmt::Display for InvalidParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Task {}:\n{}", self.task, self.problems.join("\n"))
    }
}

impl std::error::Error for InvalidParameters {}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    const ORACLE: &str = include_str!("../../tests/data/task-parameters.json");

    fn hash(json: &Json) -> Hash {
        match Value::from(json.clone()) {
            Value::Hash(hash) => hash,
            other => panic!("expected an object, got {other:?}"),
        }
    }

    fn check(parameters: Json, given: Json) -> Result<Json, String> {
        let metadata = Metadata::from_json(json!({"parameters": parameters})).expect("metadata");
        metadata
            .check_parameters("t", hash(&given))
            .map(|hash| Value::Hash(hash).to_json())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn puppets_own_answers_are_given_word_by_word() {
        let oracle: Json = serde_json::from_str(ORACLE).expect("the oracle's answers");
        let cases = oracle["cases"].as_array().expect("cases");
        assert!(cases.len() >= 11);
        for case in cases {
            let task = case["task"].as_str().expect("a name");
            let metadata = match &oracle["metadata"][task] {
                Json::Null => Metadata::parse("").expect("metadata"),
                json => Metadata::from_json(json.clone()).expect("metadata"),
            };
            let told = metadata.check_parameters(task, hash(&case["params"])).err();
            assert_eq!(
                told.map(|error| error.to_string().replace(METAPARAMETER, ""))
                    .as_deref(),
                case["message"].as_str()
            );
            assert_eq!(case["ok"], case["message"].is_null());
        }
    }

    #[test]
    fn a_default_stands_where_nothing_or_undef_was_given() {
        let parameters = json!({
            "a": {"type": "String", "default": "x"},
            "b": {"type": "Integer", "default": 1},
            "c": {"type": "Optional[String]"},
        });
        assert_eq!(
            check(parameters.clone(), json!({})),
            Ok(json!({"a": "x", "b": 1}))
        );
        assert_eq!(
            check(parameters, json!({"c": null, "b": null, "a": "y"})),
            Ok(json!({"c": null, "b": 1, "a": "y"}))
        );
    }

    #[test]
    fn no_parameters_at_all_means_none_is_accepted() {
        assert_eq!(
            check(json!({}), json!({"a": 1})),
            Err("Task t:\n has no parameter named 'a'".into())
        );
        assert_eq!(check(Json::Null, json!({"a": 1})), Ok(json!({"a": 1})));
    }

    #[test]
    fn metaparameters_cannot_be_given() {
        for parameters in [Json::Null, json!({}), json!({"a": {}})] {
            for name in ["_target", "_noop", "_task", "_installdir"] {
                let told = check(parameters.clone(), json!({name: 1})).expect_err(name);
                assert!(told.contains("only the task runner sets"), "{told}");
            }
        }
    }

    #[test]
    fn a_sensitive_value_is_hidden_and_never_quoted() {
        let parameters = json!({
            "word": {"type": "Enum[x, y]", "sensitive": true},
            "hash": {"type": "Hash[String, Pattern[/a/]]", "sensitive": true},
            "number": {"type": "Integer[1, 2]", "sensitive": true},
        });
        let told = check(
            parameters.clone(),
            json!({"word": "canary", "hash": {"canary": "CANARY"}, "number": 424242}),
        )
        .expect_err("three mismatches");
        assert_eq!(told.lines().count(), 4, "{told}");
        assert!(
            !told.to_lowercase().contains("canary") && !told.contains("4242"),
            "{told}"
        );
        assert_eq!(
            check(
                parameters,
                json!({"word": "x", "hash": {"k": "a"}, "number": 1})
            ),
            Ok(json!({
                "word": "Sensitive [value redacted]",
                "hash": "Sensitive [value redacted]",
                "number": "Sensitive [value redacted]",
            }))
        );
    }

    #[test]
    fn a_sensitive_default_is_hidden_too() {
        let parameters = json!({"a": {"type": "String", "sensitive": true, "default": "canary"}});
        for given in [json!({}), json!({"a": null})] {
            assert_eq!(
                check(parameters.clone(), given),
                Ok(json!({"a": "Sensitive [value redacted]"}))
            );
        }
    }
}
