//! A family's tables of names: the one form of what a device writes in several ways.

use devgate_schemas::{Regexp, RegexpError};

/// The table of the names of interfaces.
pub(crate) const INTERFACE: &str = "interface";

/// A table of names, which is a filter of the same name: `Gi0/1` is `GigabitEthernet0/1`.
#[derive(Clone, Debug)]
pub(crate) struct NameTable {
    pub(crate) name: String,
    pub(crate) forms: Vec<NameForm>,
}

/// One form of names.
#[derive(Clone, Debug)]
pub(crate) enum NameForm {
    /// A word before a number. Its beginnings mean it, in any case.
    Word(String),
    /// What a whole name that matches is replaced with; `\1` is the first group.
    Pattern(Box<Regexp>, String),
}

impl NameForm {
    /// A pattern for whole names, and what replaces them.
    ///
    /// # Errors
    /// Fails when the pattern is invalid.
    pub(crate) fn pattern(pattern: &str, form: &str) -> Result<Self, RegexpError> {
        // The error must refer to the source text, not to the extended one.
        let whole = Regexp::new(&format!(r"\A(?:{pattern})\z"));
        let whole = whole.map_err(|error| Regexp::new(pattern).err().unwrap_or(error))?;
        Ok(Self::Pattern(Box::new(whole), form.to_owned()))
    }

    /// A name in this form, if it has it.
    fn of(&self, text: &str) -> Option<String> {
        match self {
            Self::Word(word) => {
                let (prefix, number) = split(text);
                let starts = word.get(..prefix.len())?.eq_ignore_ascii_case(prefix);
                (starts && !prefix.is_empty()).then(|| format!("{word}{number}"))
            }
            Self::Pattern(pattern, form) => {
                let captures = pattern.captures(text).ok()??;
                let mut parts = form.split('\\');
                let mut name = parts.next().unwrap_or_default().to_owned();
                for part in parts {
                    match part.chars().next().and_then(|digit| digit.to_digit(10)) {
                        Some(number) => {
                            name.push_str(captures.group(number as usize).unwrap_or_default());
                            name.push_str(&part[1..]);
                        }
                        None => {
                            name.push('\\');
                            name.push_str(part);
                        }
                    }
                }
                Some(name)
            }
        }
    }
}

impl NameTable {
    /// A name in the first form that it has. A name without any form stays as it is.
    pub(super) fn canonical(&self, text: &str) -> String {
        let mut forms = self.forms.iter();
        let found = forms.find_map(|form| form.of(text));
        found.unwrap_or_else(|| text.to_owned())
    }
}

impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.forms == other.forms
    }
}

impl PartialEq for NameForm {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(other)) => one == other,
            (Self::Pattern(one, form), Self::Pattern(other, other_form)) => {
                one.source() == other.source() && form == other_form
            }
            (Self::Word(_), Self::Pattern(..)) | (Self::Pattern(..), Self::Word(_)) => false,
        }
    }
}

/// The letters before the first digit, and the rest.
fn split(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| character.is_ascii_digit());
    let (prefix, number) = text.split_at(end.unwrap_or(text.len()));
    (prefix.trim_end(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_first_form_that_fits() {
        let word = |word: &str| NameForm::Word(word.to_owned());
        let pattern = |pattern, form| NameForm::pattern(pattern, form).expect("it compiles");
        let table = NameTable {
            name: "interface".to_owned(),
            forms: vec![
                word("GigabitEthernet"),
                word("Vlan"),
                pattern("(?i)port (\\d+/\\d+/\\S+)", r"\1"),
                pattern(r"(?i)lag[ -]?(\d+)", r"lag-\1"),
            ],
        };
        for (text, name) in [
            ("Gi0/1", "GigabitEthernet0/1"),
            ("gi 0/1", "GigabitEthernet0/1"),
            ("vlan10", "Vlan10"),
            ("GigabitEthernet0/1", "GigabitEthernet0/1"),
            ("Te0/1", "Te0/1"),
            ("10", "10"),
            ("Port 1/1/c1/1", "1/1/c1/1"),
            ("LAG 7", "lag-7"),
            ("et-0/0/0", "et-0/0/0"),
        ] {
            assert_eq!(table.canonical(text), name);
            assert_eq!(table.canonical(name), name);
        }
        assert!(NameForm::pattern("(", "x").is_err());
    }
}
