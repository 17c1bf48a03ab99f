//! A task's metadata: the file `<task>.json` beside the task, parsed and checked as a whole.

use std::fmt;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::implementation::{self, Implementation};
use super::input_method::InputMethod;
use super::key::{Key, KeyType};
use super::parameter::{self, Parameter};
use super::section::{Findings, Section};
use crate::REDACTED;

/// The metadata of a task (Task Specification, "Task metadata").
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// What the task does.
    pub description: Option<String>,
    /// The version of the specification that the task was written for.
    pub puppet_task_version: Option<i64>,
    /// Whether the task respects `_noop`.
    pub supports_noop: bool,
    /// The method of passing parameters, unless an implementation overrides it.
    pub input_method: Option<InputMethod>,
    /// The task's parameters; `None` allows any parameters.
    pub parameters: Option<IndexMap<String, Parameter>>,
    /// Files of modules that the task needs: `module/mount/path`.
    pub files: Vec<String>,
    /// The task's implementations; `None` means the single file with the task's name.
    pub implementations: Option<Vec<Implementation>>,
    /// Whether the task is hidden from lists.
    pub private: bool,
    /// Whether the task acts on a remote target, through `_target`.
    pub remote: bool,
    /// Settings of task runners, by runner. A runner must read only its own.
    pub extensions: Map<String, Json>,
    /// Free-form data for tools that catalogue tasks.
    pub identifiers: Map<String, Json>,
    /// Oddities that do not make the file invalid: unknown keys.
    pub warnings: Vec<String>,
    source: Map<String, Json>,
}

/// The reason why a metadata file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataError {
    /// The text is not JSON; the message names the place.
    Unparseable(String),
    /// The JSON is not valid metadata; each problem names its place.
    Invalid(Vec<String>),
}

/// The keys of a metadata file.
pub(super) const KEYS: [Key; 11] = [
    Key::new("description", KeyType::Text, "What the task does"),
    Key::new(
        "puppet_task_version",
        KeyType::WholeNumber,
        "The version of the specification that the task was written for",
    ),
    Key::new(
        "supports_noop",
        KeyType::Flag,
        "Whether the task respects `_noop`; without it, it is refused under noop",
    ),
    Key::new(
        "input_method",
        KeyType::InputMethod,
        "How the task takes its parameters, where an implementation does not say otherwise",
    ),
    Key::new(
        "parameters",
        KeyType::Named(&parameter::KEYS),
        "What the task takes, by name; without it, anything",
    ),
    Key::new(
        "files",
        KeyType::Texts,
        "Files of modules that the task needs beside it: `module/files/path`, a folder with `/` at its end",
    ),
    Key::new(
        "implementations",
        KeyType::Sections(&implementation::KEYS),
        "The task's implementations; the first runs whose requirements are met",
    ),
    Key::new(
        "private",
        KeyType::Flag,
        "Whether the task is hidden from lists",
    ),
    Key::new(
        "remote",
        KeyType::Flag,
        "Whether the task acts on a remote target, through `_target`",
    ),
    Key::new(
        "extensions",
        KeyType::Object,
        "Settings of task runners, by their names; each reads its own alone",
    ),
    Key::new(
        "identifiers",
        KeyType::Object,
        "Free words for tools that catalogue tasks",
    ),
];

impl Metadata {
    /// Parses a metadata file. An empty file is equivalent to a missing one.
    ///
    /// # Errors
    /// Fails when the text is not JSON, or when anything in it violates the specification.
    pub fn parse(text: &str) -> Result<Self, MetadataError> {
        if text.trim().is_empty() {
            return Self::from_json(Json::Object(Map::new()));
        }
        // The type is untyped JSON, so that only syntax errors can occur, which quote nothing.
        let json = serde_json::from_str(text)
            .map_err(|error| MetadataError::Unparseable(error.to_string()))?;
        Self::from_json(json)
    }

    /// Reads metadata from JSON.
    ///
    /// # Errors
    /// Fails when anything in it violates the specification.
    pub fn from_json(source: Json) -> Result<Self, MetadataError> {
        let mut findings = Findings::default();
        let metadata = Self::read(&source, &mut findings);
        match metadata {
            Some(metadata) if findings.problems.is_empty() => Ok(Self {
                warnings: findings.warnings,
                source: redacted(source),
                ..metadata
            }),
            _ => Err(MetadataError::Invalid(findings.problems)),
        }
    }

    fn read(source: &Json, findings: &mut Findings) -> Option<Self> {
        let whole = Section::whole(source, findings)?;
        whole.warn_unknown(&KEYS, findings);
        Some(Self {
            description: whole.text("description", findings),
            puppet_task_version: whole.whole_number("puppet_task_version", findings),
            supports_noop: whole.flag("supports_noop", findings).unwrap_or(false),
            input_method: InputMethod::read(&whole, findings),
            parameters: parameter::read_all(&whole, findings),
            files: whole.texts("files", findings),
            implementations: implementation::read_all(&whole, findings),
            private: whole.flag("private", findings).unwrap_or(false),
            remote: whole.flag("remote", findings).unwrap_or(false),
            extensions: whole.object("extensions", findings).unwrap_or_default(),
            identifiers: whole.object("identifiers", findings).unwrap_or_default(),
            warnings: Vec::new(),
            source: Map::new(),
        })
    }

    /// Returns the metadata as it was written, with the defaults of sensitive parameters redacted.
    pub fn as_json(&self) -> &Map<String, Json> {
        &self.source
    }
}

fn redacted(source: Json) -> Map<String, Json> {
    let Json::Object(mut source) = source else {
        return Map::new();
    };
    let parameters = source.get_mut("parameters").and_then(Json::as_object_mut);
    for parameter in parameters.into_iter().flat_map(Map::values_mut) {
        if parameter.get("sensitive") == Some(&Json::Bool(true))
            && let Some(default) = parameter.get_mut("default")
        {
            *default = Json::from(REDACTED);
        }
    }
    source
}

impl MetadataError {
    /// Returns the kind of the error, as Puppet names it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unparseable(_) => "puppet.tasks/unparseable-metadata",
            Self::Invalid(_) => "puppet.tasks/invalid-metadata",
        }
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unparseable(reason) => write!(f, "no JSON: {reason}"),
            Self::Invalid(problems) => f.write_str(&problems.join("; ")),
        }
    }
}

impl std::error::Error for MetadataError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problems(source: Json) -> Vec<String> {
        match Metadata::from_json(source) {
            Err(MetadataError::Invalid(problems)) => problems,
            other => panic!("expected problems, got {other:?}"),
        }
    }

    #[test]
    fn every_key_of_the_specification_is_read() {
        let metadata = Metadata::from_json(json!({
            "description": "what", "puppet_task_version": 1, "supports_noop": true,
            "input_method": "stdin", "private": true, "remote": true,
            "parameters": {"a": {"type": "String", "description": "d", "sensitive": true,
                                 "default": "canary"}},
            "files": ["m/lib/x.rb"],
            "implementations": [{"name": "x.sh", "requirements": ["shell"], "input_method": [],
                                 "files": ["m/files/y/"], "remote": false}],
            "extensions": {"bolt": {}}, "identifiers": {"tags": ["t"]},
        }))
        .expect("metadata");
        assert_eq!(metadata.warnings, Vec::<String>::new());
        assert!(metadata.supports_noop && metadata.private && metadata.remote);
        assert_eq!(metadata.puppet_task_version, Some(1));
        assert_eq!(metadata.input_method, Some(InputMethod::Stdin));
        assert_eq!(
            metadata.implementations,
            Some(vec![Implementation {
                name: "x.sh".into(),
                requirements: vec!["shell".into()],
                input_method: None,
                files: vec!["m/files/y/".into()],
                remote: Some(false),
            }])
        );
        let shown = format!("{metadata:?} {:?}", metadata.as_json());
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn an_empty_file_says_nothing() {
        let metadata = Metadata::parse("").expect("metadata");
        assert!(metadata.parameters.is_none() && metadata.implementations.is_none());
        assert!(!metadata.supports_noop && !metadata.remote && !metadata.private);
    }

    #[test]
    fn unknown_keys_are_warnings_with_their_places() {
        let metadata = Metadata::from_json(json!({
            "colour": 1,
            "parameters": {"a": {"requierd": true}},
            "implementations": [{"name": "x", "os": "linux"}],
        }))
        .expect("metadata");
        assert_eq!(
            metadata.warnings,
            [
                "colour: unknown key, ignored",
                "parameters.a.requierd: unknown key, ignored",
                "implementations[0].os: unknown key, ignored",
            ]
        );
    }

    #[test]
    fn everything_wrong_is_reported_at_once_with_its_place() {
        let found = problems(json!({
            "description": 1, "supports_noop": "yes", "input_method": "smoke",
            "parameters": {"A": {}, "b": {"sensitive": 1, "type": "Stdlib::Port"}, "c": 5, "d": {"default": 1, "type": "String"}},
            "files": ["a", 2], "implementations": [{"requirements": "shell"}],
            "private": null, "remote": 1, "extensions": [], "identifiers": "x",
        }));
        let places: Vec<&str> = found
            .iter()
            .filter_map(|text| text.split(": ").next())
            .collect();
        assert_eq!(
            places,
            [
                "description",
                "supports_noop",
                "input_method",
                "parameters.c",
                "parameters.A",
                "parameters.b.sensitive",
                "parameters.b.type",
                "parameters.d.default",
                "files[1]",
                "implementations[0].name",
                "implementations[0].requirements",
                "remote",
                "extensions",
                "identifiers",
            ]
        );
    }

    #[test]
    fn a_wrong_secret_default_is_not_quoted() {
        let found = problems(json!({"parameters": {
            "a": {"type": "Enum[x, y]", "sensitive": true, "default": "canary"},
        }}));
        assert!(
            !found.is_empty() && !found.concat().contains("canary"),
            "{found:?}"
        );
    }

    #[test]
    fn invalid_json_is_reported_with_its_place() {
        let error = Metadata::parse("{\n  \"a\": \"canary\" x}").expect_err("no JSON");
        assert_eq!(error.kind(), "puppet.tasks/unparseable-metadata");
        assert!(error.to_string().contains("line 2") && !error.to_string().contains("canary"));
        assert_eq!(
            Metadata::parse("[]").expect_err("no object").to_string(),
            "metadata: expected an object, got a list"
        );
    }
}
