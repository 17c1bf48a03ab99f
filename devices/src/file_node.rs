//! Nodes of a family's file, with their paths.
//!
//! Readers record each problem and continue, so that all problems of a file are reported at once.

use std::ops::RangeInclusive;
use std::sync::Arc;

use devgate_schemas::yaml::{self, Mapping, Node};
use devgate_schemas::{self as schemas, Key, TypeSchema, Value, suggest};

use crate::error::{Error, Location, Problem};
use crate::template::{self, Cause, Escape, Expression, Language, Template};

/// The problems in the files read so far.
pub(crate) type Problems = Vec<Problem>;

/// A YAML file of a family.
pub(crate) struct YamlFile {
    origin: Origin,
    root: Node,
    language: Language,
}

/// Where the nodes of a file come from.
struct Origin {
    file: Arc<str>,
    /// Another file, and the paths of the nodes that come from it.
    like: Option<(Arc<str>, Vec<String>)>,
}

/// A node of a file, and its path of keys.
#[derive(Clone)]
pub(crate) struct FileNode<'a> {
    origin: &'a Origin,
    node: &'a Node,
    key: String,
    /// The language of its expressions and templates.
    language: Language,
}

/// A value from a family's file, with its location for later messages.
#[derive(Debug)]
pub(crate) struct WithLocation<T> {
    pub(crate) location: Location,
    pub(crate) value: T,
}

impl YamlFile {
    /// Parses a file with this name for messages.
    ///
    /// # Errors
    /// Fails when the text is not YAML.
    pub(crate) fn parse(name: impl Into<Arc<str>>, text: &str) -> Result<Self, Problem> {
        let name = name.into();
        match yaml::parse(text) {
            Ok(root) => Ok(Self {
                origin: Origin {
                    file: name,
                    like: None,
                },
                root,
                language: Language::default(),
            }),
            Err(error) => Err(Problem::of_yaml(&name, "", error)),
        }
    }

    /// The file with expressions and templates in this language.
    pub(crate) fn speaking(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Adds what another file says and this one does not.
    pub(crate) fn add_missing(&mut self, other: &Self) {
        let mut paths = Vec::new();
        self.root
            .add_missing(&other.root, "", &mut |path| paths.push(path));
        self.origin.like = Some((Arc::clone(&other.origin.file), paths));
    }

    /// The top of the file.
    pub(crate) fn top(&self) -> FileNode<'_> {
        FileNode {
            origin: &self.origin,
            node: &self.root,
            key: String::new(),
            language: self.language,
        }
    }
}

impl<'a> FileNode<'a> {
    /// The node itself.
    pub(crate) fn node(&self) -> &'a Node {
        self.node
    }

    /// The location, for messages.
    pub(crate) fn location(&self) -> Location {
        Location {
            file: Arc::clone(self.file()),
            line: self.node.line as usize,
            column: self.node.column as usize,
            key: self.key.clone(),
        }
    }

    /// The file in which the node is.
    fn file(&self) -> &'a Arc<str> {
        match &self.origin.like {
            Some((file, paths)) if paths.iter().any(|path| is_below(&self.key, path)) => file,
            _ => &self.origin.file,
        }
    }

    /// A problem at this node.
    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        self.location().problem(message)
    }

    /// A YAML error at this node or below it.
    pub(crate) fn yaml_problem(&self, error: yaml::Error) -> Problem {
        Problem::of_yaml(self.file(), &self.key, error)
    }

    /// Reports the problems of a schema whose definition is this node.
    pub(crate) fn schema_problems(
        &self,
        found: &schemas::DefinitionProblems,
        problems: &mut Problems,
    ) {
        let located =
            |one: &schemas::DefinitionProblem| self.nearest(&one.path).problem(&one.message);
        problems.extend(found.iter().map(located));
    }

    /// The node at a key.
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        Some(self.child(self.node.given(key)?, key))
    }

    /// Reads the node at an optional key: `Some(None)` if there is no node, `None` if `read` reports problems.
    pub(crate) fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(file_node) => read(&file_node).map(Some),
        }
    }

    /// The node at a path, or its nearest ancestor that exists.
    pub(crate) fn nearest(&self, path: &[String]) -> Self {
        let mut file_node = self.clone();
        for key in path {
            match file_node.get(key) {
                Some(child) => file_node = child,
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

    /// The text at a required key.
    pub(crate) fn required_text(&self, key: &str, problems: &mut Problems) -> Option<&'a str> {
        self.required(key, problems)?.text(problems)
    }

    /// The pairs of a mapping.
    pub(crate) fn pairs(&self, problems: &mut Problems) -> Vec<(&'a str, Self)> {
        let mut pairs = Vec::new();
        for (key, node) in self
            .mapping(problems)
            .into_iter()
            .flat_map(Mapping::entries)
        {
            match key {
                Key::String(name) => pairs.push((&**name, self.child(node, name))),
                Key::Integer(number) => {
                    let key = number.to_string();
                    problems.push(self.child(node, &key).problem("a key here is a text"));
                }
            }
        }
        pairs
    }

    /// Reports every key of the mapping that is not one of these.
    pub(crate) fn only(&self, known: &[&str], problems: &mut Problems) {
        let mapping = self.mapping(problems).into_iter();
        for key in mapping.flat_map(|mapping| mapping.unknown_keys(known)) {
            let name = key.key.to_string();
            let hint = suggest(&name, known.iter().copied());
            problems.push(self.yaml_problem(key.error(format!("unknown key `{name}`{hint}"))));
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

    /// Whether this node's name is an attribute of a type; if it is not, that is reported.
    pub(crate) fn is_attribute(
        &self,
        schema: &TypeSchema,
        name: &str,
        problems: &mut Problems,
    ) -> bool {
        let is_known = schema.attributes().contains_key(name);
        if !is_known {
            let hint = suggest(name, schema.attributes().keys().map(String::as_str));
            let message = format!("`{}` has no attribute `{name}`{hint}", schema.name());
            problems.push(self.problem(message));
        }
        is_known
    }

    fn mapping(&self, problems: &mut Problems) -> Option<&'a Mapping> {
        let mapping = self.node.as_mapping();
        if mapping.is_none() {
            problems.push(self.problem(self.node.mismatch("a mapping")));
        }
        mapping
    }

    /// The text of the node, which must not be empty.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        match self.node.as_str() {
            Some(text) if !text.trim().is_empty() => Some(text),
            Some(_) => {
                problems.push(self.problem("expected a text that is not empty"));
                None
            }
            None => {
                problems.push(self.problem(self.node.mismatch("a text")));
                None
            }
        }
    }

    /// The Boolean of the node.
    pub(crate) fn boolean(&self, problems: &mut Problems) -> Option<bool> {
        match self.node.as_scalar() {
            Some(Value::Boolean(value)) => Some(*value),
            _ => {
                problems.push(self.problem(self.node.mismatch("true or false")));
                None
            }
        }
    }

    /// The whole number of the node, within limits.
    pub(crate) fn integer(&self, of: RangeInclusive<i64>, problems: &mut Problems) -> Option<i64> {
        let expected = format!("a whole number from {} to {}", of.start(), of.end());
        let message = match self.node.as_scalar() {
            Some(Value::Integer(number)) if of.contains(number) => return Some(*number),
            Some(Value::Integer(number)) => format!("expected {expected}, found {number}"),
            _ => self.node.mismatch(&expected),
        };
        problems.push(self.problem(message));
        None
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
                problems.push(self.problem(self.node.mismatch("an expression")));
                return None;
            }
        };
        self.expression_of(&source, names, problems)
    }

    /// An expression whose source is not the node's text.
    pub(crate) fn expression_of(
        &self,
        source: &str,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<WithLocation<Expression>> {
        let compiled = Expression::new(self.language, source, names.iter().copied());
        self.located(compiled, problems)
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
        let compiled = Template::new(self.language, source, names.iter().copied(), escape);
        self.located(compiled, problems)
    }

    fn located<T>(
        &self,
        compiled: Result<T, template::Error>,
        problems: &mut Problems,
    ) -> Option<WithLocation<T>> {
        let location = self.location();
        match compiled {
            Ok(value) => Some(WithLocation { location, value }),
            Err(error) => {
                problems.push(location.template_problem(&error));
                None
            }
        }
    }

    fn child(&self, node: &'a Node, key: &str) -> Self {
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

/// Whether a path is another one, or leads below it.
fn is_below(path: &str, top: &str) -> bool {
    let rest = path.strip_prefix(top);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

impl<T> WithLocation<T> {
    /// A problem in an expression or a template, at its own line.
    pub(crate) fn problem(&self, error: &template::Error) -> Problem {
        self.location.template_problem(error)
    }

    /// Why it cannot be evaluated: the family refuses, or there is an error in it.
    pub(crate) fn error(&self, error: template::Error) -> Error {
        match error.cause {
            Cause::Refusal => Error::Refused(error.message),
            _ => Error::Data(self.problem(&error)),
        }
    }

    /// Why it cannot be rendered for a change: as [`error`](Self::error), or a missing attribute.
    pub(crate) fn failure(&self, schema: &TypeSchema, error: template::Error) -> Error {
        match &error.cause {
            Cause::Missing(name) if schema.attributes().contains_key(name) => {
                Error::Missing(name.clone())
            }
            _ => self.error(error),
        }
    }
}
