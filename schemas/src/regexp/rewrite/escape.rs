//! Escapes: everything that a backslash introduces.

use super::rewriter::{Alphabet, Rewriter};
use super::sets::{Set, property};
use crate::regexp::error::RegexpError;

/// An escape that is valid inside and outside a class.
pub(super) enum Escaped {
    Character(char),
    Characters(Vec<char>),
    Set(Set),
}

/// Whether an escape matches characters of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapePosition {
    Some,
    /// An anchor: it only asserts something about the current position.
    None,
}

impl Rewriter<'_> {
    /// Rewrites an escape outside a class, after its backslash.
    pub(super) fn escape(&mut self) -> Result<EscapePosition, RegexpError> {
        let Some(c) = self.peek() else {
            return Err(self.invalid("too short escape sequence"));
        };
        match c {
            'A' => self.anchor("\\A"),
            'z' => self.anchor("\\z"),
            'Z' => self.anchor("(?=\\n?\\z)"),
            'b' => self.anchor("\\b"),
            'B' => self.anchor("\\B"),
            'G' => self.anchor("\\G"),
            'K' => self.anchor("\\K"),
            'R' => self
                .anchor("(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])")
                .map(|_| EscapePosition::Some),
            'X' => Err(self.unsupported("\\X, a whole grapheme")),
            'k' if self.rest()[1..].starts_with(['<', '\'']) => {
                self.reference().map(|()| EscapePosition::Some)
            }
            'g' if self.rest()[1..].starts_with(['<', '\'']) => {
                self.call().map(|()| EscapePosition::Some)
            }
            '1'..='9' => self.numbered().map(|()| EscapePosition::Some),
            _ => {
                match self.escaped()? {
                    Escaped::Character(c) => self.literal(c),
                    Escaped::Characters(all) => all.into_iter().for_each(|c| self.literal(c)),
                    Escaped::Set(set) if self.flags.ignore_case => {
                        // Without `(?-i:…)`, the engine would fold the case of ASCII sets into other
                        // alphabets.
                        self.out.push_str(&format!("(?-i:{})", set.outside()));
                    }
                    Escaped::Set(set) => self.out.push_str(&set.outside()),
                }
                Ok(EscapePosition::Some)
            }
        }
    }

    fn anchor(&mut self, text: &str) -> Result<EscapePosition, RegexpError> {
        self.next();
        self.out.push_str(text);
        Ok(EscapePosition::None)
    }

    /// Reads an escape that means the same inside and outside a class.
    pub(super) fn escaped(&mut self) -> Result<Escaped, RegexpError> {
        let Some(c) = self.next() else {
            return Err(self.invalid("too short escape sequence"));
        };
        let character = match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'e' => '\x1b',
            'b' => '\x08',
            'd' | 'D' | 'h' | 'H' | 's' | 'S' | 'w' | 'W' => {
                return Ok(Escaped::Set(self.shorthand(c)));
            }
            'p' | 'P' if self.rest().starts_with('{') => return self.property(c == 'P'),
            'x' => return self.hexadecimal().map(Escaped::Character),
            'u' => return self.unicode(),
            'c' => return self.control().map(Escaped::Character),
            'C' if self.accept("-") => return self.control().map(Escaped::Character),
            'C' => return Err(self.invalid("too short control escape")),
            'M' => return Err(self.invalid("too short escaped multibyte character")),
            '0'..='7' => return self.octal(c).map(Escaped::Character),
            other => other,
        };
        Ok(Escaped::Character(character))
    }

    fn shorthand(&self, c: char) -> Set {
        let unicode = self.flags.alphabet == Alphabet::Unicode;
        let text = match c.to_ascii_lowercase() {
            'h' => "0-9a-fA-F",
            'd' if unicode => "\\p{Nd}",
            'd' => "0-9",
            's' if unicode => "\\p{White_Space}",
            's' => " \\t-\\r",
            _ if unicode => "\\p{Alphabetic}\\p{M}\\p{N}\\p{Pc}",
            _ => "a-zA-Z0-9_",
        };
        Set {
            text: text.to_owned(),
            negated: c.is_ascii_uppercase(),
        }
    }

    fn property(&mut self, negated: bool) -> Result<Escaped, RegexpError> {
        self.next();
        let name = match self.rest().split_once('}') {
            Some((name, _)) => name.to_owned(),
            None => String::new(),
        };
        let (inner, turned) = match name.strip_prefix('^') {
            Some(inner) => (inner, true),
            None => (name.as_str(), false),
        };
        let Some(text) = property(inner) else {
            return Err(self.invalid(format!("invalid character property name {{{name}}}")));
        };
        self.at += name.len() + 1;
        Ok(Escaped::Set(Set {
            text,
            negated: negated != turned,
        }))
    }

    fn digits(&mut self, most: usize, radix: u32) -> Option<u32> {
        let length = self
            .rest()
            .chars()
            .take(most)
            .take_while(|c| c.is_digit(radix))
            .count();
        let value = u32::from_str_radix(&self.rest()[..length], radix).ok()?;
        self.at += length;
        Some(value)
    }

    fn hexadecimal(&mut self) -> Result<char, RegexpError> {
        let Some(value) = self.digits(2, 16) else {
            return Err(self.invalid("invalid hex escape"));
        };
        self.byte(value)
    }

    fn octal(&mut self, first: char) -> Result<char, RegexpError> {
        let more = self
            .rest()
            .chars()
            .take(2)
            .take_while(|c| c.is_digit(8))
            .count();
        let digits = format!("{first}{}", &self.rest()[..more]);
        self.at += more;
        self.byte(u32::from_str_radix(&digits, 8).unwrap_or(0))
    }

    /// Returns the character of an ASCII byte. Other bytes are parts of characters.
    fn byte(&self, value: u32) -> Result<char, RegexpError> {
        match char::from_u32(value) {
            Some(c) if c.is_ascii() => Ok(c),
            _ if self.rest().starts_with("\\x") => {
                Err(self.unsupported("a character written byte by byte"))
            }
            _ => Err(self.invalid("too short escaped multibyte character")),
        }
    }

    fn control(&mut self) -> Result<char, RegexpError> {
        match self.next() {
            Some('?') => Ok('\x7f'),
            Some(c) if c.is_ascii() && c != '\\' => Ok(char::from((u32::from(c) & 0x1f) as u8)),
            Some(_) => Err(self.unsupported("a control character of another escape")),
            None => Err(self.invalid("too short control escape")),
        }
    }

    fn unicode(&mut self) -> Result<Escaped, RegexpError> {
        if !self.accept("{") {
            let from = self.at;
            let value = self.digits(4, 16);
            return match value.and_then(char::from_u32) {
                Some(c) if self.at == from + 4 => Ok(Escaped::Character(c)),
                Some(_) | None if self.at < from + 4 => Err(self.invalid("invalid Unicode escape")),
                _ => Err(self.invalid("invalid Unicode range")),
            };
        }
        let Some((list, _)) = self.rest().split_once('}') else {
            return Err(self.invalid("unterminated Unicode escape"));
        };
        let length = list.len();
        let mut all = Vec::new();
        for digits in list.split_ascii_whitespace() {
            let Ok(value) = u32::from_str_radix(digits, 16) else {
                return Err(self.invalid("invalid Unicode list"));
            };
            match char::from_u32(value) {
                Some(c) => all.push(c),
                None => return Err(self.invalid("invalid Unicode range")),
            }
        }
        if all.is_empty() {
            return Err(self.invalid("invalid Unicode list"));
        }
        self.at += length + 1;
        Ok(Escaped::Characters(all))
    }

    /// Rewrites `\1`. A number of several digits is octal if there are fewer groups than that.
    fn numbered(&mut self) -> Result<(), RegexpError> {
        let start = self.at;
        let length = self.rest().chars().take_while(char::is_ascii_digit).count();
        let number: usize = self.rest()[..length].parse().unwrap_or(usize::MAX);
        if number > 9 && number > self.groups.count {
            if self.rest().starts_with(['8', '9']) {
                let c = self.next().unwrap_or_default();
                self.literal(c);
                return Ok(());
            }
            let first = self.next().unwrap_or_default();
            let c = self.octal(first)?;
            self.literal(c);
            return Ok(());
        }
        if self.groups.only_named() {
            return Err(self.invalid("numbered backref/call is not allowed. (use name)"));
        }
        if number == 0 || number > self.groups.count {
            return Err(self.invalid("invalid backref number/name"));
        }
        self.at = start + length;
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }

    /// Reads a name or number in angle brackets or quotes.
    fn label(&mut self) -> Result<String, RegexpError> {
        self.next();
        let close = if self.next() == Some('<') { '>' } else { '\'' };
        let Some((label, _)) = self.rest().split_once(close) else {
            return Err(self.invalid(format!("invalid group name <{}>", self.rest())));
        };
        let label = label.to_owned();
        if label.is_empty() {
            return Err(self.invalid("group name is empty"));
        }
        self.at += label.len() + 1;
        Ok(label)
    }

    /// Rewrites `\k<name>`: the text that the group captured. Of several groups, the last one that captured
    /// counts.
    fn reference(&mut self) -> Result<(), RegexpError> {
        let label = self.label()?;
        if let Ok(number) = label.parse::<i64>() {
            if self.groups.only_named() {
                return Err(self.invalid("numbered backref/call is not allowed. (use name)"));
            }
            let number = if number < 0 {
                self.opened as i64 + 1 + number
            } else {
                number
            };
            if !(1..=self.groups.count as i64).contains(&number) {
                return Err(self.invalid("invalid backref number/name"));
            }
            self.out.push_str(&format!("(?:\\{number})"));
            return Ok(());
        }
        let numbers = self.groups.named(&label).unwrap_or_default();
        let known = numbers
            .iter()
            .rev()
            .filter(|number| **number <= self.opened);
        let all: Vec<String> = known.map(|one| format!("\\{one}")).collect();
        if all.is_empty() {
            return Err(self.invalid(format!("undefined name <{label}> reference")));
        }
        let text = format!("(?:{})", all.join("|"));
        self.out.push_str(&text);
        Ok(())
    }

    /// Rewrites `\g<name>`: matches the group's expression again.
    fn call(&mut self) -> Result<(), RegexpError> {
        let label = self.label()?;
        let number = match label.parse::<usize>() {
            Ok(_) if self.groups.only_named() => {
                return Err(self.invalid("numbered backref/call is not allowed. (use name)"));
            }
            Ok(number) if number <= self.groups.count => number,
            Ok(_) => return Err(self.invalid(format!("undefined group <{label}> reference"))),
            Err(_) => match self.groups.named(&label) {
                Some([number]) => *number,
                Some(_) => return Err(self.unsupported("a call of several groups at once")),
                None => return Err(self.invalid(format!("undefined name <{label}> reference"))),
            },
        };
        self.out.push_str(&format!("\\g<{number}>"));
        Ok(())
    }
}
