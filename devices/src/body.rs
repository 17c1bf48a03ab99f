//! Data made of expressions: a structure with an expression at each leaf.
//!
//! A key whose value is none is left out. A mapping with exactly `each` and `item` makes a list: `each`
//! gives a list, and `item` is evaluated for each of its items, which it sees by the name `item`.

use devgate_schemas::{Hash, Value};

use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Expression, Scope, Secrets};
use crate::{Error, Result, SecretVisibility};

/// A structure of expressions.
#[derive(Debug)]
pub(crate) enum Body {
    Leaf(Box<WithLocation<Expression>>),
    Pairs(Vec<(String, Self)>),
    Items(Vec<Self>),
    Each(Box<WithLocation<Expression>>, Box<Self>),
}

/// The name of the current item of `each`.
const ITEM: &str = "item";

impl Body {
    /// Parses a structure whose expressions use these names.
    pub(crate) fn read(
        file_node: &FileNode<'_>,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        if file_node.node().as_sequence().is_some() {
            let items = file_node.items();
            let items: Vec<_> = items
                .iter()
                .map(|item| Self::read(item, names, problems))
                .collect();
            return Some(Self::Items(items.into_iter().collect::<Option<_>>()?));
        }
        if file_node.node().as_mapping().is_none() {
            return file_node
                .expression(names, problems)
                .map(|leaf| Self::Leaf(Box::new(leaf)));
        }
        let pairs = file_node.pairs(problems);
        if let [("each", each), ("item", item)] | [("item", item), ("each", each)] = &pairs[..] {
            let each = each.expression(names, problems);
            let item = Self::read(item, &[names, &[ITEM]].concat(), problems);
            return Some(Self::Each(Box::new(each?), Box::new(item?)));
        }
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(key, file_node)| {
                Some((key.to_owned(), Self::read(&file_node, names, problems)?))
            })
            .collect();
        Some(Self::Pairs(pairs.into_iter().collect::<Option<_>>()?))
    }

    /// Returns the names that the expressions reference.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Leaf(leaf) => leaf.value.names(),
            Self::Pairs(pairs) => pairs.iter().flat_map(|(_, body)| body.names()).collect(),
            Self::Items(items) => items.iter().flat_map(Self::names).collect(),
            Self::Each(each, body) => [each.value.names(), body.names()].concat(),
        }
    }

    /// Returns the maximum number of keys or items.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Pairs(pairs) => pairs.len(),
            Self::Items(items) => items.len(),
            Self::Leaf(_) | Self::Each(..) => 1,
        }
    }

    /// Evaluates the data, with its secrets; `None` if there is no value.
    ///
    /// # Errors
    /// Fails when an expression cannot be evaluated.
    pub(crate) fn value(&self, scope: &Scope, secrets: &Secrets) -> Result<Option<Value>> {
        Ok(match self {
            Self::Leaf(leaf) => {
                Some(secrets.revealed(&evaluated(leaf, scope)?)).filter(|value| !value.is_undef())
            }
            Self::Pairs(pairs) => {
                let mut hash = Hash::new();
                for (key, body) in pairs {
                    if let Some(value) = body.value(scope, secrets)? {
                        hash.insert(key.as_str(), value);
                    }
                }
                Some(Value::Hash(hash))
            }
            Self::Items(items) => {
                let items = items.iter().map(|item| item.value(scope, secrets));
                let items: Vec<Option<Value>> = items.collect::<Result<_>>()?;
                Some(Value::Array(items.into_iter().flatten().collect()))
            }
            Self::Each(each, body) => match evaluated(each, scope)? {
                Value::Undef => None,
                Value::Array(items) => {
                    let items = items
                        .iter()
                        .map(|item| body.value(&scope.with(ITEM, item), secrets));
                    let items: Vec<Option<Value>> = items.collect::<Result<_>>()?;
                    Some(Value::Array(items.into_iter().flatten().collect()))
                }
                _ => return Err(Error::Data(each.location.problem("`each` makes no list"))),
            },
        })
    }
}

fn evaluated(leaf: &WithLocation<Expression>, scope: &Scope) -> Result<Value> {
    let value = leaf.value.evaluate(scope);
    value.map_err(|error| leaf.error(error))
}

/// Formats data for people.
pub(crate) fn json(value: &Value, secrets: SecretVisibility) -> serde_json::Value {
    match secrets {
        SecretVisibility::Redacted => value.to_json(),
        SecretVisibility::InClear => value.reveal_json(),
    }
}
