//! Configured lists of algorithms, relative to the defaults.

use crate::glob::glob;

/// The word that stands for the default algorithms in a list.
const USUAL: &str = "defaults";

/// How a list of algorithms differs from the default list (ssh_config(5), `Ciphers`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmList {
    /// These, the most preferred first. `defaults` stands for the default ones.
    These(Vec<String>),
    /// The default ones, followed by these.
    Behind(Vec<String>),
    /// The default ones, except those that match these patterns.
    Without(Vec<String>),
    /// These, followed by the default ones.
    Before(Vec<String>),
}

impl AlgorithmList {
    /// Parses a list as written in OpenSSH's configuration: `a,b`, `+a`, `-a*`, `^a`.
    pub(crate) fn parse(text: &str) -> Self {
        let names = |list: &str| list.split(',').map(str::trim).map(str::to_owned).collect();
        match text.chars().next() {
            Some('+') => Self::Behind(names(&text[1..])),
            Some('-') => Self::Without(names(&text[1..])),
            Some('^') => Self::Before(names(&text[1..])),
            _ => Self::These(names(text)),
        }
    }

    /// Returns the names in order of preference, each once.
    pub(crate) fn of<'a>(&'a self, usual: &[&'a str]) -> Vec<&'a str> {
        let usual = usual.iter().copied();
        let wished: Vec<&str> = match self {
            Self::These(names) => {
                let usual: Vec<&str> = usual.collect();
                names
                    .iter()
                    .flat_map(|name| match name.as_str() {
                        USUAL => usual.clone(),
                        name => vec![name],
                    })
                    .collect()
            }
            Self::Behind(names) => usual.chain(names.iter().map(String::as_str)).collect(),
            Self::Before(names) => names.iter().map(String::as_str).chain(usual).collect(),
            Self::Without(patterns) => usual
                .filter(|name| !patterns.iter().any(|pattern| glob(pattern, name)))
                .collect(),
        };
        let mut once: Vec<&str> = Vec::new();
        for name in wished {
            if !once.contains(&name) {
                once.push(name);
            }
        }
        once
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        AlgorithmList::parse(text)
            .of(&["a", "b-1", "b-2"])
            .join(",")
    }

    #[test]
    fn a_list_is_replaced_lengthened_shortened_or_reordered() {
        assert_eq!(of("c,a"), "c,a");
        assert_eq!(of("+c,a"), "a,b-1,b-2,c");
        assert_eq!(of("-b-*"), "a");
        assert_eq!(of("^b-2,c"), "b-2,c,a,b-1");
        let inventory = AlgorithmList::These(vec!["defaults".into(), "c".into()]);
        assert_eq!(inventory.of(&["a", "b"]), ["a", "b", "c"]);
    }
}
