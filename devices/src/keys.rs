//! The keys of a family's files: one table, of which the JSON Schemas and docs/reference/family.md are made. A new key
//! is a row here; a test compares the rows with the keys that the readers of the files know.

mod case;
mod dialect;
mod family;
mod json;
mod resource_type;
mod source;
#[cfg(test)]
mod tests;

/// A file of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyDocument {
    /// `family.yaml`
    Family,
    /// `types/TYPE.yaml`
    Type,
    /// `cases/CASE/case.yaml`
    Case,
}

/// A mapping with these keys.
struct Object {
    /// What it is called in schemas and in the reference.
    name: &'static str,
    desc: &'static str,
    keys: &'static [Key],
}

/// A key, and what it means.
struct Key {
    name: &'static str,
    kind: Kind,
    is_required: bool,
    desc: &'static str,
}

/// What a key's value is.
enum Kind {
    /// Anything.
    Any,
    Boolean,
    Text,
    /// A regular expression.
    Pattern,
    /// A text with `{{ }}`.
    Template,
    /// An expression: a text, or a literal number or Boolean.
    Expression,
    /// One of these words.
    Word(&'static [&'static str]),
    Object(&'static Object),
    /// Names with a value each.
    Map(&'static Kind),
    List(&'static Kind),
    /// One, or a list.
    Items(&'static Kind),
    /// Any of these.
    OneOf(&'static [Kind]),
}

const fn key(name: &'static str, kind: Kind, desc: &'static str) -> Key {
    Key {
        name,
        kind,
        is_required: false,
        desc,
    }
}

impl Key {
    const fn required(self) -> Self {
        let Self {
            name, kind, desc, ..
        } = self;
        Self {
            name,
            kind,
            is_required: true,
            desc,
        }
    }
}

impl FamilyDocument {
    /// Its name, as messages have it.
    pub fn file(self) -> &'static str {
        self.object().name
    }

    fn object(self) -> &'static Object {
        match self {
            Self::Family => &family::FAMILY,
            Self::Type => &resource_type::TYPE,
            Self::Case => &case::CASE,
        }
    }
}
