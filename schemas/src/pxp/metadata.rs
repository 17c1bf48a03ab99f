//! The metadata of a module: "Metadata" of the PXP module specification, read as pxp-agent reads it.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value as Json};

use super::JsonSchema;
use crate::{DefinitionProblems, did_you_mean, read_unique};

/// The metadata of a module.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The module's purpose. pxp-agent requires it, and the specification's schema forbids it: both forms
    /// are accepted.
    pub description: Option<String>,
    /// The schema of the module's configuration; without one, anything is allowed.
    pub configuration: Option<JsonSchema>,
    /// The module's actions, in its own order.
    pub actions: Vec<Action>,
    /// Remarks about anything that is accepted here, but not by pxp-agent or by the letter of the
    /// specification.
    pub remarks: Vec<String>,
}

/// An action of a module.
#[derive(Clone, Debug)]
pub struct Action {
    /// The name by which it is invoked.
    pub name: String,
    /// The action's description.
    pub description: Option<String>,
    /// The schema of the action's input.
    pub input: JsonSchema,
    /// The schema of the action's results.
    pub results: JsonSchema,
}

pub(super) const KEYS: [&str; 3] = ["description", "configuration", "actions"];
pub(super) const ACTION_KEYS: [&str; 4] = ["name", "description", "input", "results"];

impl Metadata {
    /// Parses the output of a module.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the metadata.
    pub fn read(text: &[u8]) -> Result<Self, DefinitionProblems> {
        let mut reading = MetadataReader::default();
        let metadata = match read_unique(text) {
            Ok(Json::Object(metadata)) => reading.metadata(&metadata),
            Ok(_) => reading.wrong(&[], "expected an object, it is other JSON"),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => {
                reading.wrong(&[], "expected an object in JSON, it is empty")
            }
            Err(error) if error.is_data() => reading.wrong(&[], error.to_string()),
            Err(error) => reading.wrong(&[], format!("it is no JSON: {error}")),
        };
        match metadata {
            Some(metadata) if reading.problems.is_empty() => Ok(Self {
                remarks: reading.remarks,
                ..metadata
            }),
            _ => Err(reading.problems),
        }
    }

    /// Returns an action by its name.
    pub fn action(&self, name: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.name == name)
    }
}

#[derive(Default)]
struct MetadataReader {
    problems: DefinitionProblems,
    remarks: Vec<String>,
}

impl MetadataReader {
    /// Adds a problem, and returns `None`.
    fn wrong<T>(&mut self, path: &[&str], message: impl Into<String>) -> Option<T> {
        let message = message.into();
        let message = match path {
            [] => message,
            path => format!("`{}`: {message}", path.join(".")),
        };
        self.problems.add(path, message);
        None
    }

    fn metadata(&mut self, metadata: &Map<String, Json>) -> Option<Metadata> {
        self.keys(&[], metadata, &KEYS);
        let description = self.text(&[], metadata, "description");
        if !metadata.contains_key("description") {
            self.remarks
                .push("it has no `description`: pxp-agent refuses a module without one".to_owned());
        }
        let configuration = metadata
            .contains_key("configuration")
            .then(|| self.schema(&[], metadata, "configuration"));
        let actions = match metadata.get("actions") {
            Some(Json::Array(actions)) => actions,
            Some(_) => return self.wrong(&["actions"], "expected a list of actions"),
            None => return self.wrong(&["actions"], "it is missing: expected a list of actions"),
        };
        let mut read: Vec<Action> = Vec::new();
        for (index, action) in actions.iter().enumerate() {
            let place = format!("actions[{index}]");
            let Some(action) = self.action(&place, action) else {
                continue;
            };
            if read.iter().any(|other| other.name == action.name) {
                let name = &action.name;
                self.wrong::<()>(&[&place], format!("there is another action `{name}`"));
            }
            read.push(action);
        }
        Some(Metadata {
            description,
            configuration: configuration.flatten(),
            actions: read,
            remarks: Vec::new(),
        })
    }

    fn action(&mut self, place: &str, action: &Json) -> Option<Action> {
        let path = &[place];
        let Json::Object(action) = action else {
            return self.wrong(path, "expected an object");
        };
        self.keys(path, action, &ACTION_KEYS);
        if !action.contains_key("description") {
            self.remarks.push(format!(
                "`{place}` has no `description`: the specification wants one"
            ));
        }
        let description = self.text(path, action, "description");
        let name = match action.get("name") {
            None => self.wrong(&[place, "name"], "it is missing: expected a text"),
            Some(Json::String(name)) if is_name(name) => Some(name.clone()),
            Some(Json::String(_)) => {
                self.wrong(&[place, "name"], "expected a word that can be an argument")
            }
            Some(_) => self.wrong(&[place, "name"], "expected a text"),
        };
        let input = self.schema(path, action, "input");
        let results = self.schema(path, action, "results");
        Some(Action {
            name: name?,
            description,
            input: input?,
            results: results?,
        })
    }

    fn keys(&mut self, path: &[&str], object: &Map<String, Json>, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let hint = did_you_mean(key, known.iter().copied());
            let path: Vec<&str> = path.iter().copied().chain([key.as_str()]).collect();
            self.wrong::<()>(&path, format!("there is no such key{hint}"));
        }
    }

    fn text(&mut self, path: &[&str], object: &Map<String, Json>, key: &str) -> Option<String> {
        match object.get(key)? {
            Json::String(text) => Some(text.clone()),
            _ => {
                let path: Vec<&str> = path.iter().copied().chain([key]).collect();
                self.wrong(&path, "expected a text")
            }
        }
    }

    fn schema(
        &mut self,
        path: &[&str],
        object: &Map<String, Json>,
        key: &str,
    ) -> Option<JsonSchema> {
        let path: Vec<&str> = path.iter().copied().chain([key]).collect();
        let schema = match object.get(key) {
            Some(schema @ Json::Object(_)) => schema,
            Some(_) => return self.wrong(&path, "expected an object, a JSON Schema"),
            None => return self.wrong(&path, "it is missing: expected an object, a JSON Schema"),
        };
        match JsonSchema::new(schema) {
            Ok(schema) => {
                if schema.is_of_unknown_draft() {
                    let place = path.join(".");
                    let remark = "names a `$schema` that is not known: it is read as Draft 4";
                    self.remarks.push(format!("`{place}` {remark}"));
                }
                Some(schema)
            }
            Err(problem) => self.wrong(&path, format!("it is no JSON Schema: {problem}")),
        }
    }
}

/// Whether a text can be the name of an action, which becomes an argument of the module.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains('\0')
}
