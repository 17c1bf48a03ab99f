//! Rows: the resources that a provider's `get` returns, each checked against the type.

use super::invalid::{InvalidResource, ResourceProblem};
use super::schema::TypeSchema;
use super::title::joined;
use crate::attribute::shown;
use crate::{Hash, Name, Resource, Value};

/// A row of `get` with its name and its secrets wrapped.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name of the resource.
    pub name: Name,
    /// The attributes.
    pub resource: Resource,
    /// The violations of the type, in the gem's wording. Puppet's setting `strict` decides what happens to
    /// the row.
    pub doubts: Vec<String>,
}

impl TypeSchema {
    /// Determines the name of a row that a provider's `get` returned, and checks the row.
    ///
    /// # Errors
    /// Fails when a namevar is missing: the resource cannot be identified.
    pub fn read_row(&self, mut row: Resource) -> Result<Row, InvalidResource> {
        self.wrap(&mut row);
        let (name, doubts) = self.examine(&row)?;
        Ok(Row {
            name,
            resource: row,
            doubts,
        })
    }

    /// Checks a row that a provider's `get` returned, and returns its name.
    ///
    /// # Errors
    /// Fails, in the gem's wording, when a namevar is missing, an attribute is unknown, a value has the
    /// wrong type, or the title stands for other namevars.
    pub fn check_row(&self, row: &Resource) -> Result<Name, InvalidResource> {
        match self.examine(row)? {
            (name, doubts) if doubts.is_empty() => Ok(name),
            (_, doubts) => Err(InvalidResource(
                doubts.into_iter().map(ResourceProblem::of_all).collect(),
            )),
        }
    }

    pub(super) fn wrap(&self, row: &mut Resource) {
        for (name, value) in row.iter_mut() {
            if self.is_sensitive(name) {
                *value = std::mem::replace(value, Value::Undef).into_sensitive();
            }
        }
    }

    fn is_sensitive(&self, attribute: &str) -> bool {
        let attribute = self.attributes.get(attribute);
        attribute.is_some_and(|attribute| attribute.sensitive)
    }

    fn examine(&self, row: &Resource) -> Result<(Name, Vec<String>), InvalidResource> {
        let is_missing = |namevar: &&String| row.get(namevar).is_none_or(Value::is_undef);
        if let Some(namevar) = self.namevars.iter().find(is_missing) {
            return Err(InvalidResource(vec![ResourceProblem::of_all(format!(
                "`{}.get` did not return a value for the `{namevar}` namevar attribute",
                self.name
            ))]));
        }
        let namevars = self.namevars_of(row);
        let (title, wrong_title) = self.title_of(row, &namevars);
        let doubts = self.mismatches(row, &title).into_iter();
        let doubts = doubts.chain(wrong_title).collect();
        Ok((Name::new(title, namevars), doubts))
    }

    /// Describes the attributes of a row that the type does not have, and those with a wrong type.
    fn mismatches(&self, row: &Resource, title: &str) -> Option<String> {
        let mut unknown = String::new();
        let mut mismatches = String::new();
        for (key, value) in row.iter() {
            match self.attributes.get(key) {
                None if key == "title" => {}
                None => unknown.push_str(&format!("\n    * {key}")),
                Some(attribute) => {
                    if let Err(violation) = attribute.verdict(value) {
                        mismatches.push_str(&if attribute.sensitive {
                            format!("\n    * {key}: << redacted value >> {violation}")
                        } else {
                            format!("\n    * {key}: {} ({violation})", value.interpolated())
                        });
                    }
                }
            }
        }
        let sections = [
            ("Unknown attribute", unknown),
            ("Value type mismatch", mismatches),
        ];
        let told: String = sections
            .into_iter()
            .filter(|(_, lines)| !lines.is_empty())
            .map(|(heading, lines)| format!("\n {heading}:{lines}"))
            .collect();
        let name = &self.name;
        (!told.is_empty()).then(|| {
            format!(
                "Provider returned data that does not match the Type Schema for `{name}[{title}]`{told}"
            )
        })
    }

    /// Returns the title of a row and what is wrong with it. With several namevars a row must have a title
    /// that stands for them (Resource API, "Resource implementation").
    fn title_of(&self, row: &Resource, namevars: &Hash) -> (String, Option<String>) {
        if let [namevar] = self.namevars.as_slice() {
            return (row.get(namevar).map(shown).unwrap_or_default(), None);
        }
        let type_name = &self.name;
        let title = row.get("title").and_then(Value::as_str);
        if self.title_patterns.is_empty() {
            // Without patterns, a title has no defined meaning.
            return (title.map_or_else(|| joined(namevars), str::to_owned), None);
        }
        let Some(title) = title else {
            let title = joined(namevars);
            let wrong = format!("{type_name}[{title}]#get has not provided a title attribute.");
            return (title, Some(wrong));
        };
        // A title that no pattern matches stands for no namevars.
        let parsed = self.parse_title(title);
        let matches = parsed.as_ref().is_ok_and(|parsed| {
            let mut parsed = parsed.iter();
            parsed.all(|(namevar, value)| namevars.get(&namevar.to_string()) == Some(value))
        });
        if matches {
            return (title.to_owned(), None);
        }
        let parsed = parsed.unwrap_or_default();
        let differing = self.namevars.iter();
        let differing = differing.filter(|namevar| parsed.get(namevar) != namevars.get(namevar));
        let differing = differing.map(|namevar| Value::Symbol(namevar.clone()));
        let differing = Value::Array(differing.collect());
        let inspected = |namevars: Hash| {
            let mut shown = Resource::from(namevars);
            self.wrap(&mut shown);
            shown.inspect().to_string()
        };
        let wrong = format!(
            "{type_name}[{title}]#get has provided a title attribute which does not match all namevars.\n\
             Namevars which do not match: {}\n\
             Returned parsed title hash:  {}\n\
             Expected hash:               {}",
            differing.inspect(),
            inspected(parsed),
            inspected(namevars.clone())
        );
        (title.to_owned(), Some(wrong))
    }
}
