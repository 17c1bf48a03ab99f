//! Regular expressions for the beginnings of lines. Most lines are told apart by the letters that a pattern begins with.

use fancy_regex::{Captures, Match, Regex};

/// A pattern for whole words at the beginning of a line.
#[derive(Debug)]
pub(super) struct Pattern {
    /// What every line that matches begins with.
    begin: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Panics
    /// Panics when it is no regular expression.
    pub(super) fn words(text: &str) -> Self {
        Self::new(text, "(?= |$)")
    }

    /// Compiles a pattern that may end within a word.
    ///
    /// # Panics
    /// Panics when it is no regular expression.
    pub(super) fn letters(text: &str) -> Self {
        Self::new(text, "")
    }

    fn new(text: &str, behind: &str) -> Self {
        let regex = Regex::new(&format!("^(?:{text}){behind}"));
        Self {
            begin: begin(text),
            regex: regex.expect("a rule is a regular expression"),
        }
    }

    pub(super) fn is_match(&self, line: &str) -> bool {
        line.starts_with(&self.begin) && self.regex.is_match(line).unwrap_or(false)
    }

    pub(super) fn find<'l>(&self, line: &'l str) -> Option<Match<'l>> {
        let may_match = line.starts_with(&self.begin);
        may_match
            .then(|| self.regex.find(line).ok().flatten())
            .flatten()
    }

    pub(super) fn captures<'l>(&self, line: &'l str) -> Option<Captures<'l, str>> {
        let may_match = line.starts_with(&self.begin);
        may_match
            .then(|| self.regex.captures(line).ok().flatten())
            .flatten()
    }

    /// Whether it matches the whole line.
    pub(super) fn is_whole(&self, line: &str) -> bool {
        self.find(line)
            .is_some_and(|found| found.end() == line.len())
    }

    pub(super) fn replaced(&self, line: &str, replacement: &str) -> Option<String> {
        let is_match = self.is_match(line);
        is_match.then(|| self.regex.replace(line, replacement).into_owned())
    }
}

/// The letters before the first character with a meaning; none where there are alternatives.
fn begin(text: &str) -> String {
    let mut depth = 0;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            '|' if depth == 0 => return String::new(),
            _ => {}
        }
    }
    let end = text.find(|c: char| r"\.[](){}?*+|^$".contains(c));
    let end = end.unwrap_or(text.len());
    let is_optional = text[end..].starts_with(['?', '*', '{']);
    text[..end - usize::from(is_optional)].to_owned()
}
