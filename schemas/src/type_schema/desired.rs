//! Desired resources: completes and checks the attributes that are given.

use super::invalid::{InvalidResource, ResourceProblem};
use super::schema::TypeSchema;
use super::title::joined;
use crate::{Behaviour, Hash, Name, Resource, Value, suggest};

impl TypeSchema {
    /// Makes a desired resource from given attributes: applies defaults, takes namevars from the title,
    /// wraps secrets, and checks everything.
    ///
    /// # Errors
    /// Fails with every unknown, wrong, read-only and missing attribute. Secrets are not quoted.
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
        let mut titled = Resource::new();
        match title.map(|title| self.parse_title(title)) {
            Some(Ok(namevars)) => {
                for (namevar, value) in namevars {
                    titled.set(&namevar.to_string(), value.clone());
                    resource.set(&namevar.to_string(), value);
                }
            }
            // The namevars may all be given even if there is no title to parse.
            None | Some(Err(_)) if named_by_attributes => {}
            Some(Err(InvalidResource(problems))) => wrong.extend(problems),
            None => wrong.push(ResourceProblem::of_all(format!(
                "expected a `title`, or {}",
                self.namevars.join(", ")
            ))),
        }
        for (key, value) in given {
            let key = key.to_string();
            match self.attributes.get(&key) {
                None => wrong.push(ResourceProblem::of(&key, self.unknown(&key))),
                // Puppet drops an attribute that is set to undef.
                Some(_) if value.is_undef() => {}
                Some(attribute) if attribute.behaviour == Behaviour::ReadOnly => {
                    let shown = if attribute.sensitive {
                        "a secret".to_owned()
                    } else {
                        value.interpolated()
                    };
                    let message =
                        format!("Attempting to set `{key}` read_only attribute value to `{shown}`");
                    wrong.push(ResourceProblem::of(&key, message));
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
                        let like = self
                            .titles_look_like()
                            .filter(|_| titled.get(key) == Some(value));
                        let like = like.map_or_else(String::new, |like| format!("; {like}"));
                        wrong.push(ResourceProblem::of(
                            key,
                            format!("`{key}` {violation}{like}"),
                        ));
                    }
                }
                (None, _) => {}
            }
        }
        if wrong.is_empty() {
            let unnamed = |namevar: &&String| resource.get(namevar).is_none();
            wrong.extend(self.namevars.iter().filter(unnamed).map(|namevar| {
                ResourceProblem::of_all(format!(
                    "`{namevar}` is missing: it names the resource; give it as an attribute"
                ))
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

    /// Returns the attributes that are valid by themselves, whatever is wrong with the rest.
    pub fn sound_part(&self, title: &str, given: &Hash) -> Resource {
        let titled = self.parse_title(title).unwrap_or_default();
        let mut part = Resource::new();
        for (key, value) in titled.iter().chain(given.iter()) {
            let key = key.to_string();
            let is_sound = self.attributes.get(&key).is_some_and(|attribute| {
                attribute.behaviour != Behaviour::ReadOnly && attribute.check(value).is_ok()
            });
            if is_sound {
                part.set(&key, value.clone());
            } else {
                part.remove(&key);
            }
        }
        self.wrap(&mut part);
        part
    }

    /// Checks that mandatory attributes are given: parameters always, others only if the resource is to be
    /// `present`. This is the gem's rule: resources of types without `ensure` may leave out any attribute
    /// that they do not manage.
    fn check_mandatory(&self, resource: &Resource, wrong: &mut Vec<ResourceProblem>) {
        let is_made = resource.get("ensure").and_then(Value::as_str) == Some("present");
        let mut parameters = Vec::new();
        let mut attributes = Vec::new();
        for (key, attribute) in &self.attributes {
            if !attribute.is_mandatory() || resource.get(key).is_some() {
                continue;
            }
            match attribute.behaviour {
                Behaviour::Namevar | Behaviour::ReadOnly => {}
                Behaviour::Parameter => parameters.push(key.as_str()),
                Behaviour::Property | Behaviour::InitOnly if is_made => {
                    attributes.push(key.as_str())
                }
                Behaviour::Property | Behaviour::InitOnly => {}
            }
        }
        for (what, missing) in [("parameters", parameters), ("attributes", attributes)] {
            if !missing.is_empty() {
                wrong.push(ResourceProblem::of_all(format!(
                    "The following mandatory {what} were not provided:\n    *  {}",
                    missing.join(", \n    *  ")
                )));
            }
        }
    }

    fn unknown(&self, key: &str) -> String {
        let hint = suggest(key, self.attributes.keys().map(String::as_str));
        format!("`{}` has no attribute `{key}`{hint}", self.name)
    }
}
