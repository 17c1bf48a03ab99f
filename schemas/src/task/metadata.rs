//! A task's metadata: the file `<task>.json` beside it, read whole and checked at once.

use std::fmt;

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::is_name;
use super::section::{Findings, Section};
use crate::{DataType, REDACTED, Value};

/// What a task says of itself (Task Specification, "Task metadata").
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// What the task does.
    pub description: Option<String>,
    /// The version of the specification that the task was written for.
    pub puppet_task_version: Option<i64>,
    /// Whether the task respects `_noop`.
    pub supports_noop: bool,
    /// How the task wants its parameters, where an implementation does not say otherwise.
    pub input_method: Option<InputMethod>,
    /// What the task takes; `None` means any parameters at all.
    pub parameters: Option<IndexMap<String, Parameter>>,
    /// Files of modules that the task needs beside it: `module/mount/path`.
    pub files: Vec<String>,
    /// The task's implementations; `None` means the one file named like the task.
    pub implementations: Option<Vec<Implementation>>,
    /// Whether the task is hidden from lists.
    pub private: bool,
    /// Whether the task acts on a remote target, through `_target`.
    pub remote: bool,
    /// Settings of task runners, by runner; only one's own may be read.
    pub extensions: Map<String, Json>,
    /// Free words for tools that catalogue tasks.
    pub identifiers: Map<String, Json>,
    /// What is strange in the file without making it wrong: unknown keys.
    pub warnings: Vec<String>,
    source: Map<String, Json>,
}

/// One parameter of a task (Task Specification, "Task parameters").
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The type of its values; `Data` where the metadata has none.
    pub data_type: DataType,
    /// What it is for.
    pub description: Option<String>,
    /// Whether its value is a secret.
    pub sensitive: bool,
    /// The value where none is given; hidden when the parameter is sensitive.
    pub default: Option<Value>,
}

/// One implementation of a task (Task Specification, "Task implementations").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// Its file, at the top level of the module's `tasks` directory.
    pub name: String,
    /// The features that a target must have.
    pub requirements: Vec<String>,
    /// How it wants its parameters, if not as the task says.
    pub input_method: Option<InputMethod>,
    /// Files that it needs, before those of the task.
    pub files: Vec<String>,
    /// Whether it is remote, if not as the task says.
    pub remote: Option<bool>,
}

/// How parameters reach a task (Task Specification, "Task input").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputMethod {
    /// One JSON object on stdin.
    Stdin,
    /// A variable `PT_<name>` for each.
    Environment,
    /// Both of these, as Bolt's word `both` and as the default.
    Both,
    /// Named arguments of a PowerShell script.
    Powershell,
}

/// Why a metadata file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataError {
    /// The text is no JSON: where it stops being any.
    Unparseable(String),
    /// The JSON is no metadata: everything that is wrong, each with its place.
    Invalid(Vec<String>),
}

const KEYS: [&str; 11] = [
    "description",
    "puppet_task_version",
    "supports_noop",
    "input_method",
    "parameters",
    "files",
    "implementations",
    "private",
    "remote",
    "extensions",
    "identifiers",
];
const PARAMETER_KEYS: [&str; 4] = ["type", "description", "sensitive", "default"];
const IMPLEMENTATION_KEYS: [&str; 5] = ["name", "requirements", "input_method", "files", "remote"];

impl Metadata {
    /// Reads a metadata file; an empty one says nothing, as a missing one does.
    ///
    /// # Errors
    /// The text is no JSON, or anything in it is not as the specification wants it.
    pub fn parse(text: &str) -> Result<Self, MetadataError> {
        if text.trim().is_empty() {
            return Self::from_json(Json::Object(Map::new()));
        }
        // An untyped value: only syntax can fail here, and those errors quote nothing.
        let json = serde_json::from_str(text)
            .map_err(|error| MetadataError::Unparseable(error.to_string()))?;
        Self::from_json(json)
    }

    /// Reads metadata that is JSON already.
    ///
    /// # Errors
    /// Anything in it is not as the specification wants it.
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
            input_method: input_method(&whole, findings),
            parameters: parameters(&whole, findings),
            files: whole.texts("files", findings),
            implementations: implementations(&whole, findings),
            private: whole.flag("private", findings).unwrap_or(false),
            remote: whole.flag("remote", findings).unwrap_or(false),
            extensions: whole.object("extensions", findings).unwrap_or_default(),
            identifiers: whole.object("identifiers", findings).unwrap_or_default(),
            warnings: Vec::new(),
            source: Map::new(),
        })
    }

    /// The metadata as they were written, with the defaults of sensitive parameters redacted.
    pub fn as_json(&self) -> &Map<String, Json> {
        &self.source
    }
}

fn parameters(whole: &Section<'_>, findings: &mut Findings) -> Option<IndexMap<String, Parameter>> {
    let sections = whole.named("parameters", findings)?;
    let mut parameters = IndexMap::new();
    for (name, section) in sections {
        if !is_name(name) {
            findings.problem(&whole.place(&format!("parameters.{name}")), NAME_WANTED);
        }
        section.warn_unknown(&PARAMETER_KEYS, findings);
        if let Some(parameter) = parameter(&section, findings) {
            parameters.insert(name.to_owned(), parameter);
        }
    }
    Some(parameters)
}

const NAME_WANTED: &str = "a parameter's name starts with a lowercase letter and has only lowercase letters, digits and _";

fn parameter(section: &Section<'_>, findings: &mut Findings) -> Option<Parameter> {
    let description = section.text("description", findings);
    let sensitive = section.flag("sensitive", findings).unwrap_or(false);
    let written = section.text("type", findings);
    let data_type = match DataType::parse(written.as_deref().unwrap_or("Data")) {
        Ok(data_type) => data_type,
        Err(error) => {
            findings.problem(&section.place("type"), error);
            return None;
        }
    };
    for name in data_type.unresolved() {
        findings.problem(
            &section.place("type"),
            format_args!(
                "{name} is no data type of Puppet itself, and types of modules are not read"
            ),
        );
    }
    let default = section.value("default").cloned().map(Value::from);
    let default = if sensitive {
        default.map(Value::into_sensitive)
    } else {
        default
    };
    let parameter = Parameter {
        data_type,
        description,
        sensitive,
        default,
    };
    let place = section.place("default");
    if let Some(Err(mismatch)) = parameter
        .default
        .as_ref()
        .map(|value| parameter.check(value))
    {
        for violation in mismatch.violations() {
            findings.problem(&place, violation);
        }
    }
    Some(parameter)
}

fn implementations(whole: &Section<'_>, findings: &mut Findings) -> Option<Vec<Implementation>> {
    let sections = whole.sections("implementations", findings)?;
    let mut implementations = Vec::new();
    for section in sections {
        section.warn_unknown(&IMPLEMENTATION_KEYS, findings);
        let name = section.text("name", findings);
        if section.value("name").is_none() {
            findings.problem(
                &section.place("name"),
                "expected the name of a file in tasks",
            );
        }
        implementations.push(Implementation {
            name: name.unwrap_or_default(),
            requirements: section.texts("requirements", findings),
            input_method: input_method(&section, findings),
            files: section.texts("files", findings),
            remote: section.flag("remote", findings),
        });
    }
    Some(implementations)
}

fn input_method(section: &Section<'_>, findings: &mut Findings) -> Option<InputMethod> {
    // The specification gives an implementation's default as an empty list.
    if section
        .value("input_method")?
        .as_array()
        .is_some_and(Vec::is_empty)
    {
        return None;
    }
    let method = match section.text("input_method", findings)?.as_str() {
        "stdin" => InputMethod::Stdin,
        "environment" => InputMethod::Environment,
        "both" => InputMethod::Both,
        "powershell" => InputMethod::Powershell,
        _ => {
            let place = section.place("input_method");
            findings.problem(&place, "expected stdin, environment, both or powershell");
            return None;
        }
    };
    Some(method)
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
    /// The error's kind, as Puppet names it.
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
    fn everything_wrong_is_told_at_once_with_its_place() {
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
    fn what_is_no_json_says_where() {
        let error = Metadata::parse("{\n  \"a\": \"canary\" x}").expect_err("no JSON");
        assert_eq!(error.kind(), "puppet.tasks/unparseable-metadata");
        assert!(error.to_string().contains("line 2") && !error.to_string().contains("canary"));
        assert_eq!(
            Metadata::parse("[]").expect_err("no object").to_string(),
            "metadata: expected an object, got a list"
        );
    }
}
