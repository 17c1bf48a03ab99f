//! What a command line knows of its lines: `ios.yaml`, `eos.yaml`.
//!
//! All rules are regular expressions for whole words at the beginning of a line. A line of a mode has the first word of the
//! line above and a colon before it: `interface: description`.

use serde::Deserialize;

use devgate_schemas::yaml;

use super::pattern::Pattern;

/// The rules, as a file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RuleFile {
    /// The configuration of a device that nobody has configured.
    begins: String,
    /// Lines that open a mode.
    modes: Vec<String>,
    /// Settings: a line replaces the one with the same match, or with the same groups.
    one: Vec<String>,
    /// What is on unless it is taken away: `no` stays in the configuration.
    on: Vec<String>,
    /// What is in the configuration in both cases, with `no` or without.
    either: Vec<String>,
    /// Defaults, which are taken and not shown.
    hidden: Vec<String>,
    /// What is there always: `no` has no effect on it, but on what is below.
    fixed: Vec<String>,
    /// What is shown in another way than it is typed: pattern and replacement.
    shown: Vec<(String, String)>,
    /// What the device refuses.
    refused: Vec<String>,
    /// What a changed setting takes away: a pattern for the setting, and one for what goes.
    clears: Vec<(String, String)>,
    /// Parts of a line that `no` takes away by their word: a pattern for the line, and one for the word.
    parts: Vec<(String, String)>,
    /// Lines that open a text: a pattern whose first group ends it.
    text: Vec<String>,
    /// The line that ends a text alone, where the opening line does not tell what does.
    text_end: Option<String>,
    /// How deep a mode is indented.
    indent: usize,
    /// Lines that the configuration does not show.
    unshown: Vec<String>,
    /// Lines that stand in this order, before others of their mode.
    order: Vec<String>,
    /// Modes whose lines are ordered by their number.
    numbered: Vec<String>,
}

/// The rules, compiled.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) begins: Vec<String>,
    modes: Vec<Pattern>,
    one: Vec<Pattern>,
    on: Vec<Pattern>,
    either: Vec<Pattern>,
    hidden: Vec<Pattern>,
    fixed: Vec<Pattern>,
    shown: Vec<(Pattern, String)>,
    refused: Vec<Pattern>,
    clears: Vec<(Pattern, Pattern)>,
    parts: Vec<(Pattern, Pattern)>,
    text: Vec<Pattern>,
    pub(super) text_end: Option<String>,
    pub(super) indent: usize,
    unshown: Vec<Pattern>,
    order: Vec<Pattern>,
    numbered: Vec<Pattern>,
}

impl Rules {
    /// Reads the rules.
    ///
    /// # Panics
    /// Panics when they are no rules.
    pub(super) fn read(text: &str) -> Self {
        let file: RuleFile = yaml::from_str(text).expect("rules are YAML");
        let all = |patterns: &[String]| patterns.iter().map(|one| Pattern::words(one)).collect();
        let pairs = |pairs: &[(String, String)]| -> Vec<(Pattern, String)> {
            let pairs = pairs.iter();
            pairs
                .map(|(one, other)| (Pattern::words(one), other.clone()))
                .collect()
        };
        Self {
            begins: file.begins.lines().map(str::to_owned).collect(),
            modes: all(&file.modes),
            one: all(&file.one),
            on: all(&file.on),
            either: all(&file.either),
            hidden: all(&file.hidden),
            fixed: all(&file.fixed),
            shown: pairs(&file.shown),
            refused: all(&file.refused),
            clears: both(&file.clears),
            parts: both(&file.parts),
            text: file.text.iter().map(|one| Pattern::letters(one)).collect(),
            text_end: file.text_end,
            indent: file.indent,
            order: all(&file.order),
            unshown: all(&file.unshown),
            numbered: all(&file.numbered),
        }
    }

    pub(super) fn is_mode(&self, line: &str) -> bool {
        whole(&self.modes, line)
    }

    /// The part of a line that names what it sets, if there is one of it.
    pub(super) fn setting(&self, line: &str) -> Option<String> {
        let mut captures = self.one.iter().filter_map(|one| one.captures(line));
        let captures = captures.next()?;
        let groups: Vec<&str> = captures
            .iter()
            .flatten()
            .map(|group| group.as_str())
            .collect();
        let parts = if groups.len() > 1 {
            &groups[1..]
        } else {
            &groups
        };
        Some(parts.concat())
    }

    pub(super) fn is_either(&self, line: &str) -> bool {
        whole(&self.either, line)
    }

    pub(super) fn is_on(&self, line: &str) -> bool {
        whole(&self.on, line)
    }

    pub(super) fn is_hidden(&self, line: &str) -> bool {
        whole(&self.hidden, line)
    }

    pub(super) fn is_fixed(&self, line: &str) -> bool {
        whole(&self.fixed, line)
    }

    pub(super) fn is_refused(&self, line: &str) -> bool {
        whole(&self.refused, line)
    }

    /// The place of a line among those that stand in order.
    pub(super) fn place(&self, line: &str) -> usize {
        let mut order = self.order.iter();
        order
            .position(|one| one.is_match(line))
            .unwrap_or(usize::MAX)
    }

    pub(super) fn is_unshown(&self, line: &str) -> bool {
        self.unshown.iter().any(|one| one.is_match(line))
    }

    pub(super) fn is_numbered(&self, line: &str) -> bool {
        whole(&self.numbered, line)
    }

    /// The line in the form in which it is shown.
    pub(super) fn shown(&self, line: &str) -> String {
        let shown = self.shown.iter();
        shown.fold(line.to_owned(), |line, (pattern, replacement)| {
            pattern.replaced(&line, replacement).unwrap_or(line)
        })
    }

    /// Whether a change of the first line takes away the other one.
    pub(super) fn clears(&self, line: &str, other: &str) -> bool {
        let mut clears = self.clears.iter();
        clears.any(|(setting, gone)| setting.is_match(line) && gone.is_match(other))
    }

    /// The line and the word, where `no` before this takes away a part of the line.
    pub(super) fn part<'l>(&self, line: &'l str) -> Option<(&'l str, &'l str)> {
        self.parts.iter().find_map(|(begin, word)| {
            let found = begin.find(line)?;
            let rest = line[found.end()..].trim_start();
            word.is_whole(rest).then_some((found.as_str(), rest))
        })
    }

    /// What ends the text that a line opens, if it opens one.
    pub(super) fn text_end(&self, line: &str) -> Option<String> {
        let mut captures = self.text.iter().filter_map(|text| text.captures(line));
        let captures = captures.next()?;
        let end = captures.get(1).map(|end| end.as_str().to_owned());
        end.or_else(|| self.text_end.clone())
    }
}

/// Pairs of patterns.
fn both(pairs: &[(String, String)]) -> Vec<(Pattern, Pattern)> {
    let pairs = pairs.iter();
    pairs
        .map(|(one, other)| (Pattern::words(one), Pattern::words(other)))
        .collect()
}

/// Whether a whole line matches one of the patterns.
fn whole(patterns: &[Pattern], line: &str) -> bool {
    patterns.iter().any(|pattern| pattern.is_whole(line))
}
