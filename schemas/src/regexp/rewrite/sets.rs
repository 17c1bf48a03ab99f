//! Named character sets.

use super::rewriter::Alphabet;

/// A character set: the text between the brackets.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) text: String,
    pub(super) negated: bool,
}

impl Set {
    /// Returns the set as a bracketed class.
    pub(super) fn outside(&self) -> String {
        format!("[{}{}]", if self.negated { "^" } else { "" }, self.text)
    }
}

/// Returns the set of a POSIX bracket, such as `alpha`.
pub(super) fn posix(name: &str, alphabet: Alphabet) -> Option<Set> {
    let (name, negated) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    set(name, alphabet).map(|text| Set {
        text: text.to_owned(),
        negated,
    })
}

/// Returns a set that POSIX names. It covers all of Unicode, unless the `a` option restricts it to ASCII.
pub(super) fn set(name: &str, alphabet: Alphabet) -> Option<&'static str> {
    let ascii = alphabet == Alphabet::Ascii;
    let text = match name {
        "alnum" if ascii => "a-zA-Z0-9",
        "alnum" => "\\p{Alphabetic}\\p{Nd}",
        "alpha" if ascii => "a-zA-Z",
        "alpha" => "\\p{Alphabetic}",
        "ascii" => "\\x00-\\x7f",
        "blank" if ascii => " \\t",
        "blank" => "\\t\\p{Zs}",
        "cntrl" if ascii => "\\x00-\\x1f\\x7f",
        "cntrl" => "\\p{Cc}",
        "digit" if ascii => "0-9",
        "digit" => "\\p{Nd}",
        "graph" if ascii => "!-\\~",
        "graph" => "[^\\p{White_Space}\\p{Cc}\\p{Cn}]",
        "lower" if ascii => "a-z",
        "lower" => "\\p{Lowercase}",
        "print" if ascii => " -\\~",
        "print" => "\\p{Zs}[^\\p{White_Space}\\p{Cc}\\p{Cn}]",
        "punct" if ascii => "!-/:-@\\[-`\\{-\\~",
        "punct" => "\\p{P}$+<=>\\^`|\\~",
        "space" if ascii => " \\t-\\r",
        "space" => "\\p{White_Space}",
        "upper" if ascii => "A-Z",
        "upper" => "\\p{Uppercase}",
        "xdigit" => "0-9a-fA-F",
        "word" if ascii => "a-zA-Z0-9_",
        "word" => "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}",
        _ => return None,
    };
    Some(text)
}

/// Returns the set of a Unicode property; `None` if the name is unknown.
pub(super) fn property(name: &str) -> Option<String> {
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, ' ' | '_' | '-'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if let Some(text) = set(&plain, Alphabet::Mixed) {
        return Some(text.to_owned());
    }
    let text = format!("\\p{{{name}}}");
    fancy_regex::Regex::new(&text).is_ok().then_some(text)
}
