//! What the table of keys is made of.

/// A mapping with these keys.
pub(super) struct Object {
    /// What it is called in schemas and in the reference.
    pub(super) name: &'static str,
    pub(super) desc: &'static str,
    pub(super) keys: &'static [Key],
}

/// A key, and what it means.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    pub(super) desc: &'static str,
}

/// What a key's value is.
pub(super) enum Kind {
    /// Anything.
    Any,
    Boolean,
    /// A whole number within limits.
    Integer(i64, i64),
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
    Map(&'static Self),
    List(&'static Self),
    /// One, or a list.
    Items(&'static Self),
    /// Any of these.
    OneOf(&'static [Self]),
}

pub(super) const fn key(name: &'static str, kind: Kind, desc: &'static str) -> Key {
    Key {
        name,
        kind,
        is_required: false,
        desc,
    }
}

impl Key {
    pub(super) const fn required(self) -> Self {
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
