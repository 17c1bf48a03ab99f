//! Puppet's data types: parsed from text, printed in canonical form, and checked against values.
//!
//! The texts of errors and violations are Puppet's own (7.23), word for word.

mod covers;
mod describe;
mod display;
mod ecma;
mod error;
mod expression;
mod general;
mod infer;
mod init;
mod instance;
mod interpret;
mod iterate;
mod json_schema;
mod lexer;
mod mismatch;
mod model;
mod normal;
mod pattern;
mod range;
mod sample;
mod secret;
mod syntax;
mod verdict;
mod wording;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::Value;
use mismatch::Quoting;
use model::Type;

pub use error::TypeError;
pub use mismatch::{Mismatch, Violation};
pub use verdict::verdict;

/// One of Puppet's data types. It displays in canonical form.
#[derive(Clone, Debug, PartialEq)]
pub struct DataType(Type);

impl DataType {
    /// Parses the text of a data type.
    ///
    /// # Errors
    /// Fails, in Puppet's wording, when the text is not a type.
    pub fn parse(text: &str) -> Result<Self, TypeError> {
        interpret::read(text)
            .map(Self)
            .map_err(|fault| TypeError::new(text, fault))
    }

    /// Returns the unknown type names in this type, such as `Stdlib::Port`. No value is of an unknown type.
    pub fn unresolved(&self) -> Vec<&str> {
        self.0.references().collect()
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Fails with every violation and its path.
    pub fn check(&self, value: &Value) -> Result<(), Mismatch> {
        self.checked(value, Quoting::Allowed)
    }

    /// Checks a secret like [`check`](Self::check), but without quoting any part of the value.
    ///
    /// # Errors
    /// Fails with every violation and its path.
    pub fn check_secret(&self, value: &Value) -> Result<(), Mismatch> {
        self.checked(value, Quoting::Forbidden)
    }

    fn checked(&self, value: &Value, quoting: Quoting) -> Result<(), Mismatch> {
        if self.0.admits(value) {
            return Ok(());
        }
        if infer::is_deeper(value, infer::MAX_DEPTH) {
            return Err(Mismatch::too_deep());
        }
        Err(Mismatch::new(describe::violations(
            &self.0,
            &infer::exact(value),
            quoting,
        )))
    }

    /// Whether the type is written as `Optional[...]`.
    pub fn is_optional(&self) -> bool {
        matches!(self.0, Type::Optional(_))
    }

    /// Whether every value of the other type is a value of this one.
    pub fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0)
    }

    /// Whether `undef` is a value of this type.
    pub fn accepts_undef(&self) -> bool {
        self.0.accepts_undef()
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DataType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<Self, TypeError> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for DataType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash;

    fn parse(text: &str) -> DataType {
        DataType::parse(text).expect("a type")
    }

    fn mismatch(text: &str, value: impl Into<Value>) -> Mismatch {
        parse(text).check(&value.into()).expect_err("a mismatch")
    }

    #[test]
    fn a_subject_stands_before_every_violation() {
        let both = Value::Array(vec![Value::from("a"), Value::from(1), Value::Undef]);
        assert_eq!(
            mismatch("Array[String]", both).about("parameter 'p'"),
            "parameter 'p' index 1 expects a String value, got Integer\n\
             parameter 'p' index 2 expects a String value, got Undef"
        );
        assert_eq!(
            mismatch("String[1, 10]", Value::Undef).about("parameter 'p'"),
            "parameter 'p' expects a String value, got Undef"
        );
    }

    #[test]
    fn violations_show_their_paths() {
        let value = serde_json::json!({ "a": [1, "x"], "b": [2.5] });
        let mismatch = mismatch("Hash[String, Array[Integer]]", Value::from(value));
        let paths: Vec<String> = mismatch.violations().map(Violation::path).collect();
        assert_eq!(paths, ["entry 'a' index 1", "entry 'b' index 0"]);
    }

    #[test]
    fn unknown_names_are_listed_from_left_to_right() {
        let found = parse("Hash[Stdlib::Fqdn, Struct[{ a => Optional[Stdlib::Port] }]]");
        assert_eq!(found.unresolved(), ["Stdlib::Fqdn", "Stdlib::Port"]);
        assert!(parse("Hash[String, Data]").unresolved().is_empty());
    }

    #[test]
    fn optional_is_what_is_written_so_and_undef_may_fit_others() {
        assert!(parse("Optional[String]").is_optional());
        assert!(!parse("Variant[Undef, String]").is_optional());
        assert!(parse("Variant[Undef, String]").accepts_undef());
        assert!(parse("Data").accepts_undef());
        assert!(!parse("String").accepts_undef());
    }

    #[test]
    fn an_error_of_deserialization_is_the_parse_error() {
        let error = serde_json::from_str::<DataType>("\"String[\"").expect_err("no type");
        assert!(
            error.to_string().contains("Syntax error at end of input"),
            "{error}"
        );
    }

    /// Types that refuse every canary value, each in its own way.
    const REFUSING: [&str; 14] = [
        "Integer[0, 3]",
        "Boolean[false]",
        "Enum[a, b]",
        "Optional[Enum[a, b]]",
        "Pattern[/^x$/]",
        "Optional[\"x\"]",
        "Variant[Enum[a], Pattern[/b/], Integer[0, 1]]",
        "Hash[Enum[a], Integer[0, 3]]",
        "Struct[{ a => Integer[0, 3] }]",
        "Array[Enum[a]]",
        "Tuple[Enum[a], Integer]",
        "Hash[String, Array[Enum[a]]]",
        "Variant[Struct[{ a => Boolean }], Array[Integer[0, 1], 7]]",
        "Sensitive[Integer]",
    ];

    fn canaries() -> Vec<Value> {
        let numbered = Hash::from_iter([(4711, Value::from("canary"))]);
        vec![
            Value::from("canary"),
            Value::from(4711),
            Value::from(vec_of("canary", 3)),
            Value::from(serde_json::json!({ "canary": "canary", "a": "canary" })),
            Value::from(serde_json::json!({ "a": { "canary": [4711, "canary"] } })),
            Value::Hash(numbered),
            Value::from(vec_of("canary", 1)).into_sensitive(),
        ]
    }

    fn vec_of(text: &str, times: usize) -> serde_json::Value {
        serde_json::json!(vec![text; times])
    }

    #[test]
    fn a_secret_is_never_quoted() {
        for text in REFUSING {
            for value in canaries() {
                let Err(mismatch) = parse(text).check_secret(&value) else {
                    continue;
                };
                let said = format!("{mismatch}\n{}", mismatch.about("p"));
                assert!(
                    !said.contains("canary") && !said.contains("4711"),
                    "{text}: {said}"
                );
            }
        }
    }

    #[test]
    fn a_sensitive_part_is_never_quoted_and_its_surroundings_are() {
        for text in REFUSING {
            for value in canaries() {
                let whole = Hash::from_iter([("password", value.into_sensitive())]);
                let outer = parse(&format!("Hash[String, {text}]"));
                let Err(mismatch) = outer.check(&Value::Hash(whole)) else {
                    continue;
                };
                let said = mismatch.to_string();
                assert!(
                    !said.contains("canary") && !said.contains("4711"),
                    "{text}: {said}"
                );
                assert!(said.contains("entry 'password'"), "{text}: {said}");
            }
        }
    }

    #[test]
    fn problems_of_a_secret_do_not_quote_it() {
        let value = Value::from("canary");
        let said = |text: &str| {
            parse(text)
                .check_secret(&value)
                .expect_err("wrong")
                .to_string()
        };
        assert_eq!(said("Enum[a]"), "expects a match for Enum['a'], got String");
        assert_eq!(said("Integer"), "expects an Integer value, got String");
        let value = Value::from(serde_json::json!({ "user": 1, "canary": 11 }));
        let said = parse("Struct[{ user => String }]")
            .check_secret(&value)
            .expect_err("wrong");
        assert_eq!(
            said.to_string(),
            "  entry 'user' expects a String value, got Integer\n   unrecognized key"
        );
    }

    #[test]
    fn a_sensitive_value_is_of_sensitive_types_and_of_its_own() {
        let secret = Value::from("x").into_sensitive();
        for text in [
            "Sensitive",
            "Sensitive[String]",
            "Optional[Sensitive[String]]",
            "String",
        ] {
            assert_eq!(parse(text).check(&secret), Ok(()), "{text}");
        }
        let said = parse("Sensitive[Integer]")
            .check(&secret)
            .expect_err("wrong")
            .to_string();
        assert_eq!(
            said,
            "expects a Sensitive[Integer] value, got Sensitive[String]"
        );
        let said = parse("Integer")
            .check(&secret)
            .expect_err("wrong")
            .to_string();
        assert_eq!(said, "expects an Integer value, got String");
    }

    #[test]
    fn a_runaway_pattern_is_given_up_and_refuses_the_text() {
        let text = "Pattern[/\\A(a|a)*\\1?b\\z/]";
        let said = mismatch(text, "a".repeat(40)).to_string();
        assert_eq!(
            said,
            "cannot be matched: /\\A(a|a)*\\1?b\\z/ was given up after 1000000 steps"
        );
    }

    #[test]
    fn what_is_nested_too_deeply_is_refused_not_followed() {
        let deep =
            |levels: usize| (0..levels).fold(Value::from(1), |inner, _| Value::Array(vec![inner]));
        assert_eq!(parse("Data").check(&deep(150)), Ok(()));
        for text in [
            "Data",
            "Integer",
            "Array[Array[Integer]]",
            "Iterable[Integer]",
        ] {
            let said = mismatch(text, deep(1000)).to_string();
            assert_eq!(said, "is nested more than 150 levels deep", "{text}");
        }
        for (open, inner, close) in [("Array[", "Any", "]"), ("(", "1", ")"), ("-", "1", "")] {
            let text = open.repeat(1000) + inner + &close.repeat(1000);
            let error = DataType::parse(&text).expect_err("too deep").to_string();
            assert!(error.contains("levels deep"), "{error}");
        }
        for link in ["+1", ".a", "[1]", "->1", "=1"] {
            let error = DataType::parse(&("1".to_owned() + &link.repeat(100_000)));
            assert!(
                error
                    .expect_err("too long")
                    .to_string()
                    .contains("levels deep")
            );
        }
    }
}
