//! Nodes of a family's file, with their paths.
//!
//! Readers record each problem and continue, so that all problems of a file are reported at once.

use std::sync::Arc;

use devgate_schemas::yaml::{self, Node};
use devgate_schemas::{Key, TypeSchema, Value, suggest};

use crate::error::{Error, Location, Problem};
use crate::template::{self, Escape, Expression, Template};

/// The problems in the files read so far.
pub(crate) type Problems = Vec<Problem>;

/// A node of a file, and its path of keys.
#[derive(Clone)]
pub(crate) struct FileNode<'a> {
    file: &'a Arc<str>,
    node: &'a Node,
    key: String,
}

/// A value from a family's file, with its location for later messages.
#[derive(Debug)]
pub(crate) struct WithLocation<T> {
    pub(crate) location: Location,
    pub(crate) value: T,
}

impl<'a> FileNode<'a> {
    /// The top of a file.
    pub(crate) fn top(file: &'a Arc<str>, node: &'a Node) -> Self {
        Self {
            file,
            node,
            key: String::new(),
        }
    }

    /// The node itself.
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// The location, for messages.
    pub(crate) fn location(&self) -> Location {
        Location {
            file: Arc::clone(self.file),
            line: self.node.line as usize,
            column: self.node.column as usize,
            key: self.key.clone(),
        }
    }

    /// A problem at this node.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        self.location().problem(message)
    }

    /// A YAML error found while this node was deserialized.
    pub(crate) fn inside(&self, error: yaml::Error) -> Problem {
        Problem::of_yaml(self.file, &self.key, error)
    }

    /// The node at a key.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let node = self.node.get(key)?;
        (!node.is_undef()).then(|| self.below(node, key))
    }

    /// The node at a path, or its nearest ancestor that exists.
    pub(crate) fn nearest(&self, path: &[String]) -> Self {
        let mut file_node = self.clone();
        for key in path {
            match file_node.get(key) {
                Some(below) => file_node = below,
                None => break,
            }
        }
        file_node
    }

    /// The node at a required key.
    pub(crate) fn required(&self, key: &str, problems: &mut Problems) -> Option<Self> {
        let found = self.get(key);
        if found.is_none() {
            problems.push(self.problem(format!("missing key `{key}`")));
        }
        found
    }

    /// The pairs of a mapping.
    pub(crate) fn pairs(&self, problems: &mut Problems) -> Vec<(&'a str, Self)> {
        let Some(mapping) = self.node.as_mapping() else {
            problems.push(self.expected("a mapping"));
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (key, node) in mapping.entries() {
            match key {
                Key::String(name) => pairs.push((name.as_str(), self.below(node, name))),
                Key::Integer(number) => {
                    let key = number.to_string();
                    problems.push(self.below(node, &key).problem("a key here is a text"));
                }
            }
        }
        pairs
    }

    /// Reports every key of the mapping that is not one of these.
    pub(crate) fn only(&self, known: &[&str], problems: &mut Problems) {
        let Some(mapping) = self.node.as_mapping() else {
            problems.push(self.expected("a mapping"));
            return;
        };
        for (key, _) in mapping.iter() {
            let name = key.as_str().unwrap_or_default();
            if !known.contains(&name) {
                let hint = suggest(name, known.iter().copied());
                let location = Location {
                    line: key.line as usize,
                    column: key.column as usize,
                    ..self.location()
                };
                problems.push(location.problem(format!("unknown key `{name}`{hint}")));
            }
        }
    }

    /// The items of a list; a single value counts as a list of one.
    pub(crate) fn items(&self) -> Vec<Self> {
        match self.node.as_sequence() {
            None => vec![self.clone()],
            Some(items) => items
                .iter()
                .enumerate()
                .map(|(at, node)| Self {
                    node,
                    key: format!("{}[{at}]", self.key),
                    ..self.clone()
                })
                .collect(),
        }
    }

    /// The text of the node, which must not be empty.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        match self.node.as_str() {
            Some(text) if !text.trim().is_empty() => Some(text),
            _ => {
                problems.push(self.expected("a text"));
                None
            }
        }
    }

    /// The node as an expression over these names. A number or a boolean is a literal.
    pub(crate) fn expression(
        &self,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<WithLocation<Expression>> {
        let source = match self.node.as_scalar() {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Boolean(_) | Value::Integer(_) | Value::Float(_))) => {
                value.to_json().to_string()
            }
            _ => {
                problems.push(self.expected("an expression"));
                return None;
            }
        };
        let made = Expression::new(&source, names.iter().copied());
        self.placed(made, problems)
    }

    /// The node as a template over these names.
    pub(crate) fn template(
        &self,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<WithLocation<Template>> {
        let source = self.text(problems)?;
        self.escaping_template(source, names, Escape::None, problems)
    }

    /// A template that escapes values for another language, or whose source is not the node's text: its key.
    pub(crate) fn escaping_template(
        &self,
        source: &str,
        names: &[&str],
        escape: Escape,
        problems: &mut Problems,
    ) -> Option<WithLocation<Template>> {
        let made = Template::new(source, names.iter().copied(), escape);
        self.placed(made, problems)
    }

    fn placed<T>(
        &self,
        made: Result<T, template::Error>,
        problems: &mut Problems,
    ) -> Option<WithLocation<T>> {
        let here = WithLocation {
            location: self.location(),
            value: (),
        };
        match made {
            Ok(value) => Some(WithLocation {
                location: here.location,
                value,
            }),
            Err(error) => {
                problems.push(here.problem(&error));
                None
            }
        }
    }

    fn expected(&self, what: &str) -> Problem {
        self.problem(format!("expected {what}, found {}", self.node.kind_name()))
    }

    fn below(&self, node: &'a Node, key: &str) -> Self {
        let key = if self.key.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.key)
        };
        Self {
            node,
            key,
            ..self.clone()
        }
    }
}

impl<T> WithLocation<T> {
    /// A problem in an expression or a template, at its own line.
    pub(crate) fn problem(&self, error: &template::Error) -> Problem {
        self.location
            .line_of_text(error.line)
            .problem(&error.message)
    }

    /// Why it cannot be rendered for a change: a missing attribute, or an error in the template.
    pub(crate) fn failure(&self, schema: &TypeSchema, error: template::Error) -> Error {
        match &error.missing {
            Some(name) if schema.attributes().contains_key(name) => Error::Missing(name.clone()),
            _ => Error::Data(self.problem(&error)),
        }
    }
}
