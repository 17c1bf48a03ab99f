//! Classes of characters, and escape sequences.

use super::rewrite::{Item, Rewriter};

/// An escape sequence.
pub(super) enum Escape {
    Character(char),
    Class(char),
    Anchor(&'static str),
    Reference(String),
}

impl Rewriter<'_> {
    /// Rewrites a class after its opening bracket.
    pub(super) fn class(&mut self) -> Result<(), String> {
        const OPEN: &str = "unterminated character set";
        self.last = Item::Atom(self.out.len());
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut is_first = true;
        loop {
            let low = match self.rest.next().ok_or(OPEN)? {
                ']' if !is_first => break,
                c => self.class_item(c)?,
            };
            is_first = false;
            let mut ahead = self.rest.clone();
            let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']');
            let Some(low) = low else {
                if is_range {
                    return Err("bad character range".to_owned());
                }
                continue;
            };
            let mut high = low;
            if is_range {
                self.rest.next();
                let c = self.rest.next().ok_or(OPEN)?;
                let item = self.class_item(c)?;
                high = item
                    .filter(|high| *high >= low)
                    .ok_or("bad character range")?;
            }
            for (before, c) in [("", low), ("-", high)] {
                let code = u32::from(c);
                self.out.push_str(&format!("{before}\\x{{{code:x}}}"));
            }
        }
        self.out.push(']');
        Ok(())
    }

    /// Reads one character of a class. A set is written at once.
    fn class_item(&mut self, c: char) -> Result<Option<char>, String> {
        if c != '\\' {
            return Ok(Some(c));
        }
        match self.escape(true)? {
            Escape::Character(c) => Ok(Some(c)),
            Escape::Class(class) => {
                self.out.push_str(set(class, self.flags.ascii));
                Ok(None)
            }
            Escape::Anchor(_) | Escape::Reference(_) => Err("bad escape".to_owned()),
        }
    }

    /// Reads an escape sequence after its backslash.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<Escape, String> {
        let c = self.rest.next().ok_or("bad escape (end of pattern)")?;
        Ok(match c {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => Escape::Class(c),
            'b' if in_class => Escape::Character('\u{8}'),
            'A' if !in_class => Escape::Anchor(r"\A"),
            'Z' if !in_class => Escape::Anchor(r"\z"),
            'b' if !in_class => Escape::Anchor(r"\b"),
            'B' if !in_class => Escape::Anchor(r"\B"),
            'a' => Escape::Character('\u{7}'),
            'f' => Escape::Character('\u{c}'),
            'n' => Escape::Character('\n'),
            'r' => Escape::Character('\r'),
            't' => Escape::Character('\t'),
            'v' => Escape::Character('\u{b}'),
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            'U' => self.code(8)?,
            '0'..='9' => self.number(c, in_class)?,
            c if c.is_ascii_alphabetic() => return Err(format!("bad escape \\{c}")),
            c => Escape::Character(c),
        })
    }

    fn code(&mut self, digits: usize) -> Result<Escape, String> {
        let text: String = self.rest.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.len() == digits);
        let character = code.and_then(char::from_u32);
        character
            .map(Escape::Character)
            .ok_or_else(|| "incomplete escape".to_owned())
    }

    /// Reads an octal number, or a reference to a group.
    fn number(&mut self, first: char, in_class: bool) -> Result<Escape, String> {
        let mut digits = first.to_string();
        let octal = |c: &char| ('0'..='7').contains(c);
        let mut ahead = self.rest.clone();
        let next_two = [ahead.next(), ahead.next()];
        let is_long = octal(&first) && next_two.iter().all(|c| c.as_ref().is_some_and(octal));
        if first == '0' || is_long || in_class {
            while digits.len() < 3 {
                match self.rest.next_if(octal) {
                    Some(digit) => digits.push(digit),
                    None => break,
                }
            }
            let code = u32::from_str_radix(&digits, 8)
                .ok()
                .and_then(char::from_u32);
            return code
                .map(Escape::Character)
                .ok_or_else(|| "bad escape".to_owned());
        }
        digits.extend(self.rest.next_if(char::is_ascii_digit));
        Ok(Escape::Reference(format!("(?:\\{digits})")))
    }
}

/// A set of characters as the engine writes it. It is valid inside and outside of brackets.
pub(super) fn set(class: char, ascii: bool) -> &'static str {
    let [unicode, in_ascii] = match class {
        'd' => [r"\d", "[0-9]"],
        'D' => [r"\D", "[^0-9]"],
        's' => [r"[\s\x{1c}-\x{1f}]", r"[\x{9}-\x{d} ]"],
        'S' => [r"[^\s\x{1c}-\x{1f}]", r"[^\x{9}-\x{d} ]"],
        'w' => [r"[\p{L}\p{N}_]", "[0-9A-Za-z_]"],
        _ => [r"[^\p{L}\p{N}_]", "[^0-9A-Za-z_]"],
    };
    if ascii { in_ascii } else { unicode }
}
