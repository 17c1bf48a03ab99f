//! Checking resources against their type: titles, desired resources, rows that `get` returned.

use std::fmt;

use super::TypeSchema;
use crate::attribute::shown;
use crate::{Behaviour, Hash, Name, Resource, Value, suggest};

/// Everything that is wrong with a desired resource, in one sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidResource(Vec<String>);

impl TypeSchema {
    /// The namevars that a title stands for.
    ///
    /// # Errors
    /// That no pattern takes the title apart.
    pub fn parse_title(&self, title: &str) -> Result<Hash, InvalidResource> {
        if self.title_patterns.is_empty() {
            return Ok(self
                .namevars
                .iter()
                .take(1)
                .map(|name| (name.as_str(), title.into()))
                .collect());
        }
        for pattern in &self.title_patterns {
            let captures = pattern
                .captures(title)
                .map_err(|error| InvalidResource(vec![format!("title `{title}`: {error}")]))?;
            if let Some(captures) = captures {
                return Ok(captures
                    .names()
                    .filter_map(|namevar| Some((namevar, captures.name(namevar)?)))
                    .map(|(namevar, text)| (namevar, self.typed(namevar, text)))
                    .collect());
            }
        }
        let patterns: Vec<String> = self
            .title_patterns
            .iter()
            .map(|pattern| format!("/{}/", pattern.source()))
            .collect();
        Err(InvalidResource(vec![format!(
            "no set of title patterns matched the title \"{title}\"; expected {}",
            patterns.join(" or ")
        )]))
    }

    /// A namevar's text as the type that it must have: a number where only a number fits.
    fn typed(&self, namevar: &str, text: &str) -> Value {
        let value = Value::from(text);
        let fits = |value: &Value| {
            self.attributes
                .get(namevar)
                .is_none_or(|attribute| attribute.check(value).is_ok())
        };
        match text.parse::<i64>().map(Value::from) {
            Ok(number) if !fits(&value) && fits(&number) => number,
            _ => value,
        }
    }

    /// Makes a desired resource of what somebody wrote: defaults, namevars from the title, secrets
    /// wrapped, everything checked.
    ///
    /// # Errors
    /// Every unknown, wrong, read-only and missing attribute. Secrets are not quoted.
    pub fn desire(
        &self,
        title: Option<&str>,
        given: Hash,
    ) -> Result<(Name, Resource), InvalidResource> {
        let mut wrong = Vec::new();
        let mut resource = Resource::new();
        let named_by_attributes = self.namevars.iter().all(|namevar| {
            given.get(namevar).is_some() || self.attributes[namevar].default.is_some()
        });
        match title.map(|title| self.parse_title(title)) {
            Some(Ok(namevars)) => {
                for (namevar, value) in namevars {
                    resource.set(&namevar.to_string(), value);
                }
            }
            // Without a title to take apart, the namevars may still all be given.
            None | Some(Err(_)) if named_by_attributes => {}
            Some(Err(InvalidResource(problems))) => wrong.extend(problems),
            None => wrong.push(format!(
                "expected a `title`, or {}",
                self.namevars.join(", ")
            )),
        }
        for (key, value) in given {
            let key = key.to_string();
            match self.attributes.get(&key) {
                None => wrong.push(self.unknown(&key)),
                // Puppet drops an attribute that is set to undef.
                Some(_) if value.is_undef() => {}
                Some(attribute) if attribute.behaviour == Behaviour::ReadOnly => {
                    let shown = if attribute.sensitive {
                        "a secret".into()
                    } else {
                        shown(&value)
                    };
                    let message =
                        format!("Attempting to set `{key}` read_only attribute value to `{shown}`");
                    wrong.push(message);
                }
                Some(attribute) => {
                    let value = if attribute.sensitive {
                        value.into_sensitive()
                    } else {
                        value
                    };
                    resource.set(&key, value);
                }
            }
        }
        for (key, attribute) in &self.attributes {
            match (resource.get(key), &attribute.default) {
                (None, Some(default)) if attribute.behaviour != Behaviour::ReadOnly => {
                    resource.set(key, default.clone());
                }
                (Some(value), _) => {
                    if let Err(violation) = attribute.check(value) {
                        wrong.push(format!("`{key}` {violation}"));
                    }
                }
                (None, _) => {}
            }
        }
        if wrong.is_empty() {
            let unnamed = |namevar: &&String| resource.get(namevar).is_none();
            wrong.extend(self.namevars.iter().filter(unnamed).map(|namevar| {
                format!("`{namevar}` is missing: it names the resource; give it as an attribute")
            }));
        }
        self.check_mandatory(&resource, &mut wrong);
        if wrong.is_empty() {
            let namevars = self.namevars_of(&resource);
            let title = title.map_or_else(|| joined(&namevars), str::to_owned);
            Ok((Name::new(title, namevars), resource))
        } else {
            Err(InvalidResource(wrong))
        }
    }

    fn check_mandatory(&self, resource: &Resource, wrong: &mut Vec<String>) {
        let missing: Vec<&str> = self
            .attributes
            .iter()
            .filter(|(key, attribute)| {
                let needed = match attribute.behaviour {
                    Behaviour::Namevar | Behaviour::ReadOnly => false,
                    Behaviour::Parameter | Behaviour::InitOnly => true,
                    Behaviour::Property => resource.is_present() && key.as_str() != "ensure",
                };
                needed && attribute.is_mandatory() && resource.get(key).is_none()
            })
            .map(|(key, _)| key.as_str())
            .collect();
        if !missing.is_empty() {
            wrong.push(format!(
                "The following mandatory attributes were not provided:\n    *  {}",
                missing.join(", \n    *  ")
            ));
        }
    }

    fn unknown(&self, key: &str) -> String {
        let hint = suggest(key, self.attributes.keys().map(String::as_str));
        format!("`{}` has no attribute `{key}`{hint}", self.name)
    }

    /// Checks a row that a provider's `get` returned, and names it.
    ///
    /// # Errors
    /// A missing namevar, an unknown attribute, a value of another type, a title that stands for
    /// other namevars; in the gem's words.
    pub fn check_row(&self, row: &Resource) -> Result<Name, InvalidResource> {
        let name = &self.name;
        for namevar in &self.namevars {
            if row.get(namevar).is_none_or(Value::is_undef) {
                return Err(InvalidResource(vec![format!(
                    "`{name}.get` did not return a value for the `{namevar}` namevar attribute"
                )]));
            }
        }
        let mut unknown = Vec::new();
        let mut mismatches = Vec::new();
        for (key, value) in row.iter() {
            match self.attributes.get(key) {
                None if key == "title" => {}
                None => unknown.push(format!("    * {key}")),
                Some(attribute) => {
                    if let Err(violation) = attribute.check(value) {
                        mismatches.push(if attribute.sensitive {
                            format!("    * {key}: << redacted value >> {violation}")
                        } else {
                            format!("    * {key}: {} ({violation})", shown(value))
                        });
                    }
                }
            }
        }
        let namevars = self.namevars_of(row);
        let title = self.title_of(row)?;
        if unknown.is_empty() && mismatches.is_empty() {
            return Ok(Name::new(title, namevars));
        }
        let mut message = format!(
            "Provider returned data that does not match the Type Schema for `{name}[{title}]`"
        );
        for (heading, lines) in [
            ("Unknown attribute", unknown),
            ("Value type mismatch", mismatches),
        ] {
            if !lines.is_empty() {
                message.push_str(&format!("\n {heading}:\n{}", lines.join("\n")));
            }
        }
        Err(InvalidResource(vec![message]))
    }

    /// Checks the rows that a provider's `get` returned, their secrets wrapped from then on.
    ///
    /// # Errors
    /// What is wrong with the first wrong row.
    pub fn check_rows(&self, rows: &mut [Resource]) -> Result<(), InvalidResource> {
        for row in rows {
            for (name, value) in row.iter_mut() {
                if self
                    .attributes
                    .get(name)
                    .is_some_and(|attribute| attribute.sensitive)
                {
                    *value = std::mem::replace(value, Value::Undef).into_sensitive();
                }
            }
            self.check_row(row)?;
        }
        Ok(())
    }

    /// The title of a row: its own with several namevars, else the namevar's value.
    fn title_of(&self, row: &Resource) -> Result<String, InvalidResource> {
        if let [namevar] = self.namevars.as_slice() {
            return Ok(row.get(namevar).map(shown).unwrap_or_default());
        }
        let name = &self.name;
        let Some(title) = row.get("title").and_then(Value::as_str) else {
            return Err(InvalidResource(vec![format!(
                "{name}#get has not provided a title attribute."
            )]));
        };
        let named = self.parse_title(title)?;
        let differing: Vec<&str> = named
            .iter()
            .filter_map(|(key, value)| Some((key.as_str()?, value)))
            .filter(|(namevar, value)| row.get(namevar) != Some(*value))
            .map(|(namevar, _)| namevar)
            .collect();
        if differing.is_empty() {
            return Ok(title.to_owned());
        }
        Err(InvalidResource(vec![format!(
            "{name}[{title}]#get has provided a title attribute which does not match all namevars.\n\
             Namevars which do not match: {}",
            differing.join(", ")
        )]))
    }
}

/// What stands for the title of a resource that has none.
fn joined(namevars: &Hash) -> String {
    let values: Vec<String> = namevars.iter().map(|(_, value)| shown(value)).collect();
    values.join(" ")
}

impl InvalidResource {
    /// What is wrong, a sentence each.
    pub fn problems(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for InvalidResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for InvalidResource {}
