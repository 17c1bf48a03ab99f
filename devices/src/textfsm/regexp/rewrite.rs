//! Rewrites an expression for the engine, and refuses what Python refuses.

use std::iter::Peekable;
use std::str::Chars;

use super::class::{Escape, set};

/// The maximum length of an expression after it was rewritten, and depth of its groups.
const MAX_LENGTH: usize = 100_000;
const MAX_DEPTH: usize = 100;

/// What a repeat operator would repeat.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Item {
    /// Nothing: the start of an alternative, or an anchor.
    Nothing,
    /// An atom that starts here in the output.
    Atom(usize),
    /// A look-around that starts here in the output.
    Look(usize),
    /// Something that is repeated already.
    Repeated,
}

/// An open group.
struct Group {
    /// Where it starts in the output.
    start: usize,
    is_look: bool,
    /// The flags outside.
    flags: Flags,
}

/// The flags that change what is written. The engine has the others.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    verbose: bool,
    pub(super) ascii: bool,
}

pub(super) struct Rewriter<'s> {
    pub(super) rest: Peekable<Chars<'s>>,
    pub(super) out: String,
    /// The engine's flags for the whole expression.
    global: String,
    pub(super) flags: Flags,
    groups: Vec<Group>,
    names: Vec<String>,
    pub(super) last: Item,
}

impl<'s> Rewriter<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            rest: source.chars().peekable(),
            out: String::new(),
            global: String::new(),
            flags: Flags::default(),
            groups: Vec::new(),
            names: Vec::new(),
            last: Item::Nothing,
        }
    }

    pub(super) fn rewrite(mut self) -> Result<String, String> {
        while let Some(c) = self.rest.next() {
            match c {
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    self.out.push('|');
                    self.last = Item::Nothing;
                }
                '*' | '+' | '?' => self.repeat(&c.to_string())?,
                '{' => match self.bounds()? {
                    Some(bounds) => self.repeat(&bounds)?,
                    None => self.literal('{'),
                },
                '[' => self.class()?,
                '\\' => match self.escape(false)? {
                    Escape::Character(c) => self.literal(c),
                    Escape::Class(class) => self.atom(set(class, self.flags.ascii)),
                    Escape::Anchor(anchor) => self.anchor(anchor),
                    Escape::Reference(reference) => self.atom(&reference),
                },
                '^' => self.anchor("^"),
                '$' => self.anchor("$"),
                '.' => self.atom("."),
                '#' if self.flags.verbose => while self.rest.next().is_some_and(|c| c != '\n') {},
                c if self.flags.verbose && c.is_ascii_whitespace() => {}
                c => self.literal(c),
            }
        }
        if !self.groups.is_empty() {
            return Err("missing ), unterminated subpattern".to_owned());
        }
        let flags = match self.global.as_str() {
            "" => String::new(),
            flags => format!("(?{flags})"),
        };
        if self.out.len() > MAX_LENGTH {
            return Err("the regular expression is too long".to_owned());
        }
        Ok(format!("{flags}\\A(?:{})", self.out))
    }

    fn atom(&mut self, text: &str) {
        self.last = Item::Atom(self.out.len());
        self.out.push_str(text);
    }

    fn anchor(&mut self, text: &str) {
        self.out.push_str(text);
        self.last = Item::Nothing;
    }

    fn literal(&mut self, c: char) {
        self.last = Item::Atom(self.out.len());
        if r"\.+*?()|[]{}^$".contains(c) {
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// Writes a repeat operator: `?`, `*`, `+` or bounds.
    fn repeat(&mut self, operator: &str) -> Result<(), String> {
        let mode = self.rest.next_if(|c| matches!(c, '?' | '+'));
        let at_least_one = match operator {
            "?" => Some(String::new()),
            "*" => Some("+".to_owned()),
            _ => operator
                .strip_prefix("{0,")
                .map(|high| format!("{{1,{high}")),
        };
        let at_least_one = at_least_one.filter(|_| operator != "{0,0}");
        match (self.last, at_least_one) {
            (Item::Nothing, _) => return Err("nothing to repeat".to_owned()),
            (Item::Repeated, _) => return Err("multiple repeat".to_owned()),
            // The engine would take `a+b?a+` for `a+(ba+)?`, but not `a+(b|)a+`.
            (Item::Atom(start), Some(operator)) if mode != Some('+') => {
                let (before, after) = match mode {
                    None => ("(?:", "|)"),
                    Some(_) if operator.is_empty() => ("(?:|", ")"),
                    Some(_) => ("(?:|", "?)"),
                };
                self.out.insert_str(start, before);
                self.out.push_str(&operator);
                self.out.push_str(after);
            }
            (Item::Atom(_), _) => {
                self.out.push_str(operator);
                self.out.extend(mode);
            }
            // The engine repeats no look-around, and it only matters whether it may be absent.
            (Item::Look(start), Some(_)) => {
                self.out.insert_str(start, "(?:");
                self.out.push_str("|)");
            }
            (Item::Look(_), None) => {}
        }
        self.last = Item::Repeated;
        Ok(())
    }

    /// Reads the bounds of a repeat after its brace. Any other brace is a literal.
    fn bounds(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.rest.clone();
        let mut number = || {
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            (digits, ahead.next())
        };
        let (low, end) = number();
        let (high, end) = match end {
            Some(',') => number(),
            end if !low.is_empty() => (low.clone(), end),
            _ => return Ok(None),
        };
        if end != Some('}') {
            return Ok(None);
        }
        self.rest = ahead;
        let value = |text: &str| match text {
            "" => Ok(0),
            text => text.parse::<u32>().map_err(|_| "too large a repeat count"),
        };
        let least = value(&low)?;
        if high.is_empty() {
            return Ok(Some(format!("{{{least},}}")));
        }
        let most = value(&high)?;
        if most < least {
            return Err("min repeat greater than max repeat".to_owned());
        }
        Ok(Some(format!("{{{least},{most}}}")))
    }

    /// Opens a group.
    fn open(&mut self) -> Result<(), String> {
        let start = self.out.len();
        let flags = self.flags;
        let mut is_look = false;
        let mut take = |c: char| self.rest.next_if_eq(&c).is_some();
        let opening = if !take('?') {
            "(".to_owned()
        } else if take('P') {
            match self.rest.next() {
                Some('<') => {
                    let name = self.name('>')?;
                    if self.names.contains(&name) {
                        return Err(format!("there are two groups `{name}`"));
                    }
                    let opening = format!("(?P<{name}>");
                    self.names.push(name);
                    opening
                }
                Some('=') => {
                    let reference = format!("(?P={})", self.name(')')?);
                    self.atom(&reference);
                    return Ok(());
                }
                _ => return Err("unknown extension ?P".to_owned()),
            }
        } else if take('#') {
            return match self.rest.find(|c| *c == ')') {
                Some(_) => Ok(()),
                None => Err("missing ), unterminated comment".to_owned()),
            };
        } else if take('<') {
            is_look = true;
            match self.rest.next() {
                Some(kind @ ('=' | '!')) => format!("(?<{kind}"),
                _ => return Err("unknown extension ?<".to_owned()),
            }
        } else if take('(') {
            match self.name(')')? {
                number if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    format!("(?({number})")
                }
                name => format!("(?(<{name}>)"),
            }
        } else {
            match self.rest.next() {
                Some(':') => "(?:".to_owned(),
                Some('>') => "(?>".to_owned(),
                Some(kind @ ('=' | '!')) => {
                    is_look = true;
                    format!("(?{kind}")
                }
                Some(first) => match self.options(first)? {
                    Some(opening) => opening,
                    None => return Ok(()),
                },
                None => return Err("unexpected end of pattern".to_owned()),
            }
        };
        if self.groups.len() == MAX_DEPTH {
            return Err(format!("groups nested more than {MAX_DEPTH} deep"));
        }
        self.out.push_str(&opening);
        self.groups.push(Group {
            start,
            is_look,
            flags,
        });
        self.last = Item::Nothing;
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let group = self.groups.pop().ok_or("unbalanced parenthesis")?;
        self.out.push(')');
        self.flags = group.flags;
        self.last = match group {
            Group { is_look: true, .. } => Item::Look(group.start),
            _ => Item::Atom(group.start),
        };
        Ok(())
    }

    /// Reads flags. Those without a colon hold for the whole expression.
    fn options(&mut self, first: char) -> Result<Option<String>, String> {
        let (mut engine, mut is_off) = (String::new(), false);
        let mut next = Some(first);
        loop {
            match next {
                Some('x') => self.flags.verbose = !is_off,
                Some('a') => self.flags.ascii = !is_off,
                Some('u' | 'L') => {}
                Some(flag @ ('i' | 'm' | 's')) => engine.push(flag),
                Some('-') if !is_off => {
                    is_off = true;
                    engine.push('-');
                }
                Some(':') => {
                    let engine = engine.trim_end_matches('-');
                    return Ok(Some(format!("(?{engine}:")));
                }
                Some(')') if !is_off => {
                    self.global.push_str(&engine);
                    return Ok(None);
                }
                Some(other) => return Err(format!("unknown extension ?{other}")),
                None => return Err("missing -, : or )".to_owned()),
            }
            next = self.rest.next();
        }
    }

    fn name(&mut self, end: char) -> Result<String, String> {
        let mut name = String::new();
        loop {
            match self.rest.next() {
                Some(c) if c == end && !name.is_empty() => return Ok(name),
                Some(c) if c.is_alphanumeric() || c == '_' => name.push(c),
                _ => return Err(format!("bad character in group name `{name}`")),
            }
        }
    }
}
