//! Configured lists of algorithms, relative to the defaults.

use crate::glob::glob;

/// The word that stands for the default algorithms in a list.
const DEFAULTS: &str = "defaults";

/// How a list of algorithms differs from the default list (ssh_config(5), `Ciphers`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmList {
    /// These, the most preferred first. `defaults` stands for the default ones.
    Replace(Vec<String>),
    /// The default ones, followed by these.
    Append(Vec<String>),
    /// The default ones, except those that match these patterns.
    Remove(Vec<String>),
    /// These, followed by the default ones.
    Prepend(Vec<String>),
}

impl AlgorithmList {
    /// Parses a list as written in OpenSSH's configuration: `a,b`, `+a`, `-a*`, `^a`.
    pub(crate) fn parse(text: &str) -> Self {
        let names = |list: &str| list.split(',').map(str::trim).map(str::to_owned).collect();
        match text.chars().next() {
            Some('+') => Self::Append(names(&text[1..])),
            Some('-') => Self::Remove(names(&text[1..])),
            Some('^') => Self::Prepend(names(&text[1..])),
            _ => Self::Replace(names(text)),
        }
    }

    /// Returns the names in order of preference, each once.
    pub(crate) fn applied_to<'a>(&'a self, defaults: &[&'a str]) -> Vec<&'a str> {
        let defaults = defaults.iter().copied();
        let names_in_order: Vec<&str> = match self {
            Self::Replace(names) => {
                let defaults: Vec<&str> = defaults.collect();
                names
                    .iter()
                    .flat_map(|name| match name.as_str() {
                        DEFAULTS => defaults.clone(),
                        name => vec![name],
                    })
                    .collect()
            }
            Self::Append(names) => defaults.chain(names.iter().map(String::as_str)).collect(),
            Self::Prepend(names) => names.iter().map(String::as_str).chain(defaults).collect(),
            Self::Remove(patterns) => defaults
                .filter(|name| !patterns.iter().any(|pattern| glob(pattern, name)))
                .collect(),
        };
        let mut unique: Vec<&str> = Vec::new();
        for name in names_in_order {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        unique
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied_to(text: &str) -> String {
        AlgorithmList::parse(text)
            .applied_to(&["a", "b-1", "b-2"])
            .join(",")
    }

    #[test]
    fn a_list_is_replaced_lengthened_shortened_or_reordered() {
        assert_eq!(applied_to("c,a"), "c,a");
        assert_eq!(applied_to("+c,a"), "a,b-1,b-2,c");
        assert_eq!(applied_to("-b-*"), "a");
        assert_eq!(applied_to("^b-2,c"), "b-2,c,a,b-1");
        let inventory = AlgorithmList::Replace(vec!["defaults".into(), "c".into()]);
        assert_eq!(inventory.applied_to(&["a", "b"]), ["a", "b", "c"]);
    }
}
