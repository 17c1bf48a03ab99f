//! What Junos knows of its statements: `schema.yaml`.

use devgate_schemas::{Hash, yaml};

/// A statement that may occur below another one.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// What it excludes.
    pub(super) choice: Vec<String>,
    pub(super) below: Schema,
}

/// The kinds of statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value.
    Leaf,
    /// A value in an element of its own: `preference 5` is `<preference><metric-value>5</metric-value></preference>`.
    Wrapped(String),
    /// Several values: each is an element.
    Leaves,
    /// A word without a value.
    Empty,
    /// A container; an empty one may mean something.
    Container { is_kept: bool },
    /// A list, by `name`; whether its own word is typed.
    List { is_typed: bool },
}

/// The statements that may occur at one place.
#[derive(Debug, Default)]
pub(super) struct Schema(Vec<Statement>);

impl Schema {
    /// Reads a schema. Keys are names, with a mark: `user[]` is a list, `interface[-]` a list whose word is not typed,
    /// `inet!` a container that means something when it is empty.
    ///
    /// # Panics
    /// Panics when it is no schema.
    pub(super) fn read(text: &str) -> Self {
        let schema = yaml::parse(text).expect("a schema is YAML").to_value();
        Self::of(schema.as_hash().expect("a schema is a hash"))
    }

    fn of(hash: &Hash) -> Self {
        let mut statements = Vec::new();
        for (key, value) in hash.iter() {
            let key = key.to_string();
            let (name, kind) = if let Some(name) = key.strip_suffix("[]") {
                (name, Kind::List { is_typed: true })
            } else if let Some(name) = key.strip_suffix("[-]") {
                (name, Kind::List { is_typed: false })
            } else {
                let kind = match value.as_str() {
                    None => Kind::Container {
                        is_kept: key.ends_with('!'),
                    },
                    Some("leaf") => Kind::Leaf,
                    Some("leaves") => Kind::Leaves,
                    Some("empty") => Kind::Empty,
                    Some(inner) => Kind::Wrapped(inner.to_owned()),
                };
                (key.trim_end_matches('!'), kind)
            };
            // Alternatives are joined by `|`.
            let names: Vec<String> = name.split('|').map(str::to_owned).collect();
            for name in &names {
                statements.push(Statement {
                    name: name.clone(),
                    kind: kind.clone(),
                    choice: names
                        .iter()
                        .filter(|other| *other != name)
                        .cloned()
                        .collect(),
                    below: value.as_hash().map(Self::of).unwrap_or_default(),
                });
            }
        }
        Self(statements)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Statement> {
        self.0.iter().find(|statement| statement.name == name)
    }

    /// The list whose own word is not typed, if there is one here.
    pub(super) fn wordless_list(&self) -> Option<&Statement> {
        let is_wordless = |statement: &&Statement| statement.kind == Kind::List { is_typed: false };
        self.0.iter().find(is_wordless)
    }
}
