//! A place in a family's file while it is read: the node, and the keys that lead to it.
//!
//! Whatever is wrong is noted and reading goes on, so that a file's problems come all at once.

use std::sync::Arc;

use devgate_schemas::yaml::{self, Node};
use devgate_schemas::{Key, TypeSchema, Value, suggest};

use crate::error::{Error, Location, Problem};
use crate::template::{self, Escape, Expression, Template};

/// What is wrong with the files read so far.
pub(crate) type Problems = Vec<Problem>;

/// A node of a file, and the keys that lead to it.
#[derive(Clone)]
pub(crate) struct FileNode<'a> {
    file: &'a Arc<str>,
    node: &'a Node,
    key: String,
}

/// Something of a family's file that is used later, with its place for messages.
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

    /// The place, for messages.
    pub(crate) fn location(&self) -> Location {
        Location {
            file: Arc::clone(self.file),
            line: self.node.line as usize,
            column: self.node.column as usize,
            key: self.key.clone(),
        }
    }

    /// Something that is wrong here.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        self.location().problem(message)
    }

    /// Something that was found wrong in the node here when it was read as a whole.
    pub(crate) fn inside(&self, error: yaml::Error) -> Problem {
        Problem::of_yaml(self.file, &self.key, error)
    }

    /// The spot at a key.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let node = self.node.get(key)?;
        (!node.is_undef()).then(|| self.below(node, key))
    }

    /// The spot that a path leads to, or the last one on the way that is there.
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

    /// The spot at a key that must be there.
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

    /// Refuses every key of a mapping but these.
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

    /// The items of a list; a single one may stand for a list of one.
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

    /// The text here, which must not be empty.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        match self.node.as_str() {
            Some(text) if !text.trim().is_empty() => Some(text),
            _ => {
                problems.push(self.expected("a text"));
                None
            }
        }
    }

    /// The expression here, over these names. A number or a truth stands for itself.
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

    /// The template here, over these names.
    pub(crate) fn template(
        &self,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<WithLocation<Template>> {
        let source = self.text(problems)?;
        self.escaping_template(source, names, Escape::None, problems)
    }

    /// A template that makes a text of another language, or stands here in another way than as the
    /// node's text: in its key.
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
    /// Something that is wrong in an expression or a template, at its own line.
    pub(crate) fn problem(&self, error: &template::Error) -> Problem {
        self.location
            .line_of_text(error.line)
            .problem(&error.message)
    }

    /// Why this makes nothing of a change: an attribute that is missing, or what is wrong in it.
    pub(crate) fn failure(&self, schema: &TypeSchema, error: template::Error) -> Error {
        match &error.missing {
            Some(name) if schema.attributes().contains_key(name) => Error::Missing(name.clone()),
            _ => Error::Data(self.problem(&error)),
        }
    }
}
