//! Titles: taken apart into namevars, and made for resources that have none.

use super::invalid::{InvalidResource, ResourceProblem};
use super::schema::TypeSchema;
use crate::attribute::shown;
use crate::{Hash, Name, Resource, Value};

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
            "the title \"{title}\" is none of `{}`: {like}",
            self.name
        )))
    }

    /// The name that a title alone stands for, with the defaults of the other namevars.
    ///
    /// # Errors
    /// That no pattern takes the title apart.
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

    /// A namevar's text as the type that it must have: a number or a truth where only that fits.
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

/// What stands for the title of a resource that has none.
pub(super) fn joined(namevars: &Hash) -> String {
    let values: Vec<String> = namevars.iter().map(|(_, value)| shown(value)).collect();
    values.join(" ")
}
