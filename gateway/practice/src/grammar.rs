//! The command parser: finds the matching rule in tables of patterns, or refuses a line like IOS.
//!
//! A pattern is a line of tokens. A token in lower case, or a number, is a keyword, which may be abbreviated as long as
//! it is unique at its position. The others are arguments, see [`argument`].

use std::net::Ipv4Addr;

use super::config::NextHop;
use super::interface::{ArgumentError, InterfaceName, common_prefix};
use super::switch::Switch;
use super::vlans::VlanList;
use super::vty::{Reply, Vty};

/// One command: its pattern and its function.
pub(super) struct Rule {
    pub(super) pattern: &'static str,
    pub(super) run: fn(&mut Switch, &mut Vty, &Arguments) -> Reply,
}

impl Rule {
    /// A row of a table.
    pub(super) const fn new(
        pattern: &'static str,
        run: fn(&mut Switch, &mut Vty, &Arguments) -> Reply,
    ) -> Self {
        Self { pattern, run }
    }
}

/// The arguments of a line. A field without a token in the pattern keeps its default.
#[derive(Debug)]
pub(super) struct Arguments {
    pub(super) number: u16,
    pub(super) address: Ipv4Addr,
    pub(super) mask: Ipv4Addr,
    pub(super) next_hop: NextHop,
    pub(super) interface: InterfaceName,
    pub(super) text: String,
    /// The start of a text up to the end of the line.
    pub(super) column: usize,
    /// The whole command with its keywords in full.
    pub(super) canonical: String,
}

/// Why a line is not a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// The character at this column is invalid, in the word with this number (from 0).
    Invalid { column: usize, word: usize },
    /// A word is ambiguous.
    Ambiguous,
    /// The line is incomplete.
    Incomplete,
}

/// Finds the rule that a line matches.
///
/// # Errors
/// [`ParseError`], as in IOS. An empty line is [`ParseError::Incomplete`].
pub(super) fn parse<'r>(
    rules: &[&'r Rule],
    line: &str,
) -> Result<(&'r Rule, Arguments), ParseError> {
    let partial = match_words(rules, line)?;
    let rule = partial.complete().ok_or(ParseError::Incomplete)?;
    Ok((rule, partial.arguments))
}

/// The tokens that are possible at the end of a line: in its last word, or after it.
///
/// # Errors
/// As [`parse`].
pub(super) fn expected(rules: &[&Rule], line: &str) -> Result<Vec<&'static str>, ParseError> {
    let word_start = line.rfind(char::is_whitespace).map_or(0, |space| space + 1);
    let (before, word) = line.split_at(word_start);
    let partial = match_words(rules, before)?;
    let mut tokens = partial.tokens();
    if word.is_empty() {
        tokens.extend(partial.complete().map(|_| "<cr>"));
        return Ok(tokens);
    }
    let word = word.to_ascii_lowercase();
    tokens.retain(|token| is_keyword(token) && token.starts_with(&word));
    Ok(tokens)
}

/// The rules that match some words of a line.
struct PartialMatch<'r> {
    candidates: Vec<&'r Rule>,
    depth: usize,
    arguments: Arguments,
}

impl<'r> PartialMatch<'r> {
    fn complete(&self) -> Option<&'r Rule> {
        let ends_here = |rule: &&&Rule| rule.pattern.split(' ').count() == self.depth;
        self.candidates.iter().find(ends_here).copied()
    }

    fn tokens(&self) -> Vec<&'static str> {
        let mut tokens: Vec<_> = self
            .candidates
            .iter()
            .filter_map(|rule| rule.pattern.split(' ').nth(self.depth))
            .collect();
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

/// A word and where it starts in its line.
#[derive(Clone, Copy)]
struct Word<'l> {
    start: usize,
    text: &'l str,
}

fn match_words<'r>(rules: &[&'r Rule], line: &str) -> Result<PartialMatch<'r>, ParseError> {
    let words: Vec<Word<'_>> = line
        .split_ascii_whitespace()
        .map(|text| Word {
            start: text.as_ptr() as usize - line.as_ptr() as usize,
            text,
        })
        .collect();
    let mut partial = PartialMatch {
        candidates: rules.to_vec(),
        depth: 0,
        arguments: Arguments::default(),
    };
    let mut at = 0;
    while at < words.len() {
        let tokens = partial.tokens();
        let (token, used) =
            choose(&tokens, line, &words[at..], &mut partial.arguments).map_err(|refusal| {
                match refusal {
                    ParseError::Invalid { column, .. } => ParseError::Invalid { column, word: at },
                    other => other,
                }
            })?;
        let canonical_word = if is_keyword(token) {
            token
        } else {
            let last = words[at + used - 1];
            &line[words[at].start..last.start + last.text.len()]
        };
        let canonical = &mut partial.arguments.canonical;
        if !canonical.is_empty() {
            canonical.push(' ');
        }
        canonical.push_str(canonical_word);
        let depth = partial.depth;
        partial
            .candidates
            .retain(|rule| rule.pattern.split(' ').nth(depth) == Some(token));
        partial.depth += 1;
        at += used;
    }
    Ok(partial)
}

/// The token that matches the next words, and the number of these words.
fn choose(
    tokens: &[&'static str],
    line: &str,
    words: &[Word<'_>],
    arguments: &mut Arguments,
) -> Result<(&'static str, usize), ParseError> {
    let word = words[0].text.to_ascii_lowercase();
    let keywords: Vec<&'static str> = tokens.iter().copied().filter(|t| is_keyword(t)).collect();
    if let Some(exact) = keywords.iter().find(|keyword| **keyword == word) {
        return Ok((exact, 1));
    }
    let abbreviated: Vec<_> = keywords.iter().filter(|k| k.starts_with(&word)).collect();
    match abbreviated[..] {
        [] => {}
        [keyword] => return Ok((keyword, 1)),
        _ => return Err(ParseError::Ambiguous),
    }
    let mut column = words[0].start
        + keywords
            .iter()
            .map(|k| common_prefix(k, &word))
            .max()
            .unwrap_or(0);
    for token in tokens.iter().filter(|token| !is_keyword(token)) {
        match argument(token, line, words, arguments) {
            Ok(used) => return Ok((token, used)),
            Err(ArgumentError::Incomplete) => return Err(ParseError::Incomplete),
            Err(ArgumentError::InvalidAt(offset)) => column = column.max(words[0].start + offset),
        }
    }
    Err(ParseError::Invalid { column, word: 0 })
}

/// Parses an argument, and returns the number of its words.
fn argument(
    token: &str,
    line: &str,
    words: &[Word<'_>],
    arguments: &mut Arguments,
) -> Result<usize, ArgumentError> {
    let word = words[0].text;
    let dotted = || {
        word.parse::<Ipv4Addr>()
            .map_err(|_| ArgumentError::InvalidAt(0))
    };
    match token {
        "A.B.C.D" => arguments.address = dotted()?,
        "MASK" => arguments.mask = dotted()?,
        "NEXT-HOP" if word.eq_ignore_ascii_case("null0") => arguments.next_hop = NextHop::Null0,
        "NEXT-HOP" => arguments.next_hop = NextHop::Address(dotted()?),
        "WORD" => arguments.text = word.to_owned(),
        "VLANS" if VlanList::looks_like(word) => arguments.text = word.to_owned(),
        "LINE" => {
            arguments.column = words[0].start;
            arguments.text = line[words[0].start..].trim_end().to_owned();
            return Ok(words.len());
        }
        "INTERFACE" => {
            // The unit may be a separate word.
            let apart = words
                .get(1)
                .filter(|_| word.bytes().all(|b| b.is_ascii_alphabetic()));
            let last = apart.unwrap_or(&words[0]);
            let name = &line[words[0].start..last.start + last.text.len()];
            arguments.interface = InterfaceName::parse(name)?;
            return Ok(1 + usize::from(apart.is_some()));
        }
        range => {
            arguments.number = number_in_range(range, word).ok_or(ArgumentError::InvalidAt(0))?
        }
    }
    Ok(1)
}

/// A number within a range that is written `<1-4094>`.
fn number_in_range(range: &str, word: &str) -> Option<u16> {
    let (low, high) = range
        .strip_prefix('<')?
        .strip_suffix('>')?
        .split_once('-')?;
    let number = word.parse().ok()?;
    (low.parse::<u16>().ok()?..=high.parse().ok()?)
        .contains(&number)
        .then_some(number)
}

fn is_keyword(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            number: 0,
            address: Ipv4Addr::UNSPECIFIED,
            mask: Ipv4Addr::UNSPECIFIED,
            next_hop: NextHop::Null0,
            interface: InterfaceName::Gigabit(1),
            text: String::new(),
            column: 0,
            canonical: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERNS: [&str; 8] = [
        "show version",
        "show vlan brief",
        "show interfaces status",
        "interface INTERFACE",
        "ip route A.B.C.D MASK NEXT-HOP",
        "ip route A.B.C.D MASK NEXT-HOP <1-255>",
        "description LINE",
        "vlan VLANS",
    ];

    fn parsed(line: &str) -> Result<Arguments, ParseError> {
        let rules = PATTERNS.map(|pattern| Rule {
            pattern,
            run: |_, _, _| Reply::empty(),
        });
        parse(&rules.each_ref(), line).map(|(_, arguments)| arguments)
    }

    #[test]
    fn keywords_may_be_abbreviated_while_they_are_unique() {
        let canonical = |line| parsed(line).map(|arguments| arguments.canonical);
        assert_eq!(canonical("sh ver"), Ok("show version".to_owned()));
        assert_eq!(
            canonical("SHOW INT STAT"),
            Ok("show interfaces status".to_owned())
        );
        assert_eq!(canonical("sh v"), Err(ParseError::Ambiguous));
        assert_eq!(canonical("sh"), Err(ParseError::Incomplete));
    }

    #[test]
    fn the_refused_column_is_that_of_the_first_character_that_cannot_be() {
        let column = |line| match parsed(line) {
            Err(ParseError::Invalid { column, word }) => (column, word),
            other => panic!("{other:?}"),
        };
        assert_eq!(column("show verzion"), (8, 1));
        assert_eq!(column("zap"), (0, 0));
        assert_eq!(column("show version now"), (13, 2));
        assert_eq!(column("interface gi0/9"), (14, 1));
        assert_eq!(column("ip route 10.0.0.0 255.0.0.0 192.0.2.1 256"), (38, 5));
        assert_eq!(column("ip route 10.0.0 255.0.0.0 192.0.2.1"), (9, 2));
    }

    #[test]
    fn arguments_are_read_by_their_kind() -> Result<(), ParseError> {
        assert_eq!(parsed("int gi 0/2")?.interface, InterfaceName::Gigabit(2));
        assert_eq!(parsed("int vlan10")?.interface, InterfaceName::Vlan(10));
        assert_eq!(parsed("desc  to  the core ")?.text, "to  the core");
        assert_eq!(parsed("ip ro 10.0.0.0 255.0.0.0 null0 9")?.number, 9);
        assert_eq!(parsed("interface vlan").err(), Some(ParseError::Incomplete));
        Ok(())
    }

    #[test]
    fn what_may_follow_is_listed() {
        let rules = PATTERNS.map(|pattern| Rule {
            pattern,
            run: |_, _, _| Reply::empty(),
        });
        let rules = rules.each_ref();
        assert_eq!(expected(&rules, "sh v"), Ok(vec!["version", "vlan"]));
        assert_eq!(expected(&rules, "show version "), Ok(vec!["<cr>"]));
        assert_eq!(expected(&rules, "vlan "), Ok(vec!["VLANS"]));
    }
}
