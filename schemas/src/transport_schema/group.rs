//! Groups: attributes of a transport schema that exclude each other or belong together.
//!
//! The Resource API leaves such rules to each transport ("mutual exclusivity of optional values"). Here the
//! schema declares them, so that they are checked and documented before anything connects.

use std::fmt;

use indexmap::IndexMap;

use crate::attribute::ruby_class;
use crate::problem::DefinitionProblems;
use crate::{Attribute, ConnectionInfo, Hash, Value, did_you_mean, suggest};

/// A rule over several attributes: `exactly_one_of: [password, apikey, private_key]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The rule.
    pub rule: Rule,
    /// The attributes to which the rule applies, at least two.
    pub members: Vec<String>,
}

/// How many of a group's attributes are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One, and no other.
    ExactlyOneOf,
    /// One, or none.
    AtMostOneOf,
    /// Every one, or none.
    AllOrNoneOf,
}

impl Group {
    /// Parses the `groups` of a schema: a list of mappings, each with a rule and its attributes.
    pub(super) fn register_all(
        owner: &str,
        definition: &Value,
        problems: &mut DefinitionProblems,
    ) -> Vec<Self> {
        let Value::Array(groups) = definition else {
            let class = ruby_class(definition);
            let message = format!(
                "`{owner}.groups` must be a list of groups, such as `- exactly_one_of: [password, \
                 token]`, not `{class}`"
            );
            problems.add(&["groups"], message);
            return Vec::new();
        };
        let register = |group| Self::register(owner, group, problems);
        groups.iter().filter_map(register).collect()
    }

    fn register(
        owner: &str,
        definition: &Value,
        problems: &mut DefinitionProblems,
    ) -> Option<Self> {
        let pairs = definition.as_hash().map(Hash::iter);
        let Some((Some((rule, members)), None)) = pairs.map(|mut p| (p.next(), p.next())) else {
            let message = format!(
                "a group of `{owner}` is one rule and its attributes, such as `exactly_one_of: \
                 [password, token]`"
            );
            problems.add(&["groups"], message);
            return None;
        };
        let word = rule.to_string();
        let Some(rule) = Rule::named(&word) else {
            let hint = suggest(&word, Rule::ALL.map(Rule::word));
            let message = format!("`{owner}` has a group with an unknown rule `{word}`{hint}");
            problems.add(&["groups"], message);
            return None;
        };
        let names = match members {
            Value::Array(names) => names.iter().map(Value::as_str).collect(),
            _ => None,
        };
        let names: Option<Vec<&str>> = names;
        let Some(names) = names.filter(|names| names.len() > 1) else {
            let message =
                format!("`{word}` in `{owner}.groups` must name two attributes or more, in a list");
            problems.add(&["groups"], message);
            return None;
        };
        Some(Self {
            rule,
            members: names.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Reports why the rule makes no sense for these attributes.
    pub(super) fn check(
        &self,
        owner: &str,
        attributes: &IndexMap<String, Attribute>,
        problems: &mut DefinitionProblems,
    ) {
        let mut wrong = |message: String| {
            problems.add(
                &["groups"],
                format!("`{owner}` wants {self}, but {message}"),
            );
        };
        for (at, name) in self.members.iter().enumerate() {
            let Some(attribute) = attributes.get(name) else {
                let hint = did_you_mean(name, attributes.keys().map(String::as_str));
                wrong(format!("has no attribute `{name}`{hint}"));
                continue;
            };
            if self.members[..at].contains(name) {
                wrong(format!("names `{name}` twice"));
            }
            if attribute.default.is_some() {
                wrong(format!("`{name}` has a default, and so is always given"));
            } else if attribute.is_mandatory() {
                wrong(format!(
                    "`{name}` must always be given: write its type as `Optional[{}]`",
                    attribute.data_type
                ));
            }
        }
    }

    /// Describes how the given attributes violate the rule and what to do about it. No value is quoted.
    pub(super) fn violation(&self, info: &ConnectionInfo) -> Option<String> {
        let is_given = |name: &&String| {
            info.get(name.as_str())
                .is_some_and(|value| !value.is_undef())
        };
        let (given, missing): (Vec<&String>, Vec<&String>) =
            self.members.iter().partition(is_given);
        let (members, both) = (&self.members, self.members.len() == 2);
        match (self.rule, given.len()) {
            (Rule::ExactlyOneOf, 1) | (Rule::AtMostOneOf, 0 | 1) | (Rule::AllOrNoneOf, 0) => None,
            (Rule::AllOrNoneOf, _) if missing.is_empty() => None,
            (Rule::ExactlyOneOf, 0) => Some(if both {
                format!(
                    "neither {} is given: give one of them",
                    listed(members, "nor")
                )
            } else {
                format!(
                    "none of {} is given: give one of them",
                    listed(members, "and")
                )
            }),
            (Rule::ExactlyOneOf, _) => Some(format!(
                "{} exclude each other, and are all given: give exactly one of {}",
                listed(&given, "and"),
                listed(members, "or")
            )),
            (Rule::AtMostOneOf, _) => Some(format!(
                "{} exclude each other, and are all given: give one of them at most",
                listed(&given, "and")
            )),
            (Rule::AllOrNoneOf, _) => Some(format!(
                "{} {} given without {}: give {}, or {}",
                listed(&given, "and"),
                if given.len() == 1 { "is" } else { "are" },
                listed(&missing, "and"),
                if both { "both" } else { "all of them" },
                if both { "neither" } else { "none" },
            )),
        }
    }

    /// Whether the rule applies to any of these attributes.
    pub(super) fn names_any(&self, names: &[String]) -> bool {
        self.members.iter().any(|member| names.contains(member))
    }

    /// Whether the rule applies only to attributes in this list.
    pub(super) fn is_within(&self, names: &[&str]) -> bool {
        let is_named = |member: &String| names.contains(&member.as_str());
        self.members.iter().all(is_named)
    }
}

impl Rule {
    const ALL: [Self; 3] = [Self::ExactlyOneOf, Self::AtMostOneOf, Self::AllOrNoneOf];

    /// Returns the rule's name in a schema.
    pub fn word(self) -> &'static str {
        match self {
            Self::ExactlyOneOf => "exactly_one_of",
            Self::AtMostOneOf => "at_most_one_of",
            Self::AllOrNoneOf => "all_or_none_of",
        }
    }

    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.word() == word)
    }
}

/// Formats the group for people: ``exactly one of `password` or `token` ``.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, conjunction) = match self.rule {
            Rule::ExactlyOneOf => ("exactly one of", "or"),
            Rule::AtMostOneOf => ("at most one of", "or"),
            Rule::AllOrNoneOf => ("all or none of", "and"),
        };
        write!(f, "{words} {}", listed(&self.members, conjunction))
    }
}

/// Formats a list of names: `` `a`, `b` and `c` ``.
fn listed<S: AsRef<str>>(names: &[S], conjunction: &str) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} {conjunction} {last}", others.join(", ")),
        None => String::new(),
    }
}
