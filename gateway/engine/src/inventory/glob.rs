//! Shell patterns over names: `*`, `?`, `[a-z]` and `{one,two}`, without regard to case.

use globset::{GlobBuilder, GlobSet};

/// Whether a word is a pattern rather than a name.
///
/// A URI may contain `?` and `[`, so that these alone do not make it a pattern.
pub(super) fn is_glob(word: &str) -> bool {
    word.contains(['*', '{']) || (word.contains(['?', '[']) && !may_be_address(word))
}

fn may_be_address(word: &str) -> bool {
    word.contains("://") || (word.contains('[') && word.contains("::"))
}

/// A pattern.
pub struct Glob(GlobSet);

/// The message for a pattern that is too large.
pub const TOO_LARGE: &str =
    "expected a pattern with at most 100 braces; give several words instead";

/// The number of braces in a pattern; they may be nested.
const MAX_BRACES: usize = 100;

impl Glob {
    /// Parses a pattern. One with a bracket or brace that is not closed is a plain name. Returns `None` when the
    /// pattern is too large ([`TOO_LARGE`]).
    pub fn new(pattern: &str) -> Option<Self> {
        if pattern.matches('{').count() > MAX_BRACES {
            return None;
        }
        let parsed = compile(pattern).or_else(|_| compile(&globset::escape(pattern)));
        parsed.ok().map(Self)
    }

    /// Whether the pattern matches a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

fn compile(pattern: &str) -> Result<GlobSet, globset::Error> {
    let glob = GlobBuilder::new(pattern).case_insensitive(true).build()?;
    GlobSet::new([glob])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell_without_case() {
        for (pattern, name, expected) in [
            ("r*", "R1.example.com", true),
            ("*.example.com", "r1.example.com", true),
            ("r?", "r12", false),
            ("r[1-3]", "r2", true),
            ("r[!1-3]", "r2", false),
            ("r[!1-3]", "r4", true),
            ("{r,sw}{1,2}", "sw2", true),
            ("{r,sw}{1,2}", "sw3", false),
            ("a{b,c{d,e}}*", "ace9", true),
            ("a*b*c", "a1b2b3c", true),
            ("a*b*c", "a1b2b3", false),
            ("{x", "{x", true),
            ("[", "[", true),
        ] {
            let glob = Glob::new(pattern).expect("it stands for few");
            assert_eq!(glob.matches(name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_that_is_too_large_is_none() {
        assert!(Glob::new(&"{a,b}".repeat(100)).is_some());
        assert!(Glob::new(&"{a,b}".repeat(101)).is_none());
        let nested = ["{a,".repeat(50_000), "}".repeat(50_000)].concat();
        assert!(Glob::new(&nested).is_none());
        assert!(Glob::new(&["*", &"x".repeat(100_000)].concat()).is_some());
    }

    #[test]
    fn an_address_is_no_pattern() {
        assert!(!is_glob("https://h/x?y=1") && !is_glob("[::1]:22") && !is_glob("r1"));
        assert!(is_glob("r?") && is_glob("r[12]") && is_glob("{a,b}") && is_glob("ssh://*"));
    }
}
