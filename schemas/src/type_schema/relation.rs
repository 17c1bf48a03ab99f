//! Automatic relations of a type's resources (Resource API, "Resource definition": `autorequire` and its
//! like).

use crate::attribute::{ruby_class, shown};
use crate::problem::DefinitionProblems;
use crate::{Attribute, Hash, Resource, Value, suggest};

/// The kind of a relation between two resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// The other resource comes first.
    Require,
    /// The other resource comes afterwards.
    Before,
    /// The other resource comes first, and its changes are passed to this one.
    Subscribe,
    /// The other resource comes afterwards, and this one's changes are passed to it.
    Notify,
}

/// Automatic relations to resources of one type, for all resources of the defining type.
#[derive(Clone, Debug)]
pub(super) struct AutoRelation {
    pub(super) kind: RelationKind,
    pub(super) type_name: String,
    pub(super) titles: Vec<TitleSource>,
}

#[derive(Clone, Debug)]
pub(super) enum TitleSource {
    Constant(String),
    /// Written `$name`: the value of that attribute, or each of its values if it is a list.
    Attribute(String),
}

/// A relation to the resource with that type and title, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related<'s> {
    /// The kind of the relation.
    pub kind: RelationKind,
    /// The type of the other resource, in lower case.
    pub type_name: &'s str,
    /// The title of the other resource.
    pub title: String,
}

impl RelationKind {
    const AUTOMATIC: [(Self, &'static str); 4] = [
        (Self::Require, "autorequire"),
        (Self::Before, "autobefore"),
        (Self::Subscribe, "autosubscribe"),
        (Self::Notify, "autonotify"),
    ];
}

impl TitleSource {
    pub(super) fn titles(&self, resource: &Resource) -> Vec<String> {
        match self {
            Self::Constant(title) => vec![title.clone()],
            Self::Attribute(name) => match resource.get(name) {
                // A secret must not be revealed as a title.
                None | Some(Value::Undef | Value::Sensitive(_)) => Vec::new(),
                Some(Value::Array(items)) => items.iter().map(shown).collect(),
                Some(value) => vec![shown(value)],
            },
        }
    }
}

/// Parses `autorequire`, `autobefore`, `autosubscribe` and `autonotify` of a definition.
pub(super) fn read(
    definition: &Hash,
    attributes: &indexmap::IndexMap<String, Attribute>,
    problems: &mut DefinitionProblems,
) -> Vec<AutoRelation> {
    let mut relations = Vec::new();
    for (kind, key) in RelationKind::AUTOMATIC {
        let related = match definition.get(key) {
            None => continue,
            Some(Value::Hash(related)) => related,
            Some(other) => {
                let class = ruby_class(other);
                let message =
                    format!("`{key}` must be a hash of types and their titles, not `{class}`");
                problems.add(&[key], message);
                continue;
            }
        };
        for (type_name, titles) in related.iter() {
            let type_name = type_name.to_string().to_lowercase();
            let titles = match titles {
                Value::Array(titles) => titles.as_slice(),
                one => std::slice::from_ref(one),
            };
            let mut sources = Vec::new();
            for title in titles {
                match source(title, attributes) {
                    Ok(source) => sources.push(source),
                    Err(message) => problems.add(&[key, &type_name], message),
                }
            }
            relations.push(AutoRelation {
                kind,
                type_name,
                titles: sources,
            });
        }
    }
    relations
}

fn source(
    title: &Value,
    attributes: &indexmap::IndexMap<String, Attribute>,
) -> Result<TitleSource, String> {
    let Some(title) = title.as_str() else {
        return Err("a title is a text: itself, or `$` and an attribute's name".to_owned());
    };
    match title.strip_prefix('$') {
        None => Ok(TitleSource::Constant(title.to_owned())),
        Some(name) if attributes.contains_key(name) => Ok(TitleSource::Attribute(name.to_owned())),
        Some(name) => {
            let hint = suggest(name, attributes.keys().map(String::as_str));
            Err(format!("there is no attribute `{name}`{hint}"))
        }
    }
}
