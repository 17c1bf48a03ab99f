//! Bracketed character classes and named sets.

use super::escape::Escaped;
use super::rewriter::{MAX_DEPTH, Rewriter, literal_text};
use super::sets::posix;
use crate::regexp::error::RegexpError;

/// The last item of a class, which decides what a dash after it means.
enum Last {
    Nothing,
    Character(char),
    Set,
    Range,
}

impl Rewriter<'_> {
    /// Rewrites a class after its opening bracket.
    pub(super) fn class(&mut self) -> Result<(), RegexpError> {
        if self.depth == MAX_DEPTH {
            return Err(self.unsupported("classes nested too deeply"));
        }
        self.depth += 1;
        self.out.push('[');
        if self.accept("^") {
            self.out.push('^');
        }
        let mut last = Last::Nothing;
        if self.rest().starts_with(']') {
            if !self.closes_later() {
                return Err(self.invalid("empty char-class"));
            }
            self.next();
            self.literal(']');
            last = Last::Character(']');
        }
        loop {
            let Some(c) = self.next() else {
                return Err(self.invalid("premature end of char-class"));
            };
            last = match c {
                ']' => break,
                '[' if self.rest().starts_with(':') && self.posix_bracket()? => Last::Set,
                '[' => {
                    self.class()?;
                    Last::Set
                }
                '&' if self.accept("&") => {
                    self.out.push_str("&&");
                    Last::Nothing
                }
                '-' => self.dash(last)?,
                '\\' => match self.escaped()? {
                    Escaped::Character(c) => {
                        self.literal(c);
                        Last::Character(c)
                    }
                    Escaped::Characters(all) => {
                        let end = all.last().copied();
                        all.into_iter().for_each(|c| self.literal(c));
                        end.map_or(Last::Nothing, Last::Character)
                    }
                    Escaped::Set(set) => {
                        self.out.push_str(&set.outside());
                        Last::Set
                    }
                },
                c => {
                    self.literal(c);
                    Last::Character(c)
                }
            };
        }
        self.out.push(']');
        self.depth -= 1;
        Ok(())
    }

    /// Whether an unescaped closing bracket follows the present one.
    fn closes_later(&self) -> bool {
        let mut escaped = false;
        self.rest()[1..].chars().any(|c| {
            let closes = c == ']' && !escaped;
            escaped = c == '\\' && !escaped;
            closes
        })
    }

    /// Rewrites a dash: a range between two characters, a literal dash otherwise.
    fn dash(&mut self, last: Last) -> Result<Last, RegexpError> {
        let ends =
            self.rest().is_empty() || self.rest().starts_with(']') || self.rest().starts_with("&&");
        match last {
            Last::Character(low) if !ends => {
                let high = match self.next() {
                    Some('\\') => match self.escaped()? {
                        Escaped::Character(c) => c,
                        Escaped::Characters(all) => all.first().copied().unwrap_or(low),
                        Escaped::Set(_) => {
                            return Err(self.invalid("char-class value at end of range"));
                        }
                    },
                    Some('[') => {
                        // Before a class, the dash is a literal.
                        self.literal('-');
                        if !(self.rest().starts_with(':') && self.posix_bracket()?) {
                            self.class()?;
                        }
                        return Ok(Last::Set);
                    }
                    Some(c) => c,
                    None => return Err(self.invalid("premature end of char-class")),
                };
                if high < low {
                    return Err(self.invalid("empty range in char class"));
                }
                self.out.push('-');
                self.out.push_str(&literal_text(high));
                Ok(Last::Range)
            }
            Last::Set if !ends => Err(self.invalid("unmatched range specifier in char-class")),
            _ => {
                self.literal('-');
                Ok(Last::Character('-'))
            }
        }
    }

    /// Rewrites `[:alpha:]` after its bracket. Returns `false` if this is a class that starts with a colon.
    fn posix_bracket(&mut self) -> Result<bool, RegexpError> {
        let inner = &self.rest()[1..];
        let Some((name, _)) = inner.split_once(":]") else {
            return Ok(false);
        };
        if name.contains(']') || name.chars().count() > 20 {
            return Ok(false);
        }
        let Some(set) = posix(name, self.flags.alphabet) else {
            return Err(self.invalid("invalid POSIX bracket type"));
        };
        self.at += name.len() + 3;
        self.out.push_str(&set.outside());
        Ok(true)
    }
}
