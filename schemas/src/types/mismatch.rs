//! How a value differs from its type: every violation with its path, in Puppet's words.

use std::fmt::{self, Display, Formatter};

use super::model::{Range, Text, Type};

/// Every way in which a value differs from its type.
///
/// It displays as Puppet words it for a schema's attribute, including Puppet's odd leading blanks
/// where there are several violations.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    violations: Vec<Violation>,
}

/// One difference between a value and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub(super) path: Vec<Step>,
    pub(super) reason: Reason,
    pub(super) quoting: Quoting,
}

/// One step of a path into a value, or into the alternatives of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Entry(String),
    /// The key of an entry.
    Key(String),
    Index(usize),
    Variant(usize),
}

/// What is wrong at the end of a path.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reason {
    MissingKey(String),
    UnrecognisedKey(String),
    Unresolved(String),
    Type {
        expected: Type,
        actual: Type,
    },
    /// A text that is none of some words, or matches none of some patterns.
    Match {
        expected: Type,
        actual: Type,
    },
    Size {
        expected: Range,
        actual: Range,
    },
}

/// Whether messages may quote the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    Allowed,
    Forbidden,
}

impl Mismatch {
    pub(super) fn new(violations: Vec<Violation>) -> Self {
        Self { violations }
    }

    /// The violations in the order in which Puppet finds them.
    pub fn violations(&self) -> impl ExactSizeIterator<Item = &Violation> {
        self.violations.iter()
    }

    /// The violations, one a line, each saying which subject it is about: `parameter 'p' index 1
    /// expects a String value, got Integer`.
    pub fn about(&self, subject: &str) -> String {
        let lines: Vec<String> = self
            .violations
            .iter()
            .map(|one| format!("{subject} {one}"))
            .collect();
        lines.join("\n")
    }
}

impl Display for Mismatch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.violations.as_slice() {
            [] => Ok(()),
            [only] => write!(f, "{only}"),
            [first, rest @ ..] => {
                write!(f, "  {first}")?;
                rest.iter().try_for_each(|one| write!(f, "\n   {one}"))
            }
        }
    }
}

impl std::error::Error for Mismatch {}

impl Display for Violation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            step.fmt(self.quoting, f)?;
        }
        match &self.reason {
            Reason::MissingKey(key) => write!(f, "expects a value for key '{key}'"),
            Reason::UnrecognisedKey(key) => match self.quoting {
                Quoting::Allowed => write!(f, "unrecognized key '{key}'"),
                Quoting::Forbidden => write!(f, "unrecognized key"),
            },
            Reason::Unresolved(name) => write!(f, "references an unresolved type '{name}'"),
            Reason::Type { expected, actual } => type_message(expected, actual, self.quoting, f),
            Reason::Match { expected, actual } => match_message(expected, actual, self.quoting, f),
            Reason::Size { expected, actual } => {
                write!(
                    f,
                    "expects size to be {}, got {}",
                    Sizes(*expected),
                    Sizes(*actual)
                )
            }
        }
    }
}

impl Step {
    fn fmt(&self, quoting: Quoting, f: &mut Formatter<'_>) -> fmt::Result {
        match (self, quoting) {
            (Self::Entry(key), Quoting::Allowed) => write!(f, "entry '{key}' "),
            (Self::Key(key), Quoting::Allowed) => write!(f, "key of entry '{key}' "),
            (Self::Entry(_), Quoting::Forbidden) => f.write_str("entry "),
            (Self::Key(_), Quoting::Forbidden) => f.write_str("key of entry "),
            (Self::Index(index), _) => write!(f, "index {index} "),
            (Self::Variant(index), _) => write!(f, "variant {index} "),
        }
    }
}

/// The type's name, with the name of the one type it holds.
fn short_name(shown: &Type) -> String {
    let inner = match shown {
        Type::Type(inner)
        | Type::NotUndef(inner)
        | Type::Optional(inner)
        | Type::Iterable(inner)
        | Type::Iterator(inner)
        | Type::Init(inner, _) => inner.as_deref(),
        Type::Sensitive(inner) => Some(inner.as_ref()),
        _ => None,
    };
    match inner {
        Some(inner) if *inner != Type::Any => format!("{}[{}]", shown.name(), inner.name()),
        _ => shown.name().to_owned(),
    }
}

/// The general type of all types of this kind: `Integer` for `Integer[0, 3]`.
fn default_of(shown: &Type) -> Type {
    match shown {
        Type::Boolean(_) => Type::BOOLEAN,
        Type::Integer(_) => Type::INTEGER,
        Type::Float(_) => Type::FLOAT,
        Type::String(_) => Type::STRING,
        Type::Enum(_) => Type::Enum(super::model::Words::new(Vec::new(), false)),
        Type::Pattern(_) => Type::Pattern(Vec::new()),
        Type::Regexp(_) => Type::Regexp(None),
        Type::Foreign(kind, _) => Type::Foreign(*kind, String::new()),
        Type::Optional(_) => Type::Optional(None),
        Type::NotUndef(_) => Type::NotUndef(None),
        Type::Sensitive(_) | Type::Hidden(_) => Type::Sensitive(Box::new(Type::Any)),
        Type::Type(_) => Type::Type(None),
        Type::Iterable(_) => Type::Iterable(None),
        Type::Iterator(_) => Type::Iterator(None),
        Type::Init(..) => Type::Init(None, Vec::new()),
        Type::Variant(_) => Type::Variant(Vec::new()),
        Type::Collection(_) => Type::Collection(None),
        Type::Array(..) => Type::any_array(),
        Type::Hash(..) => Type::any_hash(),
        Type::Tuple(..) => Type::Tuple(Vec::new(), None),
        Type::Struct(_) => Type::Struct(Vec::new()),
        Type::Callable(_) => Type::Callable(None),
        Type::Runtime(_) => Type::Runtime(String::new()),
        Type::Class(_) => Type::Class(None),
        Type::Resource(_) => Type::Resource(None),
        other => other.clone(),
    }
}

/// Whether both are types of one kind, so that only their parameters tell them apart.
fn same_kind(expected: &Type, actual: &Type) -> bool {
    std::mem::discriminant(expected) == std::mem::discriminant(actual)
        || matches!(expected, Type::Alias(_))
        || matches!((expected, actual), (Type::Struct(_), Type::Hash(..)))
        || matches!((expected, actual), (Type::Tuple(..), Type::Array(..)))
}

fn type_message(
    expected: &Type,
    actual: &Type,
    quoting: Quoting,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let (optional, inner) = match expected {
        Type::Optional(Some(inner)) => (true, inner.as_ref()),
        other => (false, other),
    };
    let alternatives = match inner {
        Type::Variant(types) => types.as_slice(),
        other => std::slice::from_ref(other),
    };
    let always = alternatives.iter().any(|one| same_kind(one, actual));
    let detailed = always
        || alternatives
            .iter()
            .any(|one| default_of(one).covers(actual));
    let actual = if quoting == Quoting::Forbidden {
        actual.name().to_owned()
    } else if !detailed {
        short_name(actual)
    } else if shows_parameters(alternatives, actual) {
        actual.to_string()
    } else {
        actual.name().to_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for one in alternatives {
        let name = if detailed {
            one.to_string()
        } else {
            short_name(one)
        };
        if detailed || !names.contains(&name) {
            names.push(name);
        }
    }
    if optional {
        names.insert(0, "Undef".to_owned());
    }
    match names.as_slice() {
        [only] => {
            let article =
                if only.starts_with(['A', 'E', 'I', 'O', 'U', 'Y', 'a', 'e', 'i', 'o', 'u', 'y']) {
                    "an"
                } else {
                    "a"
                };
            write!(f, "expects {article} {only} value, got {actual}")
        }
        [one, other] => write!(f, "expects a value of type {one} or {other}, got {actual}"),
        [most @ .., last] => {
            write!(
                f,
                "expects a value of type {}, or {last}, got {actual}",
                most.join(", ")
            )
        }
        [] => write!(f, "expects a value of type , or , got {actual}"),
    }
}

/// Whether the actual type's parameters tell anything about why it does not fit.
fn shows_parameters(alternatives: &[Type], actual: &Type) -> bool {
    let resolved: Vec<Type> = alternatives
        .iter()
        .map(|one| match one {
            Type::Alias(alias) => alias.definition(),
            other => other.clone(),
        })
        .collect();
    let general = actual.generalize();
    resolved.iter().any(|one| same_kind(one, actual))
        || resolved.iter().any(|one| one.covers(&general))
}

fn match_message(
    expected: &Type,
    actual: &Type,
    quoting: Quoting,
    f: &mut Formatter<'_>,
) -> fmt::Result {
    let (prefix, expected) = match expected {
        Type::Optional(Some(inner)) => ("an undef value or ", inner.as_ref()),
        other => ("", other),
    };
    write!(f, "expects {prefix}a match for {expected}, got ")?;
    match actual {
        Type::String(Text::Exactly(text)) if quoting == Quoting::Allowed => write!(f, "'{text}'"),
        other if quoting == Quoting::Allowed => f.write_str(&short_name(other)),
        other => f.write_str(other.name()),
    }
}

/// A range of sizes in words.
struct Sizes(Range);

impl Display for Sizes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.0.from.max(0), self.0.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (0, Range::UNBOUNDED_ABOVE) => f.write_str("unlimited"),
            (0, to) => write!(f, "at most {to}"),
            (from, Range::UNBOUNDED_ABOVE) => write!(f, "at least {from}"),
            (from, to) => write!(f, "between {from} and {to}"),
        }
    }
}
