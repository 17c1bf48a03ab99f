//! Prints a regular expression as Ruby does.

use std::fmt::{self, Display, Formatter, Write};

/// Prints the source between slashes. Ruby shows the options of an expression that is bound to Unicode.
pub(super) fn inspect(source: &str, f: &mut Formatter<'_>) -> fmt::Result {
    if !is_bound_to_unicode(source) {
        return Plain(source).fmt(f);
    }
    let (options, inner) = outer_options(source);
    write!(f, "/(?{options}:")?;
    slashed(inner, Control::Plain, f)?;
    f.write_str(")/")
}

/// Displays the source between slashes, without options, as in errors.
pub(super) struct Plain<'s>(pub(super) &'s str);

impl Display for Plain<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('/')?;
        slashed(self.0, Control::Escaped, f)?;
        f.write_char('/')
    }
}

/// Whether control characters are shown as escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    Escaped,
    Plain,
}

fn slashed(source: &str, control: Control, f: &mut Formatter<'_>) -> fmt::Result {
    let mut escaped = false;
    for c in source.chars() {
        match c {
            '/' if !escaped => f.write_str("\\/")?,
            c if c.is_ascii_control()
                && !c.is_ascii_whitespace()
                && control == Control::Escaped =>
            {
                write!(f, "\\x{:02X}", u32::from(c))?;
            }
            c => f.write_char(c)?,
        }
        escaped = c == '\\' && !escaped;
    }
    Ok(())
}

/// Whether the expression contains a non-ASCII character or a Unicode property.
fn is_bound_to_unicode(source: &str) -> bool {
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at + 1..];
        if escape.starts_with(['p', 'P']) || beyond_ascii(escape) {
            return true;
        }
        rest = escape.strip_prefix('\\').unwrap_or(escape);
    }
    !source.is_ascii()
}

/// Whether this is a `\u` escape of a non-ASCII character.
fn beyond_ascii(escape: &str) -> bool {
    let Some(digits) = escape.strip_prefix('u') else {
        return false;
    };
    let list = match digits
        .strip_prefix('{')
        .and_then(|inner| inner.split_once('}'))
    {
        Some((list, _)) => list,
        None => digits.get(..4).unwrap_or_default(),
    };
    list.split_ascii_whitespace()
        .any(|digits| u32::from_str_radix(digits, 16).is_ok_and(|value| value > 0x7f))
}

/// Returns the options that Ruby shows and the rest of the expression. An expression that is a single group
/// of options loses that group.
fn outer_options(source: &str) -> (String, &str) {
    let none = ("-mix".to_owned(), source);
    let Some(rest) = source.strip_prefix("(?") else {
        return none;
    };
    let Some(end) = rest.find([':', ')']) else {
        return none;
    };
    let (on, off) = rest[..end].split_once('-').unwrap_or((&rest[..end], ""));
    if !on
        .chars()
        .chain(off.chars())
        .all(|c| matches!(c, 'm' | 'i' | 'x'))
    {
        return none;
    }
    let inner = match rest[end..].strip_prefix(')') {
        Some(inner) => inner,
        None => match rest[end + 1..].strip_suffix(')') {
            Some(inner) if is_balanced(inner) => inner,
            _ => return none,
        },
    };
    let is_on = |option: &char| on.contains(*option) && !off.contains(*option);
    let on: String = ['m', 'i', 'x']
        .iter()
        .filter(|option| is_on(option))
        .collect();
    let off: String = ['m', 'i', 'x']
        .iter()
        .filter(|option| !is_on(option))
        .collect();
    let dash = if off.is_empty() { "" } else { "-" };
    (format!("{on}{dash}{off}"), inner)
}

/// Whether every closing parenthesis has an opening one in this text.
fn is_balanced(inner: &str) -> bool {
    let mut open = 0_i32;
    let mut escaped = false;
    for c in inner.chars() {
        match c {
            '(' if !escaped => open += 1,
            ')' if !escaped => open -= 1,
            _ => {}
        }
        if open < 0 {
            return false;
        }
        escaped = c == '\\' && !escaped;
    }
    open == 0
}
