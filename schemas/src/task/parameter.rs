//! A parameter of a task, as declared in its metadata.

use indexmap::IndexMap;

use super::is_name;
use super::key::{Key, KeyType};
use super::section::{Findings, Section};
use crate::{DataType, Mismatch, Value};

/// A parameter of a task (Task Specification, "Task parameters").
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The data type of the value; `Data` if the metadata gives none.
    pub data_type: DataType,
    /// The description.
    pub description: Option<String>,
    /// Whether the value is a secret.
    pub sensitive: bool,
    /// The default value, wrapped as a secret if the parameter is sensitive.
    pub default: Option<Value>,
}

/// The keys of a parameter in a metadata file.
pub(super) const KEYS: [Key; 4] = [
    Key::new(
        "type",
        KeyType::Text,
        "The Puppet data type of its values; `Data` without it",
    ),
    Key::new("description", KeyType::Text, "What it is for"),
    Key::new("sensitive", KeyType::Flag, "Whether its value is a secret"),
    Key::new(
        "default",
        KeyType::Any,
        "The value where none is given; it must fit the type",
    ),
];

const NAME_WANTED: &str =
    "a parameter's name is a lowercase letter, then lowercase letters, digits and underscores";

impl Parameter {
    /// Whether a value must be given: the type does not accept `undef`, and there is no default.
    pub fn is_mandatory(&self) -> bool {
        self.default.is_none() && !self.data_type.accepts_undef()
    }

    /// Whether a value matches the parameter's type.
    pub fn accepts(&self, value: &Value) -> bool {
        self.check(value).is_ok()
    }

    /// Checks a value; the mismatch has Puppet's wording. A secret is checked without being quoted.
    pub(super) fn check(&self, value: &Value) -> Result<(), Mismatch> {
        match value {
            Value::Sensitive(secret) => self.data_type.check_secret(secret.reveal()),
            value => self.data_type.check(value),
        }
    }
}

/// Reads every parameter of a metadata file; `None` if the file declares no parameters.
pub(super) fn read_all(
    whole: &Section<'_>,
    findings: &mut Findings,
) -> Option<IndexMap<String, Parameter>> {
    let sections = whole.named("parameters", findings)?;
    let mut parameters = IndexMap::new();
    for (name, section) in sections {
        if !is_name(name) {
            findings.problem(&whole.place(&format!("parameters.{name}")), NAME_WANTED);
        }
        section.warn_unknown(&KEYS, findings);
        if let Some(parameter) = read(&section, findings) {
            parameters.insert(name.to_owned(), parameter);
        }
    }
    Some(parameters)
}

fn read(section: &Section<'_>, findings: &mut Findings) -> Option<Parameter> {
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
