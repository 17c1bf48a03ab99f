//! The meaning of plain scalars, by the rules of Ruby's Psych 4 (`scalar_scanner.rb`).

use crate::Value;

/// Returns the value of a plain scalar, or `None` if it is a text.
///
/// What Psych reads as a date, a time or a symbol remains a text. So does a number that does not fit 64
/// bits, because a serial number must not lose its digits.
pub(super) fn plain(text: &str) -> Option<Value> {
    match text.as_bytes().first() {
        None => Some(Value::Undef),
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number(text),
        Some(_) => word(text),
    }
}

fn word(text: &str) -> Option<Value> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if text == "~" || is("null") {
        Some(Value::Undef)
    } else if is("yes") || is("true") || is("on") {
        Some(Value::Boolean(true))
    } else if is("no") || is("false") || is("off") {
        Some(Value::Boolean(false))
    } else {
        None
    }
}

fn number(text: &str) -> Option<Value> {
    special_float(text)
        .or_else(|| sexagesimal(text))
        .or_else(|| float(text))
        .or_else(|| integer(text))
}

fn special_float(text: &str) -> Option<Value> {
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    if is(".inf") || is("+.inf") {
        Some(Value::Float(f64::INFINITY))
    } else if is("-.inf") {
        Some(Value::Float(f64::NEG_INFINITY))
    } else if is(".nan") {
        Some(Value::Float(f64::NAN))
    } else {
        None
    }
}

/// Parses a sexagesimal number: `12:30:45` is 45045. With two parts, the first one still counts hours, as
/// in Psych (`1:30` is 5400).
fn sexagesimal(text: &str) -> Option<Value> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let mut parts = whole.split(':');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    let digits = unsigned(first);
    let well_formed = parts.next().is_none()
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && only(digits, b"0123456789_")
        && [Some(second), third].into_iter().flatten().all(is_sixtieth)
        && fraction.is_none_or(|fraction| only(fraction, b"0123456789_"));
    if !well_formed {
        return None;
    }
    let seconds = leading_integer(first)?
        .checked_mul(3600)?
        .checked_add(leading_integer(second)? * 60)?
        .checked_add(third.map_or(Some(0), leading_integer)?)?;
    let Some(fraction) = fraction else {
        return Some(Value::Integer(seconds));
    };
    // The fraction belongs to the last part, which is minutes if there are only two parts.
    let fraction: f64 = format!("0.{}", fraction.replace('_', "")).parse().ok()?;
    let unit = if third.is_some() { 1.0 } else { 60.0 };
    Some(Value::Float(seconds as f64 + fraction * unit))
}

fn is_sixtieth(part: &str) -> bool {
    match part.as_bytes() {
        [b'0'..=b'9'] => true,
        [tens, ones] => (b'0'..=b'5').contains(tens) && ones.is_ascii_digit(),
        _ => false,
    }
}

/// Parses an integer like Ruby's `String#to_i`: digits with single underscores between them, up to any
/// other character.
fn leading_integer(text: &str) -> Option<i64> {
    let digits = unsigned(text);
    let end = digits.find("__").unwrap_or(digits.len());
    let number: i64 = digits[..end].replace('_', "").parse().ok()?;
    Some(if text.starts_with('-') {
        -number
    } else {
        number
    })
}

/// Parses a float: `[-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][-+][0-9]+)?`.
fn float(text: &str) -> Option<Value> {
    let (whole, rest) = unsigned(text).split_once('.')?;
    let (fraction, exponent) = match rest.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (rest, None),
    };
    let well_formed = (whole.is_empty() || whole.starts_with(|c: char| c.is_ascii_digit()))
        && only(whole, b"0123456789_,")
        && only(fraction, b"0123456789")
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| {
            let digits = exponent.strip_prefix(['-', '+']).unwrap_or_default();
            !digits.is_empty() && only(digits, b"0123456789")
        });
    well_formed.then(|| without_separators(text).parse().ok().map(Value::Float))?
}

/// Parses a binary, octal (`017`, not `0o17`), decimal or hexadecimal integer.
fn integer(text: &str) -> Option<Value> {
    let digits = unsigned(text);
    let (radix, digits) = if let Some(digits) = digits.strip_prefix("0b") {
        (2, only(digits, b"01_,").then_some(digits)?)
    } else if let Some(digits) = digits.strip_prefix("0x") {
        (
            16,
            only(digits, b"0123456789abcdefABCDEF_,").then_some(digits)?,
        )
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, only(digits, b"01234567_,").then_some(digits)?)
    } else {
        (10, is_decimal(digits).then_some(digits)?)
    };
    let sign = if text.starts_with('-') { "-" } else { "" };
    i64::from_str_radix(&format!("{sign}{}", without_separators(digits)), radix)
        .ok()
        .map(Value::Integer)
}

/// Whether a text consists of digits with single separators between them.
fn is_decimal(digits: &str) -> bool {
    only(digits, b"0123456789_,")
        && digits.split(['_', ',']).all(|group| !group.is_empty())
        && !digits.is_empty()
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['-', '+']).unwrap_or(text)
}

fn only(text: &str, allowed: &[u8]) -> bool {
    text.bytes().all(|byte| allowed.contains(&byte))
}

fn without_separators(text: &str) -> String {
    text.replace(['_', ','], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from Ruby: each line has a scalar, the kind that Psych resolves it to, and its value.
    const PSYCH: &str = include_str!("psych.tsv");

    #[test]
    fn plain_scalars_mean_what_psych_says() {
        let mut wrong = Vec::new();
        for line in PSYCH.lines().filter(|line| !line.starts_with("# ")) {
            let [scalar, kind, value] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("three columns in {line}");
            };
            let expected = match kind {
                "undef" => Value::Undef,
                "boolean" => Value::Boolean(value == "true"),
                "integer" => Value::Integer(value.parse().expect("an integer")),
                "float" => Value::Float(value.parse().expect("a float")),
                // Psych refuses a few scalars that only look like numbers.
                "text" | "date" | "symbol" | "error" => Value::from(scalar),
                other => panic!("unknown kind {other}"),
            };
            let found = plain(scalar).unwrap_or_else(|| Value::from(scalar));
            if found != expected {
                wrong.push(format!("{scalar}: {expected:?}, not {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_number_beyond_64_bits_stays_a_text() {
        assert_eq!(plain("9223372036854775808"), None);
        assert!(matches!(plain(".nan"), Some(Value::Float(number)) if number.is_nan()));
    }
}
