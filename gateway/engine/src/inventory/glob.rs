//! Shell patterns over names: `*`, `?`, `[a-z]` and `{one,two}`, without regard to case.

/// Whether a word is a pattern rather than a name.
///
/// A URI may contain `?` and `[`, so that these alone do not make it a pattern.
pub(super) fn is_glob(word: &str) -> bool {
    word.contains(['*', '{']) || (word.contains(['?', '[']) && !may_be_address(word))
}

fn may_be_address(word: &str) -> bool {
    word.contains("://") || (word.contains('[') && word.contains("::"))
}

/// A pattern with its braces expanded.
pub struct Glob(Vec<Vec<char>>);

/// The message for a pattern that stands for too many names.
pub const TOO_MANY: &str =
    "expected a pattern whose braces stand for at most 1,000 names; give several words instead";

/// The number of patterns that the braces of one may expand to.
const MOST: usize = 1_000;

/// The number of braces in a pattern; they may be nested.
const MOST_BRACES: usize = 100;

impl Glob {
    /// Parses a pattern. Returns `None` when its braces stand for too many names ([`TOO_MANY`]).
    pub fn new(pattern: &str) -> Option<Self> {
        if pattern.matches('{').count() > MOST_BRACES {
            return None;
        }
        let mut expanded = Vec::new();
        expand(&pattern.to_lowercase(), &mut expanded).then_some(Self(expanded))
    }

    /// Whether the pattern matches a name.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.to_lowercase().chars().collect();
        self.0.iter().any(|pattern| matches(pattern, &name))
    }
}

/// Expands `a{b,c{d,e}}` to `ab`, `acd`, `ace`. An unclosed brace is kept. Returns whether there are few enough
/// patterns.
fn expand(pattern: &str, expanded: &mut Vec<Vec<char>>) -> bool {
    let Some((before, choices, after)) = braces(pattern) else {
        expanded.push(pattern.chars().collect());
        return expanded.len() <= MOST;
    };
    choices
        .iter()
        .all(|choice| expand(&format!("{before}{choice}{after}"), expanded))
}

/// Returns the choices of the first braces, with the texts before and after them.
fn braces(pattern: &str) -> Option<(&str, Vec<&str>, &str)> {
    let open = pattern.find('{')?;
    let (mut depth, mut start, mut choices) = (0_usize, open + 1, Vec::new());
    for (at, c) in pattern.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                choices.push(&pattern[start..at]);
                return Some((&pattern[..open], choices, &pattern[at + 1..]));
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                choices.push(&pattern[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Matches a name, going back only to the last `*`. This is linear for any pattern that people write.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => class(&pattern[p..], name[n]),
            Some(c) if *c == name[n] => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(length), _) => (p, n) = (p + length, n + 1),
            (None, Some((at, from))) => {
                star = Some((at, from + 1));
                (p, n) = (at + 1, from + 1);
            }
            (None, None) => return false,
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Returns the length of a character class that contains `c`. An unclosed class is a plain `[`.
fn class(pattern: &[char], c: char) -> Option<usize> {
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let start = if negated { 2 } else { 1 };
    let Some(end) = (start + 1..pattern.len()).find(|at| pattern[*at] == ']') else {
        return (c == '[').then_some(1);
    };
    let (mut at, mut holds) = (start, false);
    while at < end {
        if at + 2 < end && pattern[at + 1] == '-' {
            holds |= (pattern[at]..=pattern[at + 2]).contains(&c);
            at += 3;
        } else {
            holds |= pattern[at] == c;
            at += 1;
        }
    }
    (holds != negated).then_some(end + 1)
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
    fn a_pattern_that_stands_for_too_many_is_none() {
        assert!(Glob::new(&"{a,b}".repeat(9)).is_some());
        assert!(Glob::new(&"{a,b}".repeat(10)).is_none());
        assert!(Glob::new(&"{a,b}".repeat(90)).is_none());
        let nested = ["{a,".repeat(50_000), "}".repeat(50_000)].concat();
        assert!(Glob::new(&nested).is_none());
    }

    #[test]
    fn an_address_is_no_pattern() {
        assert!(!is_glob("https://h/x?y=1") && !is_glob("[::1]:22") && !is_glob("r1"));
        assert!(is_glob("r?") && is_glob("r[12]") && is_glob("{a,b}") && is_glob("ssh://*"));
    }
}
