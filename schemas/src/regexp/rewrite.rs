//! Rewrites a Ruby regular expression into the engine's, and prints it as Ruby does.

use std::fmt;

use super::RegexpError;

/// The expression with the same meaning for the engine.
pub(super) fn to_engine(source: &str) -> Result<String, RegexpError> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.char_indices().peekable();
    let mut depth = 0_usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, escaped)) => escape(escaped, depth > 0, &mut out),
                None => {
                    return Err(RegexpError::Invalid {
                        reason: "too short escape sequence".to_owned(),
                        source_text: source.to_owned(),
                    });
                }
            },
            '[' if depth > 0 && source[at..].starts_with("[:") => {
                let end = source[at..]
                    .find(":]")
                    .map_or(source.len(), |end| at + end + 2);
                out.push_str(&source[at..end]);
                while chars.next_if(|(next, _)| *next < end).is_some() {}
            }
            '[' => {
                depth += 1;
                out.push('[');
                if chars.next_if(|(_, next)| *next == '^').is_some() {
                    out.push('^');
                }
                if chars.next_if(|(_, next)| *next == ']').is_some() {
                    out.push_str("\\]");
                }
            }
            ']' if depth > 0 => {
                depth -= 1;
                out.push(']');
            }
            '(' if depth == 0 && source[at..].starts_with("(?") => {
                let flags: usize = source[at + 2..]
                    .find(|c: char| !matches!(c, 'i' | 'm' | 'x' | '-'))
                    .unwrap_or(source.len() - at - 2);
                let end = at + 2 + flags;
                if flags > 0 && matches!(source[end..].chars().next(), Some(')' | ':')) {
                    out.push_str("(?");
                    out.push_str(&source[at + 2..end].replace('m', "s"));
                } else {
                    out.push_str(&source[at..end]);
                }
                while chars.next_if(|(next, _)| *next < end).is_some() {}
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

fn escape(escaped: char, in_class: bool, out: &mut String) {
    let set = match escaped {
        'd' => "0-9",
        'h' => "0-9a-fA-F",
        's' => " \\t\\r\\n\\x0c\\x0b",
        'w' => "a-zA-Z0-9_",
        'D' => "^0-9",
        'H' => "^0-9a-fA-F",
        'S' => "^ \\t\\r\\n\\x0c\\x0b",
        'W' => "^a-zA-Z0-9_",
        'Z' if !in_class => return out.push_str("(?=\\n?\\z)"),
        '/' => return out.push('/'),
        other => {
            out.push('\\');
            return out.push(other);
        }
    };
    if in_class && !set.starts_with('^') {
        out.push_str(set);
    } else {
        out.push('[');
        out.push_str(set);
        out.push(']');
    }
}

/// Prints the expression as Ruby inspects it.
pub(super) fn inspect(source: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write as _;
    let bound = !source.is_ascii() || source.contains("\\p{") || source.contains("\\P{");
    f.write_str(if bound { "/(?-mix:" } else { "/" })?;
    let mut escaped = false;
    for c in source.chars() {
        match c {
            '/' if !escaped => f.write_str("\\/")?,
            other => f.write_char(other)?,
        }
        escaped = c == '\\' && !escaped;
    }
    f.write_str(if bound { ")/" } else { "/" })
}
