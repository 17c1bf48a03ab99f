//! Formatting helpers that the errors share.

use std::io;
use std::time::Duration;

use devgate_schemas::{quotable, shortened};

/// The maximum number of characters of a line from a peer in a message.
pub(super) const LONGEST_QUOTED: usize = 400;

/// The maximum number of characters of a reason of many lines in a message.
const LONGEST_REASON: usize = 8 << 10;

/// Returns the number of seconds, rounded to tenths.
pub(crate) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10.0).round() / 10.0
}

pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn quoted_message(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!(", saying `{}`", one_line(text))
    }
}

/// Returns a peer's text on one line, shortened for a message. Lines that only point at a column are left out. Possible secrets are redacted, because the text
/// may be a configuration line.
pub(crate) fn one_line(text: &str) -> String {
    quoted(&joined(text))
}

/// Returns a peer's text as [`one_line`] does, with all its lines.
pub(super) fn all_lines(text: &str) -> String {
    quotable(&shortened(&joined(text), LONGEST_REASON))
}

fn joined(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.chars().all(|c| matches!(c, '^' | '~' | ' ')))
        .collect();
    lines.join(" / ")
}

/// Returns a sentence without its full stop if a hint follows it.
pub(super) fn before<'t>(hint: &str, sentence: &'t str) -> &'t str {
    match hint.is_empty() {
        true => sentence,
        false => sentence.trim_end_matches('.'),
    }
}

/// Returns a line from a peer, shortened, with possible secrets redacted.
pub(super) fn quoted(line: &str) -> String {
    quotable(&shortened(line, LONGEST_QUOTED))
}

/// Describes a character that may not be typed.
pub(super) fn describe_character(character: char) -> String {
    match character {
        char::REPLACEMENT_CHARACTER => {
            "U+FFFD, which replaces bytes of the device that are not UTF-8".to_owned()
        }
        control => format!("the control character {control:?}"),
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::{Mask, Value};

    use super::*;

    #[test]
    fn what_a_secret_begins_with_is_hidden_where_a_quotation_is_cut() {
        let secret = "SecretCanaryWordAlpha";
        let mask = Mask::new(&[Value::from(secret)]);
        for before in 370..400 {
            let message = format!(
                "{}{secret}yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
                "x".repeat(before)
            );
            let told = mask.text(&quoted(&message)).into_owned();
            assert!(told.ends_with("...") && !told.contains("Secr"), "{told}");
        }
    }
}
