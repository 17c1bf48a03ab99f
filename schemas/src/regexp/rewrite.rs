//! Rewrites a Ruby regular expression for the engine, and refuses what Ruby refuses.
//!
//! Specification: Onigmo's "Ruby" syntax. All groups become numbered groups, flags other than `i` are
//! applied to the text, and every literal character is escaped, so that nothing has a second meaning.

mod beginning;
mod class;
mod escape;
mod group;
mod rewriter;
mod sets;
mod survey;

use super::error::RegexpError;
use beginning::Beginning;
use rewriter::{Flags, MAX_DEPTH, Rewriter};

/// A pattern for the engine, and the group numbers of each name.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub(super) pattern: String,
    pub(super) names: Vec<(String, Vec<usize>)>,
    /// Whether a match can only begin at the start of a line.
    pub(super) begins_at_line: bool,
    /// Whether any part ignores case.
    pub(super) ignores_case: bool,
}

/// Rewrites an expression for the engine without changing its meaning.
pub(super) fn to_engine(source: &str) -> Result<Rewritten, RegexpError> {
    let groups = survey::survey(source);
    let mut rewriter = Rewriter {
        source,
        at: 0,
        out: String::with_capacity(source.len() * 2),
        flags: Flags::default(),
        ignores_case: false,
        groups,
        opened: 0,
        depth: 0,
        atoms: 0,
        behind: false,
    };
    let begins_at_line = rewriter.alternatives()?;
    if rewriter.peek().is_some() {
        return Err(rewriter.invalid("unmatched close parenthesis"));
    }
    Ok(Rewritten {
        pattern: rewriter.out,
        names: rewriter.groups.names,
        begins_at_line,
        ignores_case: rewriter.ignores_case,
    })
}

/// The maximum number of atoms after counted repeats are expanded. The engine expands them, and its time
/// for each character of the text grows with their number.
const MAX_ATOMS: u64 = 5_000;

/// The maximum repeat count that Ruby accepts.
const MAX_REPEAT: u32 = 100_000;

impl Rewriter<'_> {
    /// Rewrites everything up to the end of the group or of the expression. Returns whether it can only match from the
    /// start of a line on.
    fn alternatives(&mut self) -> Result<bool, RegexpError> {
        if self.depth == MAX_DEPTH {
            return Err(self.unsupported(format!("groups nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        let outer = self.flags;
        let mut open_options = 0;
        // Where the last atom starts in the output; `None` right after `(` or `|`.
        let mut atom = None;
        // Where the last anchor or look-around starts.
        let mut anchor = None;
        // The number of atoms before the last one.
        let mut atoms = self.atoms;
        let mut beginning = Beginning::new();
        while let Some(c) = self.peek() {
            let start = self.out.len();
            let mut at_line = false;
            match c {
                ')' => break,
                '|' => {
                    self.next();
                    self.out.push('|');
                    atom = None;
                    beginning.next_alternative();
                    continue;
                }
                '*' | '+' | '?' => {
                    self.next();
                    let Some(start) = atom else {
                        return Err(self.invalid("target of repeat operator is not specified"));
                    };
                    beginning.repeat(start);
                    if anchor == Some(start) {
                        self.skip_mode();
                        self.repeat_anchor(start, c != '+');
                    } else {
                        self.repeat(start, c)?;
                    }
                    continue;
                }
                '{' => {
                    if let Some((low, high)) = self.interval()? {
                        let Some(start) = atom else {
                            return Err(self.invalid("target of repeat operator is not specified"));
                        };
                        beginning.repeat(start);
                        if anchor == Some(start) {
                            if high != Some(low) {
                                self.accept("?");
                            }
                            self.repeat_anchor(start, low == 0);
                        } else {
                            self.repeat_interval(start, low, high)?;
                            self.count_copies(atoms, high.unwrap_or(low))?;
                        }
                        continue;
                    }
                    self.next();
                    self.literal('{');
                }
                '(' => {
                    self.next();
                    let before = self.atoms;
                    let opened = self.group()?;
                    atoms = before;
                    match opened {
                        group::Opened::Atom { begins_at_line } => at_line = begins_at_line,
                        group::Opened::Look => anchor = Some(start),
                        group::Opened::Nothing => continue,
                        group::Opened::Options => {
                            open_options += 1;
                            atom = None;
                            continue;
                        }
                    }
                }
                '[' => {
                    self.next();
                    self.class()?;
                }
                '\\' => {
                    self.next();
                    at_line = self.rest().starts_with('A');
                    if self.escape()? == escape::EscapePosition::None {
                        anchor = Some(start);
                    }
                }
                '.' => {
                    self.next();
                    self.out
                        .push_str(if self.flags.dot_all { "(?s:.)" } else { "." });
                }
                '^' | '$' => {
                    self.next();
                    self.out.push(c);
                    anchor = Some(start);
                    at_line = c == '^';
                }
                '#' if self.flags.extended => {
                    while self.next().is_some_and(|c| c != '\n') {}
                    continue;
                }
                c if self.flags.extended && c.is_ascii_whitespace() => {
                    self.next();
                    continue;
                }
                c => {
                    self.next();
                    self.literal(c);
                }
            }
            if c != '(' {
                atoms = self.atoms;
            }
            self.atoms += 1;
            atom = Some(start);
            beginning.atom(start, at_line);
        }
        for _ in 0..open_options {
            self.out.push(')');
        }
        self.flags = outer;
        self.depth -= 1;
        Ok(beginning.is_at_line())
    }

    /// Writes `?`, `*` or `+`. A second `?` or `+` makes the repeat lazy or possessive.
    fn repeat(&mut self, atom: usize, operator: char) -> Result<(), RegexpError> {
        if self.behind {
            return Err(self.invalid("invalid pattern in look-behind"));
        }
        self.wrap(atom);
        if self.accept("+") {
            self.out.extend([operator, '+']);
            self.wrap(atom);
            return Ok(());
        }
        let is_lazy = self.accept("?");
        match operator {
            '?' => self.or_nothing(atom, "", is_lazy),
            '*' => self.or_nothing(atom, "+", is_lazy),
            _ => {
                self.out.push_str(if is_lazy { "+?" } else { "+" });
                self.wrap(atom);
            }
        }
        Ok(())
    }

    /// Writes a repeat with at least one atom, or nothing. As an alternative, because the engine would take `a+b?a+` for
    /// `a+(ba+)?`, but not `a+(b|)a+`.
    fn or_nothing(&mut self, atom: usize, operator: &str, is_lazy: bool) {
        self.out.push_str(operator);
        if is_lazy {
            self.out
                .push_str(if operator.is_empty() { "" } else { "?" });
            self.out.insert(atom, '|');
        } else {
            self.out.push('|');
        }
        self.wrap(atom);
    }

    /// Skips the `?` or `+` that makes a repeat lazy or possessive.
    fn skip_mode(&mut self) {
        if !self.accept("?") {
            self.accept("+");
        }
    }

    /// Repeats a zero-width assertion: it only matters whether the assertion is optional.
    fn repeat_anchor(&mut self, atom: usize, optional: bool) {
        if optional {
            self.out.push('|');
        }
        self.wrap(atom);
    }

    fn repeat_interval(
        &mut self,
        atom: usize,
        low: u32,
        high: Option<u32>,
    ) -> Result<(), RegexpError> {
        if self.behind && high != Some(low) {
            return Err(self.invalid("invalid pattern in look-behind"));
        }
        self.wrap(atom);
        if low == 0 && high != Some(0) {
            let is_lazy = self.accept("?");
            let operator = high.map_or_else(|| "+".to_owned(), |high| format!("{{1,{high}}}"));
            self.or_nothing(atom, &operator, is_lazy);
            return Ok(());
        }
        let bounds = match high {
            Some(high) if high == low => format!("{{{low}}}"),
            Some(high) => format!("{{{low},{high}}}"),
            None => format!("{{{low},}}"),
        };
        self.out.push_str(&bounds);
        // After an exact count, a question mark means optional, not lazy.
        if high != Some(low) && self.accept("?") {
            self.out.push('?');
        }
        self.wrap(atom);
        Ok(())
    }

    /// Multiplies the atoms that were added since `before`.
    fn count_copies(&mut self, before: u64, times: u32) -> Result<(), RegexpError> {
        let copies = (self.atoms - before).saturating_mul(u64::from(times).max(1));
        self.atoms = before.saturating_add(copies);
        if self.atoms > MAX_ATOMS {
            return Err(self.unsupported(format!("repeats of more than {MAX_ATOMS} atoms in all")));
        }
        Ok(())
    }

    /// Wraps the output from `atom` on in a group, so that it is one atom.
    fn wrap(&mut self, atom: usize) {
        self.out.insert_str(atom, "(?:");
        self.out.push(')');
    }

    /// Reads `{n}`, `{n,}`, `{,m}` or `{n,m}`. Any other brace is a literal.
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexpError> {
        let Some((inner, _)) = self.rest()[1..].split_once('}') else {
            return Ok(None);
        };
        let (low, high) = inner
            .split_once(',')
            .map_or((inner, None), |(l, h)| (l, Some(h)));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let named = !low.is_empty() || high.is_some_and(|high| !high.is_empty());
        if !named || !digits(low) || !high.is_none_or(digits) {
            return Ok(None);
        }
        let length = inner.len() + 2;
        let number = |text: &str| match text.parse() {
            Ok(number) if number <= MAX_REPEAT => Ok(number),
            _ => Err(self.invalid("too big number for repeat range")),
        };
        let from = if low.is_empty() { 0 } else { number(low)? };
        let to = match high {
            None => Some(from),
            Some("") => None,
            Some(high) => Some(number(high)?),
        };
        if to.is_some_and(|to| to < from) {
            return Err(self.invalid("upper is smaller than lower in repeat range"));
        }
        self.at += length;
        Ok(Some((from, to)))
    }
}
