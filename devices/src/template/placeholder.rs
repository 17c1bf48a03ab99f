//! Placeholders: what stands for a secret while a template is rendered.
//!
//! A placeholder is a number between two control characters, which no value may contain. Where a template puts the secret
//! in quotes, a mark follows for each time, with the further characters that are escaped.

use super::quoting;

/// The characters around a placeholder.
pub(super) const MARKS: [char; 2] = ['\u{1}', '\u{2}'];

/// What marks a placeholder whose secret stands in quotes.
const QUOTED: char = '\u{4}';

/// What stands for a secret.
pub(super) struct Placeholder<'t> {
    pub(super) number: usize,
    /// The further characters that are escaped, for each time that it was put in quotes.
    pub(super) quotings: Vec<&'t str>,
}

/// Returns the placeholder of the secret of this number.
pub(super) fn of(number: usize) -> String {
    let [begin, end] = MARKS;
    format!("{begin}{number}{end}")
}

/// Finds the first placeholder of a text, and returns the texts before and behind it.
pub(super) fn next(text: &str) -> Option<(&str, Placeholder<'_>, &str)> {
    let (before, rest) = text.split_once(MARKS[0])?;
    let (inside, after) = rest.split_once(MARKS[1])?;
    let mut parts = inside.split(QUOTED);
    let placeholder = Placeholder {
        number: parts.next()?.parse().ok()?,
        quotings: parts.collect(),
    };
    Some((before, placeholder, after))
}

/// Escapes a text that is to stand in quotes. Its secrets are escaped when they are revealed.
pub(super) fn escaped_for_quotes(text: &str, also: &str) -> String {
    let (mut escaped, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, secret)) = rest.split_once(MARKS[0]) {
        let (secret, after) = secret.split_once(MARKS[1]).unwrap_or((secret, ""));
        escaped.push_str(&quoting::escaped(before, also));
        escaped.push(MARKS[0]);
        escaped.push_str(secret);
        escaped.push(QUOTED);
        escaped.push_str(also);
        escaped.push(MARKS[1]);
        rest = after;
    }
    escaped + &quoting::escaped(rest, also)
}
