//! Converts data types to JSON Schema (draft 2020-12), for forms, editors and checks outside of the
//! gateway.
//!
//! Constraints that JSON Schema cannot express are put into words in the `description`, so that nothing is
//! dropped silently. A type whose values JSON cannot express admits nothing.

use serde_json::{Map, Value as Json, json};

use super::DataType;
use super::ecma;
use super::model::{EnumValues, Interval, Member, Range, Text, Type};
use super::pattern::Pattern;

impl DataType {
    /// Returns a JSON Schema that admits the same values, as far as JSON Schema can express them.
    ///
    /// No JSON Schema can distinguish `1` from `1.0`, which is not an `Integer` in Puppet.
    pub fn json_schema(&self) -> Json {
        schema(&self.0)
    }
}

fn schema(kind: &Type) -> Json {
    match kind {
        Type::Any | Type::Unit => json!({}),
        Type::Undef => json!({ "type": "null" }),
        Type::Scalar | Type::ScalarData => json!({ "type": ["string", "number", "boolean"] }),
        Type::Numeric => json!({ "type": "number" }),
        Type::Boolean(None) => json!({ "type": "boolean" }),
        Type::Boolean(Some(only)) => json!({ "const": only }),
        Type::Integer(range) => integer(*range),
        Type::Float(interval) => float(*interval),
        Type::String(Text::All) => json!({ "type": "string" }),
        Type::String(Text::Sized(size)) => sized("string", "Length", Some(*size)),
        Type::String(Text::Exactly(text)) => json!({ "const": text }),
        Type::Enum(words) => words_of(words, kind),
        Type::Pattern(patterns) => matching(patterns),
        Type::Optional(None) => json!({ "type": "null" }),
        Type::Optional(Some(inner)) => or_null(schema(inner)),
        Type::NotUndef(None) => json!({ "not": { "type": "null" } }),
        Type::NotUndef(Some(inner)) => {
            json!({ "allOf": [schema(inner), { "not": { "type": "null" } }] })
        }
        Type::Sensitive(inner) | Type::Hidden(inner) => {
            let mut inner = schema(inner);
            inner["writeOnly"] = true.into();
            inner
        }
        Type::Variant(types) if types.is_empty() => nothing(kind),
        Type::Variant(types) => json!({ "anyOf": types.iter().map(schema).collect::<Vec<_>>() }),
        Type::Collection(size) => json!({
            "anyOf": [sized("array", "Items", *size), sized("object", "Properties", *size)],
        }),
        Type::Array(element, size) => {
            let mut array = sized("array", "Items", *size);
            array["items"] = schema(element);
            array
        }
        Type::Hash(key, value, size) => hash(key, value, *size),
        Type::Tuple(types, size) => tuple(types, *size),
        Type::Struct(members) => members_of(members),
        // Every JSON value is of these types, and so are all of its parts.
        Type::Alias(_) => described(json!({}), format!("Any value of Puppet's `{kind}`.")),
        Type::Iterable(None) => json!({
            "anyOf": [{ "type": ["array", "object", "string"] }, { "type": "integer", "minimum": 0 }],
        }),
        Type::Iterable(Some(_)) | Type::Init(_) => described(
            json!({}),
            format!("A value of Puppet's data type `{kind}`, which JSON Schema cannot say."),
        ),
        Type::Default
        | Type::Binary
        | Type::CatalogEntry
        | Type::SemVerRange
        | Type::Object
        | Type::SetOfTypes
        | Type::Regexp(_)
        | Type::Foreign(..)
        | Type::Metatype(_)
        | Type::Iterator(_)
        | Type::Callable(_)
        | Type::Runtime(_)
        | Type::Class(_)
        | Type::Resource(_)
        | Type::Reference(_) => nothing(kind),
    }
}

/// Returns a schema that admits no value, with the reason.
fn nothing(kind: &Type) -> Json {
    described(
        json!({ "not": {} }),
        format!("No JSON value is of Puppet's data type `{kind}`."),
    )
}

fn described(mut schema: Json, description: String) -> Json {
    schema["description"] = description.into();
    schema
}

fn integer(Range { from, to }: Range) -> Json {
    let mut schema = json!({ "type": "integer" });
    if from != Range::UNBOUNDED_BELOW {
        schema["minimum"] = bound(from);
    }
    if to != Range::UNBOUNDED_ABOVE {
        schema["maximum"] = bound(to);
    }
    schema
}

fn bound(number: i128) -> Json {
    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 64 bits, JSON has floats only"
    )]
    i64::try_from(number).map_or_else(|_| json!(number as f64), Json::from)
}

fn float(Interval { from, to }: Interval) -> Json {
    let mut schema = json!({ "type": "number" });
    // JSON has no infinite numbers: an infinite bound is no bound.
    for (key, bound) in [("minimum", from), ("maximum", to)] {
        if bound.is_finite() {
            schema[key] = bound.into();
        }
    }
    described(schema, "Written with a decimal point: `1.0`.".to_owned())
}

/// Returns the schema of a type with `min…` and `max…` for its size.
fn sized(kind: &str, what: &str, size: Option<Range>) -> Json {
    let mut schema = json!({ "type": kind });
    let Range { from, to } = size.unwrap_or(Range::SIZES);
    if from > 0 {
        schema[format!("min{what}")] = bound(from);
    }
    if to != Range::UNBOUNDED_ABOVE {
        schema[format!("max{what}")] = bound(to);
    }
    schema
}

fn words_of(EnumValues { words, ignore_case }: &EnumValues, kind: &Type) -> Json {
    if words.is_empty() {
        return nothing(kind);
    }
    if !ignore_case {
        return json!({ "enum": words });
    }
    let alternatives: Vec<String> = words.iter().map(|word| ecma::in_any_case(word)).collect();
    let pattern = format!("^(?:{})$", alternatives.join("|"));
    let description = format!("One of {}, in upper or lower case.", words.join(", "));
    described(json!({ "type": "string", "pattern": pattern }), description)
}

fn matching(patterns: &[Pattern]) -> Json {
    match patterns {
        [] => json!({ "type": "string" }),
        [one] => matching_one(one),
        several => json!({ "anyOf": several.iter().map(matching_one).collect::<Vec<_>>() }),
    }
}

fn matching_one(pattern: &Pattern) -> Json {
    match ecma::translated(pattern.regexp().source()) {
        Some(translated) => described(
            json!({ "type": "string", "pattern": translated }),
            format!("Matches {pattern}, a regular expression of Ruby; `pattern` is ECMA-262's."),
        ),
        None => described(
            json!({ "type": "string" }),
            format!("Must match {pattern}, a regular expression of Ruby that ECMA-262 has not."),
        ),
    }
}

/// Returns the schema, extended to admit `null`.
fn or_null(schema: Json) -> Json {
    match (schema["type"].as_str(), &schema["const"]) {
        (Some(kind), Json::Null) => {
            let types = json!([kind, "null"]);
            let mut schema = schema;
            schema["type"] = types;
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

fn hash(key: &Type, value: &Type, size: Option<Range>) -> Json {
    let mut schema_of = sized("object", "Properties", size);
    schema_of["additionalProperties"] = schema(value);
    match key {
        Type::Any | Type::Unit | Type::Scalar | Type::ScalarData | Type::Alias(_) => {}
        Type::String(Text::All) => {}
        Type::String(_) | Type::Enum(_) | Type::Pattern(_) => {
            schema_of["propertyNames"] = schema(key);
        }
        // The keys of a JSON object are always texts.
        other => {
            let description = format!("Its keys are of Puppet's data type `{other}`.");
            return described(schema_of, description);
        }
    }
    schema_of
}

fn tuple(types: &[Type], size: Option<Range>) -> Json {
    let Some(last) = types.last() else {
        return sized("array", "Items", size);
    };
    let size = size.unwrap_or_else(|| Range::of_size(types.len()));
    let mut array = sized("array", "Items", Some(size));
    array["prefixItems"] = types.iter().map(schema).collect();
    // The last type applies to all further items.
    array["items"] = schema(last);
    array
}

fn members_of(members: &[Member]) -> Json {
    let named = members
        .iter()
        .map(|one| (one.name.clone(), schema(&one.value)));
    let properties: Map<String, Json> = named.collect();
    let required = members.iter().filter(|one| !one.is_optional());
    let required: Vec<&str> = required.map(|one| one.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Json {
        DataType::parse(text).expect("a type").json_schema()
    }

    #[test]
    fn types_are_translated_to_json_schema() {
        for (text, expected) in [
            ("Any", json!({})),
            ("Boolean", json!({"type": "boolean"})),
            (
                "Integer[1, 65535]",
                json!({"type": "integer", "minimum": 1, "maximum": 65535}),
            ),
            (
                "Integer[default, 3]",
                json!({"type": "integer", "maximum": 3}),
            ),
            ("String[1]", json!({"type": "string", "minLength": 1})),
            ("Enum[b, a]", json!({"enum": ["a", "b"]})),
            (
                "Optional[String[1]]",
                json!({"type": ["string", "null"], "minLength": 1}),
            ),
            (
                "Optional[Enum[a]]",
                json!({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}),
            ),
            (
                "Variant[Integer[1], Boolean]",
                json!({
                "anyOf": [{"type": "integer", "minimum": 1}, {"type": "boolean"}]}),
            ),
            (
                "Array[String, 1, 3]",
                json!({
                "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}),
            ),
            (
                "Hash[Enum[a], Integer]",
                json!({
                "type": "object", "additionalProperties": {"type": "integer"},
                "propertyNames": {"enum": ["a"]}}),
            ),
            (
                "Struct[{ a => String, Optional[b] => Boolean }]",
                json!({
                "type": "object", "required": ["a"], "additionalProperties": false,
                "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}}),
            ),
            (
                "Tuple[String, Integer]",
                json!({
                "type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "integer"},
                "prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            ),
            (
                "Sensitive[String]",
                json!({"type": "string", "writeOnly": true}),
            ),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn what_it_cannot_express_is_described_in_words() {
        for (text, word) in [
            ("Float[0.1]", "decimal point"),
            ("Regexp[/a/]", "No JSON value"),
            ("Stdlib::Port", "No JSON value"),
            ("Pattern[/(?<=a)b/]", "Must match /(?<=a)b/"),
            ("Iterable[Integer]", "`Iterable[Integer]`"),
            ("Hash[Integer, String]", "`Integer`"),
            ("Data", "`Data`"),
        ] {
            let schema = of(text);
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.contains(word), "{text}: {schema}");
        }
    }

    #[test]
    fn patterns_are_translated_and_keep_what_was_written() {
        let schema = of("Pattern[/\\A[0-9a-f]{2}\\z/]");
        assert_eq!(schema["pattern"], "^[0-9a-f]{2}$");
        assert!(
            schema["description"]
                .as_str()
                .expect("one")
                .contains("[0-9a-f]{2}")
        );
        let any_case = of("Enum[a-b, true]");
        assert_eq!(any_case["pattern"], "^(?:[aA]-[bB])$", "{any_case}");
    }
}
