//! Reads numbers as strictly as Puppet does.

use super::{Lexer, TokenKind, word_length};
use crate::types::error::Fault;

impl Lexer<'_> {
    /// Reads a number. Specification: it is decimal, octal with a leading 0, hexadecimal with 0x, or has a
    /// fraction.
    pub(super) fn number(&mut self) -> Result<(), Fault> {
        let offset = self.at;
        match length(self.rest()) {
            Some(length) => {
                let number = self.rest()[..length].to_owned();
                if let Some(message) = fault_of(&number) {
                    return Err(self.fault(message, offset));
                }
                self.at += length;
                self.push(TokenKind::Number, number, offset);
                Ok(())
            }
            None => {
                let mut start = offset;
                // Puppet also shows the digits before a dot.
                if offset > 1 && self.text[..offset].ends_with('.') {
                    let before = &self.text[..offset - 1];
                    let digits = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
                    start = if digits < before.len() {
                        digits
                    } else {
                        offset
                    };
                }
                let word = word_length(self.rest());
                let number = &self.text[start..offset + word];
                match fault_of(number) {
                    Some(message) => Err(self.fault(message, start)),
                    None => Err(self.fault(format!("Illegal number '{number}'"), offset + 1)),
                }
            }
        }
    }
}

/// Returns the length of the number at the start: as long as possible, but no letter may follow.
fn length(text: &str) -> Option<usize> {
    let digits = |from: usize| {
        let rest = &text[from..];
        rest.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let hexadecimal = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .map(|hex| {
            2 + hex
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(hex.len())
        });
    let whole = digits(0);
    let fraction = match text[whole..].starts_with('.') {
        true if digits(whole + 1) > 0 => whole + 1 + digits(whole + 1),
        _ => whole,
    };
    let exponent = |from: usize| {
        let rest = text[from..].strip_prefix(['e', 'E'])?;
        let sign = usize::from(rest.starts_with('-'));
        let length = digits(from + 1 + sign);
        (length > 0).then_some(from + 1 + sign + length)
    };
    let candidates = [
        hexadecimal.filter(|end| *end > 2),
        exponent(fraction),
        Some(fraction),
        exponent(whole),
        Some(whole),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|end| !text[*end..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Returns what is wrong with a number, in Puppet's wording.
fn fault_of(number: &str) -> Option<String> {
    let all = |text: &str, is: fn(&char) -> bool| !text.is_empty() && text.chars().all(|c| is(&c));
    let mut chars = number.chars();
    let (first, second) = (chars.next(), chars.next());
    if first == Some('0') && matches!(second, Some('x' | 'X')) {
        let wrong = !all(&number[2..], char::is_ascii_hexdigit);
        return wrong.then(|| format!("Not a valid hex number {number}"));
    }
    if first == Some('0') && second.is_some_and(|c| c != '.') {
        let wrong = !all(number, |c| matches!(c, '0'..='7'));
        return wrong.then(|| format!("Not a valid octal number {number}"));
    }
    let digits = number
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(number.len());
    if number[digits..].starts_with(['e', 'E', '.']) {
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (number, None),
        };
        let fraction = mantissa.split_once('.').map(|(_, fraction)| fraction);
        let sound = fraction.is_none_or(|digits| all(digits, char::is_ascii_digit))
            && exponent.is_none_or(|text| {
                all(text.strip_prefix('-').unwrap_or(text), char::is_ascii_digit)
            });
        return (!sound).then(|| format!("Not a valid decimal number {number}"));
    }
    (digits < number.len()).then(|| format!("Illegal number '{number}'"))
}
