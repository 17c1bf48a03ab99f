//! Sample values of types, for examples.

use super::DataType;
use super::model::{Text, Type};
use super::range::Range;
use crate::Value;

impl DataType {
    /// Returns a plain value of this type if one is easily found; there is none for a pattern.
    pub fn sample(&self) -> Option<Value> {
        let value = sample(&self.0)?;
        self.check(&value).is_ok().then_some(value)
    }
}

fn sample(of: &Type) -> Option<Value> {
    Some(match of {
        Type::Any | Type::Scalar | Type::ScalarData => Value::from("text"),
        Type::Boolean(flag) => Value::Boolean(flag.unwrap_or(true)),
        Type::Integer(range) => Value::Integer(number(*range)?),
        Type::Numeric => Value::Integer(1),
        Type::Float(range) if range.from.is_finite() => Value::Float(range.from),
        Type::Float(_) => Value::Float(1.0),
        Type::String(Text::All) => Value::from("text"),
        Type::String(Text::Sized(size)) => Value::from(text(*size)?),
        Type::String(Text::Exactly(text)) => Value::from(text.as_str()),
        Type::Enum(words) => {
            let words = words.words.iter().map(String::as_str);
            // The last non-empty word, because the words are sorted: `present` rather than `absent`.
            Value::from(words.rev().find(|word| !word.is_empty())?)
        }
        Type::Optional(Some(inner)) | Type::NotUndef(Some(inner)) => sample(inner)?,
        Type::Sensitive(inner) => sample(inner)?.into_sensitive(),
        Type::Variant(types) => types.iter().find_map(sample)?,
        Type::Array(element, size) => {
            let count = size.map_or(1, |size| size.from.max(1));
            let element = sample(element)?;
            Value::Array(vec![
                element;
                usize::try_from(count).ok()?.min(MAX_SAMPLE_SIZE)
            ])
        }
        Type::Tuple(types, _) => {
            let values: Option<Vec<Value>> = types.iter().map(sample).collect();
            Value::Array(values?)
        }
        _ => return None,
    })
}

/// The maximum number of items or characters of a sample.
const MAX_SAMPLE_SIZE: usize = 64;

/// Returns the number of a range that is nearest to one.
fn number(range: Range) -> Option<i64> {
    i64::try_from(1.clamp(range.from, range.to)).ok()
}

/// Returns a text of a given size.
fn text(size: Range) -> Option<String> {
    let least = usize::try_from(size.from.max(0)).ok()?.min(MAX_SAMPLE_SIZE);
    let most = usize::try_from(size.to).unwrap_or(usize::MAX);
    let word = "text".chars().cycle();
    Some(word.take(least.max(4).min(most)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_of_its_type_where_there_is_one() {
        for (named, expected) in [
            ("Integer[1, 4094]", Some(Value::Integer(1))),
            ("Integer[100]", Some(Value::Integer(100))),
            ("Boolean", Some(Value::Boolean(true))),
            ("String[1, 3]", Some(Value::from("tex"))),
            ("Enum[present, absent]", Some(Value::from("present"))),
            ("Optional[Enum[a, b]]", Some(Value::from("b"))),
            ("Variant[Integer, String]", Some(Value::Integer(1))),
            (
                "Array[String, 2]",
                Some(Value::Array(vec!["text".into(); 2])),
            ),
            (r"Pattern[/\A\d+\z/]", None),
            ("Hash[String, String]", None),
        ] {
            let data_type = DataType::parse(named).expect("a type");
            assert_eq!(data_type.sample(), expected, "{named}");
        }
    }
}
