//! Regular expressions with the meaning that Python's `re` gives them, which TextFSM templates assume.
//!
//! The source is rewritten once for the engine: every literal character is escaped, so that nothing has a second
//! meaning, and the classes `\d \s \w` have Python's extent. A match begins at the start of the text, as `re.match` does.

mod class;
mod rewrite;

use fancy_regex::{Captures, Regex, RegexOptionsBuilder};

use rewrite::Rewriter;

/// The maximum number of backtracking steps of a match.
const STEPS: usize = 1_000_000;

/// The maximum size of a compiled expression in bytes: classes of Unicode are large, and repeats are expanded.
const SIZE: usize = 64 << 20;

/// A compiled regular expression.
#[derive(Debug)]
pub(super) struct Regexp(Regex);

impl Regexp {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// Fails with the reason why Python refuses the expression, or why the engine does.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let pattern = Rewriter::new(source).rewrite()?;
        let compiled = RegexOptionsBuilder::new()
            .backtrack_limit(STEPS)
            .delegate_size_limit(SIZE)
            // Nothing is searched for: a match begins at the start.
            .build_delegate_prefilter(false)
            .build(pattern);
        compiled.map(Self).map_err(|error| {
            let text = error.to_string();
            text.lines().last().unwrap_or_default().to_owned()
        })
    }

    /// Checks an expression that is only compiled as a part of others, which is much faster than compiling it. What an
    /// engine refuses in all expressions with this one may be missed.
    ///
    /// # Errors
    /// Fails with the reason why it cannot stand by itself.
    pub(super) fn check_part(source: &str) -> Result<(), String> {
        // The numbers and names of groups may be right in one expression and wrong in the other.
        let is_reference = |(at, _): (usize, &str)| {
            let next = source[at + 1..].chars().next();
            next.is_some_and(|c| c.is_ascii_digit())
        };
        if source.contains("(?") || source.match_indices('\\').any(is_reference) {
            return Self::new(source).map(|_| ());
        }
        Rewriter::new(source).rewrite().map(|_| ())
    }

    /// The groups of a match that begins at the start of the text.
    ///
    /// # Errors
    /// Fails when the match reaches the step limit: the result is unknown.
    pub(super) fn captures<'t>(&self, text: &'t str) -> Result<Option<Captures<'t, str>>, String> {
        let runaway = |_| format!("a regular expression was given up after {STEPS} steps");
        self.0.captures(text).map_err(runaway)
    }

    /// The names of its groups, with their numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        let names = self.0.capture_names().enumerate();
        names.filter_map(|(number, name)| Some((number, name?)))
    }

    /// The number of its groups.
    pub(super) fn groups(&self) -> usize {
        self.0.captures_len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched<'t>(source: &str, text: &'t str) -> Option<&'t str> {
        let regexp = Regexp::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        let groups = regexp.captures(text).expect("an answer")?;
        groups.get(0).map(|all| all.as_str())
    }

    #[test]
    fn a_match_begins_at_the_start_of_the_text() {
        assert_eq!(matched("b|^c", "ab"), None);
        assert_eq!(matched("^x|b", "ba"), Some("b"));
    }

    #[test]
    fn escapes_braces_and_brackets_mean_what_they_mean_in_python() {
        for (source, text, expected) in [
            (r"\<a\>", "<a>", Some("<a>")),
            (r"a\Z", "a\n", None),
            (r"\x41\u0042\103\_\-", "ABC_-", Some("ABC_-")),
            (r"{a}{2}", "{a}}", Some("{a}}")),
            (r"a{,2}{?", "aaa{", Some("aa")),
            (r"a{,3}", "aaaa", Some("aaa")),
            (r"x{1,y}", "x{1,y}", Some("x{1,y}")),
            (r"[]a[&&~~-]+", "]a[&~-b", Some("]a[&~-")),
            (r"[^]\w-]+", "#]", Some("#")),
            (r"[\w.-]+", "é_1.-/", Some("é_1.-")),
            (r"(\w)(?P<n>\w)\1(?P=n)0?", "abab0", Some("abab0")),
            (r"(a)(?(1)b|c)", "ab", Some("ab")),
            (r"a++b?(?>c|cd)", "aabcd", Some("aabc")),
            (r"(?=a)*(?<!x)?(?:a|)+", "aa", Some("aa")),
            (r"(?i:A)b", "ab", Some("ab")),
            (r"(?i)A(?#any case)B", "ab", Some("ab")),
            ("(?x) a  # first\n b", "ab", Some("ab")),
            (r"(?a)\w+", "aé", Some("a")),
            (
                r"\s+",
                "\u{1f}\u{a0}\u{2003}x",
                Some("\u{1f}\u{a0}\u{2003}"),
            ),
            (r"\d", "٣", Some("٣")),
            (r"a.c$", "a\rc", Some("a\rc")),
            (r"a +b? +c", "a c", None),
            (r"a +(b)? +c", "a  c", Some("a  c")),
            (r"(?:x+(?:-x+)?)+$", "x-x-x", None),
            (
                r"a*?b??c{0,1}?d{0,0}e{0,2}f{,}?$",
                "aabceeff",
                Some("aabceeff"),
            ),
            (r"<.*?>(x*+)x", "<a>b>xx", None),
        ] {
            assert_eq!(matched(source, text), expected, "{source}");
        }
    }

    #[test]
    fn what_python_refuses_is_refused() {
        for source in [
            "*a",
            "a**",
            "^*",
            r"\b+",
            "(a",
            "a)",
            "[a",
            "[z-a]",
            r"[\w-z]",
            r"\h",
            r"\x4",
            "(?P<a-b>x)",
            "(?Z)",
            "(?P<a>x)(?P<a>y)",
            "a{3,2}",
            "\\",
            "(?<a>b)",
        ] {
            assert!(Regexp::new(source).is_err(), "{source}");
        }
    }

    #[test]
    fn a_runaway_match_is_given_up_and_large_expressions_are_refused() {
        let runaway = Regexp::new(r"(a|a)*\1?b\Z").expect("compiles");
        assert!(runaway.captures(&"a".repeat(40)).is_err());
        assert!(Regexp::new(r"(\w{1000}){1000}").is_err());
    }
}
