//! Translates Ruby's regular expressions to ECMA-262, the language of JSON Schema's `pattern`.
//!
//! Only constructs with the same meaning in both are translated. Any other construct makes the translation
//! fail, because a nearly correct pattern would refuse valid values.

use std::iter::Peekable;
use std::str::Chars;

/// Translates an expression to ECMA-262's Unicode mode. Returns `None` unless the meaning is the same.
pub(super) fn translated(source: &str) -> Option<String> {
    let mut made = String::new();
    let mut rest = source.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => made.push_str(&escape(rest.next()?)?),
            '[' => made.push_str(&class(&mut rest)?),
            // In Ruby, `^` and `$` always match at lines.
            '^' => made.push_str("(?:^|(?<=\\n))"),
            '$' => made.push_str("(?:$|(?=\\n))"),
            // In Ruby, only a line feed ends a line.
            '.' => made.push_str("[^\\n]"),
            '(' => {
                made.push('(');
                if rest.next_if_eq(&'?').is_some() {
                    made.push_str("?:");
                    rest.next_if_eq(&':')?;
                }
            }
            '{' => made.push_str(&repetition(&mut rest)?),
            '*' | '+' | '?' => {
                made.push(character);
                is_followed_plainly(&mut rest)?;
            }
            ']' | '}' => return None,
            '/' => made.push_str("\\/"),
            plain => made.push(plain),
        }
    }
    Some(made)
}

/// Returns a pattern that matches a text in any case of its ASCII letters. Puppet does not fold the case of
/// other letters.
pub(super) fn in_any_case(word: &str) -> String {
    let mut made = String::new();
    for character in word.chars() {
        if character.is_ascii_alphabetic() {
            let (lower, upper) = (
                character.to_ascii_lowercase(),
                character.to_ascii_uppercase(),
            );
            made.push_str(&format!("[{lower}{upper}]"));
        } else {
            made.push_str(&literal(character));
        }
    }
    made
}

/// Escapes a literal character.
fn literal(character: char) -> String {
    if "^$\\.*+?()[]{}|/".contains(character) {
        format!("\\{character}")
    } else {
        character.to_string()
    }
}

/// Translates an escape outside a class.
fn escape(character: char) -> Option<String> {
    Some(match character {
        'A' => "^".to_owned(),
        'z' => "$".to_owned(),
        'Z' => "(?=\\n?$)".to_owned(),
        'd' | 'D' | 'w' | 'W' | 'n' | 'r' | 't' | 'f' | 'v' => format!("\\{character}"),
        's' => format!("[{SPACE}]"),
        'S' => format!("[^{SPACE}]"),
        'h' => "[0-9a-fA-F]".to_owned(),
        'H' => "[^0-9a-fA-F]".to_owned(),
        other if other.is_ascii_alphanumeric() => return None,
        other => literal(other),
    })
}

/// The characters of `\s` in Ruby; ECMA-262's `\s` has more.
const SPACE: &str = " \\t\\r\\n\\f\\v";

/// Translates a class after its opening bracket.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut made = String::from("[");
    if rest.next_if_eq(&'^').is_some() {
        made.push('^');
    }
    let first = made.len();
    // Whether the last item is a set of characters, which cannot begin a range.
    let mut is_many = false;
    loop {
        let was_many = std::mem::take(&mut is_many);
        match rest.next()? {
            ']' if made.len() > first => break,
            // Nested classes, intersections and literal brackets are not translated.
            '[' | ']' => return None,
            '&' if rest.peek() == Some(&'&') => return None,
            '\\' => match rest.next()? {
                many @ ('s' | 'h' | 'd' | 'w' | 'D' | 'W') => {
                    is_many = true;
                    match many {
                        's' => made.push_str(SPACE),
                        'h' => made.push_str("0-9a-fA-F"),
                        other => made.extend(['\\', other]),
                    }
                }
                control @ ('n' | 'r' | 't' | 'f' | 'v') => made.extend(['\\', control]),
                other if other.is_ascii_alphanumeric() => return None,
                other => made.push_str(&in_class(other)),
            },
            '-' if was_many && rest.peek() != Some(&']') => return None,
            '-' => made.push('-'),
            other => made.push_str(&in_class(other)),
        }
    }
    made.push(']');
    Some(made)
}

/// Escapes a literal character in a class.
fn in_class(character: char) -> String {
    if "^$\\.*+?()[]{}|/-".contains(character) {
        format!("\\{character}")
    } else {
        character.to_string()
    }
}

/// Translates `{2}`, `{2,}` or `{2,5}` after its opening brace. ECMA-262 does not have Ruby's `{,5}`.
fn repetition(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut made = String::from("{");
    loop {
        match rest.next()? {
            digit if digit.is_ascii_digit() => made.push(digit),
            ',' if made.len() > 1 && !made.contains(',') => made.push(','),
            '}' if made.len() > 1 => break,
            _ => return None,
        }
    }
    // `{2}?` is lazy in ECMA-262, but optional in Ruby.
    if !made.contains(',') && rest.peek() == Some(&'?') {
        return None;
    }
    made.push('}');
    is_followed_plainly(rest)?;
    Some(made)
}

/// Returns `None` if a second quantifier follows, other than the lazy `?`.
fn is_followed_plainly(rest: &mut Peekable<Chars<'_>>) -> Option<()> {
    (!matches!(rest.peek(), Some('+' | '*' | '{'))).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_is_translated() {
        for (ruby, ecma) in [
            (r"\A[a-z]+\z", "^[a-z]+$"),
            (r"\A(?:a|b){2,}\.c\z", r"^(?:a|b){2,}\.c$"),
            (
                r"\A\h\h:\s\S",
                r"^[0-9a-fA-F][0-9a-fA-F]:[ \t\r\n\f\v][^ \t\r\n\f\v]",
            ),
            (r"^x$", r"(?:^|(?<=\n))x(?:$|(?=\n))"),
            (r"a.b", r"a[^\n]b"),
            (r"\A[\w.-]+@\-\z", r"^[\w\.-]+@-$"),
            (r"a/b", r"a\/b"),
        ] {
            assert_eq!(translated(ruby).as_deref(), Some(ecma), "{ruby}");
        }
        assert_eq!(in_any_case("a-1."), r"[aA]-1\.");
    }

    #[test]
    fn what_does_not_is_left_alone() {
        for ruby in [
            r"(?<name>a)",
            r"(?i)a",
            r"(?=a)",
            r"a++",
            r"a{,3}",
            r"[[:alpha:]]",
            r"[a&&b]",
            r"\p{L}",
            r"\b",
            r"(a)\1",
            r"\G",
            r"a{",
            r"a}",
            r"[]a]",
            r"a{2}?",
            r"[\w-z]",
        ] {
            assert_eq!(translated(ruby), None, "{ruby}");
        }
    }
}
