//! The JSON Schemas of modules. Violations are reported without quoting a value.

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, ValidationError, Validator};
use serde_json::Value as Json;

/// A compiled schema.
#[derive(Clone, Debug)]
pub struct JsonSchema {
    source: Json,
    validator: Validator,
    is_of_unknown_draft: bool,
}

/// The reason why a text is not a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(path))]
pub struct SchemaProblem {
    /// The place in the schema, as a JSON pointer; empty for the whole schema.
    pub path: String,
    /// The problem.
    pub message: String,
}

/// Every violation of a schema by a value. Keys are named but values never are, because any may be a
/// secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Misfit {
    /// The place in the value (a JSON pointer; empty for the whole) and what was expected there.
    pub problems: Vec<(String, String)>,
}

/// The supported drafts.
const DRAFTS: [Draft; 5] = [
    Draft::Draft4,
    Draft::Draft6,
    Draft::Draft7,
    Draft::Draft201909,
    Draft::Draft202012,
];

/// Keywords whose value is not a schema, but an object with a schema under each name.
const BY_NAME: [&str; 4] = [
    "properties",
    "patternProperties",
    "dependencies",
    "dependentSchemas",
];

/// Keywords that hold values, or schemas that only references use.
const NO_SCHEMAS: [&str; 6] = [
    "enum",
    "const",
    "default",
    "examples",
    "definitions",
    "$defs",
];

/// The word for a value in a message.
const VALUE: &str = "the value";

impl JsonSchema {
    /// Compiles a schema for the draft that its `$schema` names. A schema that names no draft or an unknown
    /// draft is read as Draft 4, as pxp-agent reads all schemas. If it is not valid there, it is read as
    /// draft 2020-12.
    ///
    /// References are refused, as pxp-agent refuses them.
    ///
    /// # Errors
    /// Fails with the reason why it is not a schema.
    pub fn new(schema: &Json) -> Result<Self, SchemaProblem> {
        if let Some(path) = reference(schema) {
            let message = "support for JSON References (`$ref`) is not enabled, as in pxp-agent: write the schema \
                           that is meant in their place"
                .to_owned();
            return Err(SchemaProblem { path, message });
        }
        // A format is only an annotation, as in pxp-agent.
        let options = jsonschema::options().should_validate_formats(false);
        let mut plain = schema.clone();
        let named = plain
            .as_object_mut()
            .and_then(|schema| schema.shift_remove("$schema"));
        let read = |draft| options.clone().with_draft(draft).build(&plain);
        let known = named.as_ref().and_then(Json::as_str);
        let known = known.map(Draft::from_schema_uri);
        let known = known.filter(|draft| DRAFTS.contains(draft));
        let validator = match known {
            Some(draft) => read(draft),
            // If a schema is valid in neither draft, the error is that of Draft 4.
            None => {
                read(Draft::Draft4).or_else(|problem| read(Draft::Draft202012).map_err(|_| problem))
            }
        };
        let validator = validator.map_err(|problem| SchemaProblem {
            path: problem.instance_path().to_string(),
            message: told(&problem).to_string(),
        })?;
        Ok(Self {
            source: schema.clone(),
            validator,
            is_of_unknown_draft: named.is_some() && known.is_none(),
        })
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Fails with every violation.
    pub fn check(&self, value: &Json) -> Result<(), Misfit> {
        let errors = self.validator.iter_errors(value);
        let problems: Vec<_> = errors
            .map(|error| {
                let message = error.masked_with(VALUE).to_string();
                (error.instance_path().to_string(), message)
            })
            .collect();
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Misfit { problems })
        }
    }

    /// Whether `$schema` names an unknown draft.
    pub fn is_of_unknown_draft(&self) -> bool {
        self.is_of_unknown_draft
    }

    /// Returns the schema as it was written.
    pub fn source(&self) -> &Json {
        &self.source
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (path, message)) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}{message}", place(path))?;
        }
        Ok(())
    }
}

/// Returns the first place where a schema refers to another, as a JSON pointer. Values, and schemas that
/// only references use (`definitions`), are not searched.
fn reference(schema: &Json) -> Option<String> {
    match schema {
        Json::Object(keywords) if keywords.get("$ref").is_some_and(Json::is_string) => {
            Some(String::new())
        }
        Json::Object(keywords) => {
            let mut inner = keywords
                .iter()
                .filter(|(keyword, _)| !NO_SCHEMAS.contains(&keyword.as_str()));
            inner.find_map(|(keyword, value)| {
                let path = match value {
                    Json::Object(named) if BY_NAME.contains(&keyword.as_str()) => {
                        named.iter().find_map(|(name, schema)| below(name, schema))
                    }
                    value => reference(value),
                };
                path.map(|path| format!("/{keyword}{path}"))
            })
        }
        Json::Array(schemas) => {
            let mut schemas = schemas.iter().enumerate();
            schemas.find_map(|(index, schema)| below(&index.to_string(), schema))
        }
        _ => None,
    }
}

fn below(name: &str, schema: &Json) -> Option<String> {
    let name = name.replace('~', "~0").replace('/', "~1");
    reference(schema).map(|path| format!("/{name}{path}"))
}

/// Returns the most useful error: if a schema has several forms, the reason why it does not match the first
/// one.
fn told<'a, 'b>(problem: &'a ValidationError<'b>) -> &'a ValidationError<'b> {
    match problem.kind() {
        ValidationErrorKind::AnyOf { context } => {
            let first = context.iter().flatten().next();
            first.unwrap_or(problem)
        }
        _ => problem,
    }
}

fn place(path: &str) -> String {
    match path {
        "" => String::new(),
        path => format!("at `{path}`: "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(schema: Json) -> JsonSchema {
        JsonSchema::new(&schema).expect("it is a schema")
    }

    #[test]
    fn mismatches_are_reported_with_their_place_and_not_quoted() {
        let schema = schema(json!({
            "type": "object",
            "properties": {
                "port": {"type": "integer", "maximum": 65535},
                "mode": {"enum": ["on", "off"]},
                "name": {"type": "string", "pattern": "^[a-z]+$"},
            },
            "required": ["port"],
            "additionalProperties": false,
        }));
        assert_eq!(schema.check(&json!({"port": 1, "mode": "on"})), Ok(()));
        let value =
            json!({"port": "canary", "mode": "canary", "name": "CANARY", "wrong": "canary"});
        let told = schema.check(&value).expect_err("wrong").to_string();
        for place in ["`/port`", "`/mode`", "`/name`", "wrong"] {
            assert!(told.contains(place), "{told}");
        }
        assert!(!told.to_lowercase().contains("canary"), "{told}");
        let told = schema.check(&json!({})).expect_err("wrong").to_string();
        assert_eq!(told, "\"port\" is a required property");
    }

    #[test]
    fn a_schema_without_a_draft_is_of_draft_4_or_of_the_newest() {
        let four = schema(json!({"maximum": 5, "exclusiveMaximum": true}));
        assert!(four.check(&json!(5)).is_err() && four.check(&json!(4)).is_ok());
        let newest = schema(json!({"exclusiveMaximum": 5}));
        assert!(newest.check(&json!(5)).is_err() && newest.check(&json!(4)).is_ok());
    }

    #[test]
    fn every_draft_from_4_to_2020_12_is_known_by_its_name() {
        for (draft, constant) in [
            ("http://json-schema.org/draft-04/schema#", false),
            ("http://json-schema.org/draft-06/schema#", true),
            ("http://json-schema.org/draft-07/schema#", true),
            ("https://json-schema.org/draft/2019-09/schema", true),
            ("https://json-schema.org/draft/2020-12/schema", true),
        ] {
            let schema = schema(json!({"$schema": draft, "const": 1}));
            assert_eq!(schema.check(&json!(2)).is_err(), constant, "{draft}");
        }
    }

    #[test]
    fn a_draft_that_nobody_knows_is_draft_4() {
        for unknown in [
            json!("http://json-schema.org/draft-03/schema#"),
            json!("http://example.com/mine"),
            json!(4),
        ] {
            let schema =
                schema(json!({"$schema": unknown, "maximum": 5, "exclusiveMaximum": true}));
            assert!(schema.check(&json!(5)).is_err(), "{unknown}");
            assert!(schema.is_of_unknown_draft());
            assert_eq!(schema.source()["$schema"], unknown);
        }
    }

    #[test]
    fn invalid_schemas_are_reported_with_their_place() {
        for (wrong, place) in [
            (json!({"type": "objekt"}), "/type"),
            (
                json!({"properties": {"a": {"required": "b"}}}),
                "/properties/a/required",
            ),
            (json!({"properties": []}), "/properties"),
            (json!({"pattern": "(["}), ""),
        ] {
            let problem = JsonSchema::new(&wrong).expect_err(&wrong.to_string());
            assert!(problem.path.starts_with(place), "{wrong}: {problem:?}");
            assert!(!problem.message.is_empty());
        }
    }

    #[test]
    fn references_are_refused_wherever_a_schema_stands_and_nowhere_else() {
        let to_self = json!({"$ref": "#/definitions/a"});
        for (refers, place) in [
            (to_self.clone(), ""),
            (json!({"$ref": "http://example.com/schema"}), ""),
            (json!({"properties": {"a/b": to_self}}), "/properties/a~1b"),
            (json!({"properties": {"$ref": to_self}}), "/properties/$ref"),
            (json!({"items": [{}, {"not": to_self}]}), "/items/1/not"),
            (
                json!({"anyOf": [{"additionalProperties": to_self}]}),
                "/anyOf/0/additionalProperties",
            ),
            (
                json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [to_self]}),
                "/prefixItems/0",
            ),
        ] {
            let problem = JsonSchema::new(&refers).expect_err(&refers.to_string());
            assert_eq!(problem.path, place, "{refers}");
            assert!(problem.message.contains("JSON References"), "{problem}");
        }
        for plain in [
            json!({"properties": {"$ref": {"type": "string"}}}),
            json!({"enum": [to_self], "default": to_self}),
            json!({"definitions": {"a": to_self}}),
        ] {
            schema(plain);
        }
    }
}
