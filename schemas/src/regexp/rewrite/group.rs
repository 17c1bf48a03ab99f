//! Groups, look-around and options: everything that starts with a parenthesis.

use super::rewriter::{Alphabet, Rewriter};
use crate::regexp::error::RegexpError;

/// The construct that a parenthesis opened.
pub(super) enum Opened {
    /// A group, read to its end.
    Atom {
        /// Whether it can only match from the start of a line on.
        begins_at_line: bool,
    },
    /// A look-around, read to its end. It has no width.
    Look,
    /// A comment.
    Nothing,
    /// Options for the rest of the enclosing group.
    Options,
}

impl Rewriter<'_> {
    /// Rewrites what follows an opening parenthesis, including the closing one.
    pub(super) fn group(&mut self) -> Result<Opened, RegexpError> {
        if !self.accept("?") {
            if self.groups.only_named() {
                self.out.push_str("(?:");
            } else {
                self.opened += 1;
                self.out.push('(');
            }
            return self.whole();
        }
        if self.accept("#") {
            let Some(end) = self.rest().find(')') else {
                return Err(self.invalid("end pattern in group"));
            };
            self.at += end + 1;
            return Ok(Opened::Nothing);
        }
        for (open, behind) in [
            ("<=", true),
            ("<!", true),
            (":", false),
            ("=", false),
            ("!", false),
            (">", false),
            ("~", false),
        ] {
            if self.accept(open) {
                let outer = self.behind;
                self.behind |= behind;
                self.out.push_str("(?");
                self.out.push_str(open);
                let begins_at_line = self.inside()?;
                self.behind = outer;
                return Ok(match open {
                    ":" | ">" => Opened::Atom { begins_at_line },
                    "~" => Opened::Atom {
                        begins_at_line: false,
                    },
                    _ => Opened::Look,
                });
            }
        }
        match self.peek() {
            Some('<' | '\'') => self.named(),
            Some('(') => self.conditional(),
            _ => self.options(),
        }
    }

    /// Rewrites a group that matches what is inside.
    fn whole(&mut self) -> Result<Opened, RegexpError> {
        let begins_at_line = self.inside()?;
        Ok(Opened::Atom { begins_at_line })
    }

    /// Rewrites what is inside, and the closing parenthesis. Returns whether it can only match from the start of a line on.
    fn inside(&mut self) -> Result<bool, RegexpError> {
        let begins_at_line = self.alternatives()?;
        if !self.accept(")") {
            return Err(self.invalid("end pattern with unmatched parenthesis"));
        }
        self.out.push(')');
        Ok(begins_at_line)
    }

    fn named(&mut self) -> Result<Opened, RegexpError> {
        let close = if self.next() == Some('<') { '>' } else { '\'' };
        let Some((name, _)) = self.rest().split_once(close) else {
            let name: String = self
                .rest()
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            return Err(self.invalid(format!("invalid group name <{name}>")));
        };
        if name.is_empty() {
            return Err(self.invalid("group name is empty"));
        }
        if name.starts_with(|c: char| c.is_ascii_digit() || c == '-') || name.contains(')') {
            return Err(self.invalid(format!("invalid group name <{name}>")));
        }
        self.at += name.len() + 1;
        self.opened += 1;
        self.out.push('(');
        self.whole()
    }

    /// Rewrites a conditional: `(?(1)yes|no)`.
    fn conditional(&mut self) -> Result<Opened, RegexpError> {
        self.next();
        let Some((condition, _)) = self.rest().split_once(')') else {
            return Err(self.invalid("invalid conditional pattern"));
        };
        let name = condition.trim_matches(['<', '>', '\'']);
        let number = match name.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| (1..=self.opened).contains(number)),
            Err(_) => self.groups.named(name).and_then(|numbers| {
                numbers
                    .iter()
                    .rev()
                    .copied()
                    .find(|number| *number <= self.opened)
            }),
        };
        let Some(number) = number else {
            return Err(self.invalid("invalid backref number/name"));
        };
        self.at += condition.len() + 1;
        self.out.push_str(&format!("(?({number})"));
        self.inside()?;
        Ok(Opened::Atom {
            begins_at_line: false,
        })
    }

    /// Rewrites options: `(?mi-x)` for what follows, or `(?mi-x:...)` for a group.
    fn options(&mut self) -> Result<Opened, RegexpError> {
        let outer = self.flags;
        let mut on = true;
        loop {
            match self.next() {
                Some('-') => on = false,
                Some('i') => {
                    self.flags.ignore_case = on;
                    self.ignores_case |= on;
                }
                Some('m') => self.flags.dot_all = on,
                Some('x') => self.flags.extended = on,
                Some('a') if on => self.flags.alphabet = Alphabet::Ascii,
                Some('d') if on => self.flags.alphabet = Alphabet::Mixed,
                Some('u') if on => self.flags.alphabet = Alphabet::Unicode,
                Some(end @ (')' | ':')) => {
                    self.out.push_str(match self.flags.ignore_case {
                        true if !outer.ignore_case => "(?i:",
                        false if outer.ignore_case => "(?-i:",
                        _ => "(?:",
                    });
                    if end == ')' {
                        return Ok(Opened::Options);
                    }
                    let opened = self.whole();
                    self.flags = outer;
                    return opened;
                }
                None => return Err(self.invalid("end pattern in group")),
                Some(_) => return Err(self.invalid("undefined group option")),
            }
        }
    }
}
