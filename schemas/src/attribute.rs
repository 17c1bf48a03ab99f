//! The attributes of a transport's `connection_info` and of a resource type.

use std::fmt;

use crate::problem::DefinitionProblems;
use crate::{DataType, Hash, Mismatch, Value, did_you_mean};

/// One attribute of a transport schema or a resource type (Resource API, "Resource definition").
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The data type of the value.
    pub data_type: DataType,
    /// The description, for people.
    pub desc: String,
    /// The value of an attribute that is not given.
    pub default: Option<Value>,
    /// How it behaves in a resource.
    pub behaviour: Behaviour,
    /// Whether the value is a secret that must not be shown.
    pub sensitive: bool,
    /// How the value on the device is compared with the desired value.
    pub compare: Compare,
}

/// How an attribute behaves (Resource API, "behaviour").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// Read from the device and enforced on it: the default behaviour.
    #[default]
    Property,
    /// Part of the resource's identity.
    Namevar,
    /// Reported, never set.
    ReadOnly,
    /// Set when the resource is created, never changed afterwards.
    InitOnly,
    /// Steers the provider; cannot be read from the device.
    Parameter,
}

/// How `is` and `should` of one attribute are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compare {
    /// Equal values are in sync.
    #[default]
    Value,
    /// The device shows no usable value: the attribute is in sync as soon as the resource exists.
    Never,
}

const KEYS: [&str; 8] = [
    "type",
    "desc",
    "docs",
    "default",
    "behaviour",
    "behavior",
    "sensitive",
    "compare",
];

impl Attribute {
    /// Reads the definition of one attribute. Everything that is wrong with it, unknown options included,
    /// is added to `problems`.
    ///
    /// Messages use the wording of the Resource API gem where the gem has one.
    pub(crate) fn register(
        owner: &str,
        section: &str,
        name: &str,
        definition: &Value,
        problems: &mut DefinitionProblems,
    ) -> Option<Self> {
        let options = definition.as_hash().into_iter().flat_map(Hash::iter);
        for (key, _) in options {
            let key = key.to_string();
            if !KEYS.contains(&key.as_str()) {
                let hint = did_you_mean(&key, KEYS);
                let message = format!("`{owner}.{name}` has no option `{key}`{hint}");
                problems.add(&[section, name, &key], message);
            }
        }
        Self::read(owner, section, name, definition, problems)
    }

    /// Reads the definition of one attribute, like [`register`](Self::register), but ignores unknown
    /// options.
    pub(crate) fn read(
        owner: &str,
        section: &str,
        name: &str,
        definition: &Value,
        problems: &mut DefinitionProblems,
    ) -> Option<Self> {
        let path = [section, name];
        let Value::Hash(definition) = definition else {
            let class = ruby_class(definition);
            problems.add(
                &path,
                format!("`{owner}.{name}` must be a Hash, not a {class}"),
            );
            return None;
        };
        let data_type = Self::data_type(owner, name, definition, problems, &path);
        let behaviour = match (definition.get("behaviour"), definition.get("behavior")) {
            (Some(_), Some(_)) => {
                let message = format!(
                    "the '{name}' attribute has both a `behavior` and a `behaviour`, only use one"
                );
                problems.add(&[section, name, "behavior"], message);
                None
            }
            (None, None) => Some(Behaviour::Property),
            (Some(word), None) | (None, Some(word)) => {
                let behaviour = word.as_str().and_then(Behaviour::named);
                if behaviour.is_none() {
                    let message = format!("`{}` is not a valid behaviour value", shown(word));
                    problems.add(&[section, name, "behaviour"], message);
                }
                behaviour
            }
        };
        let sensitive = definition
            .get("sensitive")
            .and_then(Value::as_bool)
            .unwrap_or(false);
        if definition
            .get("sensitive")
            .is_some_and(|flag| flag.as_bool().is_none())
        {
            problems.add(
                &[section, name, "sensitive"],
                format!("`{owner}.{name}` wants true or false here"),
            );
        }
        let compare = match definition.get("compare").map(Value::as_str) {
            None => Compare::Value,
            Some(Some("never")) => Compare::Never,
            Some(_) => {
                problems.add(
                    &[section, name, "compare"],
                    format!("`{owner}.{name}` wants `never` here"),
                );
                Compare::Value
            }
        };
        let default = definition.get("default").cloned();
        let mut attribute = Self {
            data_type: data_type?,
            desc: definition
                .get("desc")
                .or_else(|| definition.get("docs"))
                .and_then(Value::as_str)
                .map(|text| text.trim().to_owned())
                .unwrap_or_default(),
            default: None,
            behaviour: behaviour?,
            sensitive,
            compare,
        };
        if let Some(default) = default {
            if let Err(violation) = attribute.check(&default) {
                let message = format!("the default of `{owner}.{name}` does not fit: {violation}");
                problems.add(&[section, name, "default"], message);
            }
            attribute.default = Some(if sensitive {
                default.into_sensitive()
            } else {
                default
            });
        }
        Some(attribute)
    }

    fn data_type(
        owner: &str,
        name: &str,
        definition: &Hash,
        problems: &mut DefinitionProblems,
        path: &[&str; 2],
    ) -> Option<DataType> {
        let Some(text) = definition.get("type") else {
            problems.add(path, format!("`{owner}.{name}` has no type"));
            return None;
        };
        let path = [path[0], path[1], "type"];
        let Some(text) = text.as_str() else {
            let class = ruby_class(text);
            problems.add(
                &path,
                format!("the type of `{owner}.{name}` must be a text, not a {class}"),
            );
            return None;
        };
        match DataType::parse(text) {
            Err(error) => {
                problems.add(&path, error.for_attribute(name));
                None
            }
            Ok(data_type) => {
                for unknown in data_type.unresolved() {
                    let message = format!(
                        "the type of `{owner}.{name}` references an unresolved type '{unknown}': \
                         only Puppet's own data types are known here"
                    );
                    problems.add(&path, message);
                }
                Some(data_type)
            }
        }
    }

    /// Checks one value.
    ///
    /// # Errors
    /// Fails with the violations in Puppet's wording (`expects an Integer value, got String`). Unlike
    /// Puppet, they show numbers as they are. The value of a sensitive attribute is never quoted.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let verdict = self.verdict(value);
        verdict.map_err(|mismatch| format!("{mismatch:#}"))
    }

    /// Checks one value; the mismatch keeps Puppet's wording to the letter.
    pub(crate) fn verdict(&self, value: &Value) -> Result<(), Mismatch> {
        if self.sensitive {
            return self.data_type.check_secret(value);
        }
        self.data_type.check(value)
    }

    /// Checks a value that is a secret even if the attribute is not sensitive.
    ///
    /// # Errors
    /// Fails as [`check`](Self::check) does, but never quotes the value.
    pub(crate) fn check_secret(&self, value: &Value) -> Result<(), String> {
        let verdict = self.data_type.check_secret(value);
        verdict.map_err(|mismatch| format!("{mismatch:#}"))
    }

    /// Appends the attribute's description to a pattern violation: a regular expression alone explains
    /// little.
    pub(crate) fn taught(&self, violation: String) -> String {
        let desc = self.desc.split(". ").next().unwrap_or_default();
        if !violation.contains("Pattern[") || desc.is_empty() {
            return violation;
        }
        format!("{violation}: {}", desc.trim_end_matches('.'))
    }

    /// Whether a value must be given, which is the case unless the type is literally `Optional` (Resource
    /// API gem).
    pub fn is_mandatory(&self) -> bool {
        !self.data_type.is_optional()
    }
}

impl Behaviour {
    fn named(word: &str) -> Option<Self> {
        match word {
            "namevar" => Some(Self::Namevar),
            "read_only" => Some(Self::ReadOnly),
            "init_only" => Some(Self::InitOnly),
            "parameter" => Some(Self::Parameter),
            _ => None,
        }
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Property => "property",
            Self::Namevar => "namevar",
            Self::ReadOnly => "read_only",
            Self::InitOnly => "init_only",
            Self::Parameter => "parameter",
        })
    }
}

/// Formats a value for a message: a text as it is, other values as JSON, a secret redacted.
pub(crate) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_json().to_string(), str::to_owned)
}

/// Returns the name of the Ruby class that the gem's messages show for a value.
pub(crate) fn ruby_class(value: &Value) -> &'static str {
    match value {
        Value::Undef => "NilClass",
        Value::Boolean(true) => "TrueClass",
        Value::Boolean(false) => "FalseClass",
        Value::Integer(_) => "Integer",
        Value::Float(_) => "Float",
        Value::String(_) => "String",
        Value::Array(_) => "Array",
        Value::Hash(_) => "Hash",
        Value::Symbol(_) => "Symbol",
        Value::Sensitive(_) => "Sensitive",
    }
}
