//! Regular expressions with Ruby's meaning, for `Pattern` types and title patterns.
//!
//! In Ruby, `^` and `$` match at lines, `(?m)` lets the dot match line ends, and `\d \h \s \w` are ASCII.
//! The source is therefore rewritten once, and then compiled by an engine that supports look-around and
//! back-references and gives up after [`STEPS`] steps.

use std::fmt;

use fancy_regex::{RegexInput, RegexOptionsBuilder};

mod error;
mod inspect;
mod rewrite;

pub use error::RegexpError;

/// The maximum number of backtracking steps of a match.
pub(crate) const STEPS: usize = 1_000_000;

/// The maximum size of a compiled expression, in instructions: calls of groups are expanded.
const PROGRAM: usize = 100_000;

/// A compiled regular expression with Ruby's meaning.
#[derive(Clone, Debug)]
pub struct Regexp {
    source: String,
    compiled: fancy_regex::Regex,
    /// The names of groups, each with the numbers of its groups.
    names: Vec<(String, Vec<usize>)>,
    /// Whether a match can only begin at the start of a line.
    begins_at_line: bool,
}

/// A match exceeded the backtracking limit and was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression was given up after {STEPS} steps")]
pub struct Runaway;

/// The groups that a match captured.
#[derive(Debug)]
pub struct Captures<'r, 't> {
    regexp: &'r Regexp,
    groups: fancy_regex::Captures<'t, str>,
}

impl Regexp {
    /// Compiles a regular expression from the text between its slashes.
    ///
    /// # Errors
    /// Fails when Ruby refuses the expression, or when this engine cannot give it Ruby's meaning.
    pub fn new(source: &str) -> Result<Self, RegexpError> {
        let rewrite::Rewritten {
            pattern,
            names,
            begins_at_line,
            ignores_case,
        } = rewrite::to_engine(source)?;
        let compiled = RegexOptionsBuilder::new()
            .oniguruma_mode(true)
            .multi_line(true)
            .backtrack_limit(STEPS)
            .max_prog_size(PROGRAM)
            // It looks for words that a match contains. Looking for all their spellings saves less time in the short texts
            // of devices than it takes to prepare.
            .build_delegate_prefilter(!ignores_case)
            .build(pattern)
            .map_err(|error| RegexpError::Unsupported {
                reason: error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .to_owned(),
                source_text: source.to_owned(),
            })?;
        Ok(Self {
            source: source.to_owned(),
            compiled,
            names,
            begins_at_line,
        })
    }

    /// Returns the text between the slashes as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the groups in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    /// Whether any part of the text matches.
    ///
    /// # Errors
    /// Fails with [`Runaway`] when the match reaches the step limit: the result is unknown.
    pub fn is_match(&self, text: &str) -> Result<bool, Runaway> {
        let found = self.compiled.is_match_input(self.input(text));
        found.map_err(|_| Runaway)
    }

    /// Returns the first match and its groups.
    ///
    /// # Errors
    /// Fails with [`Runaway`] when the match reaches the step limit: the result is unknown.
    pub fn captures<'r, 't>(&'r self, text: &'t str) -> Result<Option<Captures<'r, 't>>, Runaway> {
        let groups = self.compiled.captures_input(self.input(text));
        Ok(groups.map_err(|_| Runaway)?.map(|groups| Captures {
            regexp: self,
            groups,
        }))
    }

    /// Returns the text as input of the engine. Most expressions begin with `^`, and most texts are one line. The engine
    /// itself would try such an expression at each character, and each time find out that no line starts there.
    fn input<'t>(&self, text: &'t str) -> RegexInput<'t, str> {
        let only_at_start = self.begins_at_line && !text.contains('\n');
        RegexInput::new(text).anchored(only_at_start)
    }
}

impl<'t> Captures<'_, 't> {
    /// Returns the text of a named group. Of several groups with this name, the last one that took part in
    /// the match counts.
    pub fn name(&self, name: &str) -> Option<&'t str> {
        let (_, numbers) = self.regexp.names.iter().find(|(known, _)| known == name)?;
        numbers.iter().rev().find_map(|number| self.group(*number))
    }

    /// Returns the text of a group by number; 0 is the whole match.
    pub fn group(&self, number: usize) -> Option<&'t str> {
        self.groups.get(number).map(|group| group.as_str())
    }

    /// Returns the names of the expression's groups in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.regexp.names()
    }
}

impl fmt::Display for Regexp {
    /// Formats the expression as Puppet prints it: between slashes. A pattern that is bound to Unicode
    /// carries its options.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        inspect::inspect(&self.source, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regexp(source: &str) -> Regexp {
        Regexp::new(source).expect("a regular expression")
    }

    fn matches(source: &str, text: &str) -> bool {
        regexp(source).is_match(text).expect("an answer")
    }

    #[test]
    fn line_anchors_stand_at_every_line() {
        assert!(matches("^b$", "a\nb\nc"));
        assert!(!matches("\\Ab\\z", "a\nb\nc"));
        assert!(matches("\\Ab\\Z", "b\n"));
    }

    #[test]
    fn shorthands_are_ascii_and_brackets_are_not() {
        assert!(!matches("\\w", "é"));
        assert!(matches("[[:alpha:]]", "é"));
        assert!(matches("(?u)\\w", "é"));
        assert!(matches("\\h\\H", "fg"));
    }

    #[test]
    fn options_reach_as_far_as_in_ruby() {
        assert!(matches("(?m)a.b", "a\nb"));
        assert!(!matches("a.b", "a\nb"));
        assert!(
            matches("a(?i)b|c", "aC"),
            "alternatives stay behind the options"
        );
        assert!(matches("(?x) a b # comment", "ab"));
        assert!(!matches("(?i:a)b", "AB"));
    }

    #[test]
    fn groups_are_found_by_name_whatever_their_order() -> Result<(), Runaway> {
        let title = regexp("^(?<name>.*[^/])/(?<port>\\d+)$|^(?<name>.*)$");
        let names: Vec<&str> = title.names().collect();
        assert_eq!(names, ["name", "port"]);
        let captures = title.captures("eth0/7")?.expect("a match");
        assert_eq!(
            (captures.name("name"), captures.name("port")),
            (Some("eth0"), Some("7"))
        );
        let captures = title.captures("lo")?.expect("a match");
        assert_eq!(
            (captures.name("name"), captures.name("port")),
            (Some("lo"), None)
        );
        assert_eq!(captures.group(0), Some("lo"));
        Ok(())
    }

    #[test]
    fn look_around_references_and_possessive_repeats_work() {
        assert!(matches("\\A(?!root\\z)[a-z]+\\z", "admin"));
        assert!(matches("(?<a>x)\\k<a>", "xx"));
        assert!(!matches("\\Aa++a", "aaa"));
        assert!(matches("\\A(?<p>\\((?:[^()]|\\g<p>)*\\))\\z", "(a(b)c)"));
    }

    #[test]
    fn repeats_of_the_same_on_both_sides_of_an_option_both_count() {
        assert!(!matches("\\A\\w+\\.?\\w+\\z", "a"));
        assert!(!matches("\\Aa{1,}b*a{1,}\\z", "a"));
        assert!(matches("\\A\\w+\\.?\\w+\\z", "ab"));
    }

    #[test]
    fn what_ruby_refuses_is_refused_in_its_words() {
        for (source, reason) in [
            ("[", "premature end of char-class: /[/"),
            ("a/(", "end pattern with unmatched parenthesis: /a\\/(/"),
            ("a)", "unmatched close parenthesis: /a)/"),
            ("+", "target of repeat operator is not specified: /+/"),
            ("[z-a]", "empty range in char class: /[z-a]/"),
            ("(?<=a+)b", "invalid pattern in look-behind: /(?<=a+)b/"),
            (
                "\\p{Nope}",
                "invalid character property name {Nope}: /\\p{Nope}/",
            ),
        ] {
            assert_eq!(
                Regexp::new(source).expect_err("refused").to_string(),
                reason
            );
        }
    }

    #[test]
    fn what_the_engine_lacks_is_refused_and_not_matched_differently() {
        let error = Regexp::new("\\X").expect_err("refused");
        assert!(matches!(error, RegexpError::Unsupported { .. }), "{error}");
    }

    #[test]
    fn an_expression_is_known_to_begin_at_a_line_only_if_all_of_it_does() {
        for source in [
            "^a",
            "\\Aa|^b",
            "(?i)^a",
            "(^a|(?:^b|\\A))c",
            "(?<n>^)a",
            "(?>^a)",
            "(?x) ^ a # b",
            "(?#c)^",
        ] {
            assert!(regexp(source).begins_at_line, "{source}");
        }
        for source in [
            "",
            "a",
            "^a|",
            "^a|b",
            "(?i)a|^b",
            "a(?i)^b",
            "(^a|b)",
            "^?a",
            "(?:^a)?b",
            "(?:^a){0,1}b",
            "(?=a)^",
            "(?!^)a",
            "(?~^)a",
            "(a)?(?(1)^b|^c)",
            "[^a]",
            "\\^a",
            "$",
        ] {
            assert!(!regexp(source).begins_at_line, "{source}");
        }
    }

    /// Compares with the engine, which tries the expression at each character.
    #[test]
    fn where_an_expression_begins_changes_no_match() {
        const PARTS: [&str; 20] = [
            "^", "\\A", "^", "|", "(", ")", "(?:", "(?i)", "a", "b", ".", "?", "*", "{0}", "(?=",
            "(?!", "(?~", "\\G", "\\K", "$",
        ];
        const TEXTS: [&str; 10] = [
            "", "a", "b", "ba", "ab", "AaB", "aab", "a\nb", "b\na", "a\n",
        ];
        let mut sources = vec![String::new()];
        for length in 0..3 {
            let longest = sources.clone().into_iter();
            let longest = longest.filter(|source| source.chars().count() >= length);
            sources.extend(longest.flat_map(|source| PARTS.map(|part| format!("{source}{part}"))));
        }
        let mut seed = 1_u64;
        let mut part = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            PARTS[(seed >> 33) as usize % PARTS.len()]
        };
        sources.extend((0..4_000).map(|number| (0..4 + number % 5).map(|_| part()).collect()));
        let mut anchored = 0;
        for source in sources {
            let opened = source.matches('(').count() - source.matches("(?i)").count();
            let closed = source.matches(')').count() - source.matches("(?i)").count();
            let source = source + &")".repeat(opened.saturating_sub(closed));
            let Ok(regexp) = Regexp::new(&source) else {
                continue;
            };
            anchored += usize::from(regexp.begins_at_line);
            for text in TEXTS {
                let spans = |groups: fancy_regex::Captures<'_, str>| {
                    let groups = groups.iter().map(|group| group.map(|group| group.range()));
                    groups.collect::<Vec<_>>()
                };
                let expected = regexp.compiled.captures(text).map_err(|_| Runaway);
                let expected = expected.map(|groups| groups.map(spans));
                let found = regexp.captures(text);
                let found = found.map(|found| found.map(|found| spans(found.groups)));
                assert_eq!(found, expected, "/{source}/ in {text:?}");
                let is_found = expected.map(|groups| groups.is_some());
                assert_eq!(regexp.is_match(text), is_found, "/{source}/ in {text:?}");
            }
        }
        assert!(anchored > 500, "{anchored}");
    }

    #[test]
    fn repeats_that_would_take_too_long_are_refused() {
        for source in ["x{100000}", "((x{100}){100}){100}", "(x{50}y{50}){60}"] {
            let error = Regexp::new(source).expect_err("refused");
            assert!(matches!(error, RegexpError::Unsupported { .. }), "{error}");
        }
        assert!(matches("\\A.{1,1024}\\z", "x"));
        assert!(matches(
            "\\A(?:[a-z]{1,63}\\.){0,20}[[:alpha:]]+\\z",
            "a.b.c"
        ));
    }

    #[test]
    fn a_runaway_match_is_given_up() {
        let runaway = regexp("\\A(a|a)*\\1?b\\z");
        assert_eq!(runaway.is_match(&"a".repeat(40)), Err(Runaway));
        assert_eq!(runaway.is_match("aab"), Ok(true));
    }
}
