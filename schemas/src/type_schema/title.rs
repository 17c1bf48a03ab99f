//! Titles: parses them into namevars, and makes them for resources without a title.

use super::invalid::{InvalidResource, ResourceProblem};
use super::schema::TypeSchema;
use crate::attribute::shown;
use crate::{Hash, Name, Resource, Value};

impl TypeSchema {
    /// Returns the namevars that a title stands for.
    ///
    /// # Errors
    /// Fails when no pattern matches the title.
    pub fn parse_title(&self, title: &str) -> Result<Hash, InvalidResource> {
        if self.title_patterns.is_empty() {
            return Ok(self
                .namevars
                .iter()
                .take(1)
                .map(|name| (name.as_str(), self.typed(name, title)))
                .collect());
        }
        let refused = |message| InvalidResource(vec![ResourceProblem::of_all(message)]);
        for pattern in &self.title_patterns {
            let captures = pattern
                .captures(title)
                .map_err(|error| refused(format!("title `{title}`: {error}")))?;
            if let Some(captures) = captures {
                return Ok(captures
                    .names()
                    .filter_map(|namevar| Some((namevar, captures.name(namevar)?)))
                    .map(|(namevar, text)| (namevar, self.typed(namevar, text)))
                    .collect());
            }
        }
        let like = self.titles_look_like().unwrap_or_default();
        Err(refused(format!(
            "the title \"{title}\" is not a valid title of `{}`: {like}",
            self.name
        )))
    }

    /// Returns the name that a title stands for, with the defaults of the other namevars.
    ///
    /// # Errors
    /// Fails when no pattern matches the title.
    pub fn name_of_title(&self, title: &str) -> Result<Name, InvalidResource> {
        let mut namevars = Resource::from(self.parse_title(title)?);
        for namevar in self.namevars() {
            let attribute = self.attributes().get(namevar);
            let default = attribute.and_then(|attribute| attribute.default.as_ref());
            if let (None, Some(default)) = (namevars.get(namevar), default) {
                namevars.set(namevar, default.clone());
            }
        }
        Ok(Name::new(title, self.namevars_of(&namevars)))
    }

    /// Converts a namevar's text to the type that the namevar needs: a number or a Boolean if only that
    /// fits.
    fn typed(&self, namevar: &str, text: &str) -> Value {
        let value = Value::from(text);
        let fits = |value: &Value| {
            self.attributes
                .get(namevar)
                .is_none_or(|attribute| attribute.check(value).is_ok())
        };
        if fits(&value) {
            return value;
        }
        let whole = text.parse().ok().map(Value::Integer);
        let number = || text.parse().ok().filter(|number| f64::is_finite(*number));
        let truth = || text.parse().ok().map(Value::Boolean);
        [whole, number().map(Value::Float), truth()]
            .into_iter()
            .flatten()
            .find(fits)
            .unwrap_or(value)
    }
}

/// Joins namevars into the title of a resource that has none.
pub(super) fn joined(namevars: &Hash) -> String {
    let values: Vec<String> = namevars.iter().map(|(_, value)| shown(value)).collect();
    values.join(" ")
}
