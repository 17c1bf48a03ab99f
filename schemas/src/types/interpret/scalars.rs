//! Interprets the parameters of scalar types: ranges, words, patterns.

use super::literal::{Literal, one};
use crate::types::display;
use crate::types::error::Fault;
use crate::types::model::{EnumValues, Interval, Range, Type};
use crate::types::pattern::Pattern;

/// Creates a range if its bounds are in order.
pub(super) fn range(from: Option<i128>, to: Option<i128>) -> Result<Range, Fault> {
    let range = Range {
        from: from.unwrap_or(Range::UNBOUNDED_BELOW),
        to: to.unwrap_or(Range::UNBOUNDED_ABOVE),
    };
    if range.from > range.to {
        return Err(reversed(&range.from.to_string(), &range.to.to_string()));
    }
    Ok(range)
}

/// Returns Puppet's error text, which lacks a closing bracket.
fn reversed(from: &str, to: &str) -> Fault {
    Fault::Argument(format!(
        "'from' must be less or equal to 'to'. Got ({from}, {to}"
    ))
}

/// Interprets the bounds of an `Integer`. Returns `None` if a lone parameter cannot be a bound.
pub(super) fn integer(parameters: &[Literal]) -> Result<Option<Type>, Fault> {
    match parameters {
        [Literal::Integer(from)] => {
            range(Some(*from), None).map(|range| Some(Type::Integer(range)))
        }
        [Literal::Default] => Ok(Some(Type::INTEGER)),
        [_] => Ok(None),
        [from, to] => range(integer_bound(from, from, to)?, integer_bound(to, from, to)?)
            .map(|range| Some(Type::Integer(range))),
        _ => Err(Fault::parameters("Integer", "1 or 2", parameters.len())),
    }
}

/// Interprets one of two bounds. Ruby compares the bounds before it checks their types.
fn integer_bound(bound: &Literal, from: &Literal, to: &Literal) -> Result<Option<i128>, Fault> {
    match bound {
        Literal::Integer(number) => Ok(Some(*number)),
        Literal::Default | Literal::Undef => Ok(None),
        _ => Err(incomparable(from, to)),
    }
}

/// Returns Ruby's error for comparing a text with a number. Other bounds pass the comparison and fail
/// later.
fn incomparable(from: &Literal, to: &Literal) -> Fault {
    let name = |one: &Literal| match one {
        Literal::Default | Literal::Undef => "Float".to_owned(),
        other => other.class(),
    };
    let reason = match (from, to) {
        (Literal::Text(from), Literal::Text(to)) if from > to => return reversed(from, to),
        (Literal::Text(_), Literal::Integer(to)) => {
            format!("comparison of String with {to} failed")
        }
        (Literal::Text(_), Literal::Default | Literal::Undef) => {
            "comparison of String with Infinity failed".to_owned()
        }
        (Literal::Integer(_) | Literal::Default | Literal::Undef, Literal::Text(_)) => {
            format!("comparison of {} with String failed", name(from))
        }
        _ => format!(
            "an Integer is bounded by whole numbers or default, got {} and {}",
            from.class(),
            to.class()
        ),
    };
    Fault::Argument(reason)
}

/// Interprets the bounds of a `Float`. Returns `None` if a lone parameter cannot be a bound.
pub(super) fn float(parameters: &[Literal]) -> Result<Option<Type>, Fault> {
    let interval = match parameters {
        [from @ (Literal::Integer(_) | Literal::Float(_))] => Interval {
            from: float_bound(from, f64::NEG_INFINITY)?,
            to: f64::INFINITY,
        },
        [Literal::Default] => Interval::ALL,
        [_] => return Ok(None),
        [from, to] => Interval {
            from: float_bound(from, f64::NEG_INFINITY)?,
            to: float_bound(to, f64::INFINITY)?,
        },
        _ => return Err(Fault::parameters("Float", "1 or 2", parameters.len())),
    };
    if interval.from > interval.to {
        return Err(reversed(
            &display::float(interval.from),
            &display::float(interval.to),
        ));
    }
    Ok(Some(Type::Float(interval)))
}

fn float_bound(bound: &Literal, open: f64) -> Result<f64, Fault> {
    match bound {
        Literal::Integer(number) => Ok(*number as f64),
        Literal::Float(number) => Ok(*number),
        Literal::Default | Literal::Undef => Ok(open),
        Literal::Text(text) => text
            .trim()
            .parse()
            .map_err(|_| Fault::Argument(format!("invalid value for Float(): {text:?}"))),
        other => Err(Fault::Argument(format!(
            "can't convert {} into Float",
            other.class()
        ))),
    }
}

pub(super) fn boolean(parameters: &[Literal]) -> Result<Type, Fault> {
    match parameters {
        [Literal::Boolean(truth)] => Ok(Type::Boolean(Some(*truth))),
        [_] => Err(Fault::Unrecognised(
            "Boolean parameter must be true or false".to_owned(),
        )),
        _ => Err(Fault::parameters("Boolean", "1", parameters.len())),
    }
}

/// Interprets the words of an `Enum` and whether it ignores case.
pub(super) fn words(mut parameters: Vec<Literal>) -> Result<Type, Fault> {
    let ignore_case = match parameters.last() {
        Some(Literal::Boolean(truth)) => {
            let truth = *truth;
            parameters.pop();
            truth
        }
        _ => false,
    };
    if parameters.is_empty() {
        return Err(Fault::parameters("Enum", "1 or more", 0));
    }
    let words: Option<Vec<String>> = parameters
        .into_iter()
        .map(|one| match one {
            Literal::Text(word) => Some(word),
            _ => None,
        })
        .collect();
    match words {
        Some(words) => Ok(Type::Enum(EnumValues::new(words, ignore_case))),
        None => Err(Fault::Unrecognised(
            "Enum parameters must be identifiers or strings".to_owned(),
        )),
    }
}

pub(super) fn patterns(parameters: Vec<Literal>) -> Result<Type, Fault> {
    let mut patterns: Vec<Pattern> = Vec::new();
    for parameter in parameters {
        let found = match parameter {
            Literal::Text(source) => vec![Pattern::new(&source)?],
            Literal::Regexp(pattern) => vec![pattern],
            Literal::Type(Type::Regexp(Some(pattern))) => vec![pattern],
            Literal::Type(Type::Regexp(None)) => vec![Pattern::new("")?],
            Literal::Type(Type::Pattern(patterns)) => patterns,
            other => {
                return Err(Fault::Argument(format!(
                    "Only String, Regexp, Pattern-Type, and Regexp-Type are allowed: got '{}",
                    other.class()
                )));
            }
        };
        for one in found {
            if !patterns.contains(&one) {
                patterns.push(one);
            }
        }
    }
    Ok(Type::Pattern(patterns))
}

pub(super) fn regexp(parameters: Vec<Literal>) -> Result<Type, Fault> {
    match one(parameters, "Regexp", "1")? {
        Literal::Text(source) => Ok(Type::Regexp(Some(Pattern::new(&source)?))),
        Literal::Regexp(pattern) => Ok(Type::Regexp(Some(pattern))),
        other => Err(Fault::Argument(format!(
            "no implicit conversion of {} into String",
            other.class()
        ))),
    }
}

/// Interprets a runtime and the name of one of its classes.
pub(super) fn runtime(parameters: Vec<Literal>) -> Result<Type, Fault> {
    let wrong = |what: &str, expected: &str, given: &Literal| {
        let given = given.inferred();
        Fault::Argument(format!(
            "Runtime '{what}' has wrong type, expects a {expected}, got {}",
            given.name()
        ))
    };
    match parameters.as_slice() {
        [
            Literal::Text(runtime),
            name @ (Literal::Text(_) | Literal::List(_)),
        ] => Ok(Type::Runtime(format!("{runtime}, {}", name.canonical()))),
        [Literal::Text(_), name] => Err(wrong(
            "name_or_pattern",
            "value of type String or Tuple",
            name,
        )),
        [runtime, _] => Err(wrong("runtime", "String value", runtime)),
        _ => Err(Fault::parameters("Runtime", "2", parameters.len())),
    }
}
