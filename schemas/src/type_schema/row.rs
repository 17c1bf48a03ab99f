//! Rows: what a provider's `get` returned, each checked against the type.

use super::invalid::{InvalidResource, ResourceProblem};
use super::schema::TypeSchema;
use super::title::joined;
use crate::attribute::shown;
use crate::{Hash, Name, Resource, Value};

/// A row of `get` that can be told apart from the others, its secrets wrapped.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: Name,
    /// What it says.
    pub resource: Resource,
    /// Where it does not keep to its type, in the gem's words: Puppet's setting `strict` decides what
    /// becomes of that.
    pub doubts: Vec<String>,
}

impl TypeSchema {
    /// Names a row that a provider's `get` returned, and checks it.
    ///
    /// # Errors
    /// A missing namevar: nobody can know which resource it is.
    pub fn read_row(&self, mut row: Resource) -> Result<Row, InvalidResource> {
        self.wrap(&mut row);
        let (name, doubts) = self.examine(&row)?;
        Ok(Row {
            name,
            resource: row,
            doubts,
        })
    }

    /// Checks a row that a provider's `get` returned, and names it.
    ///
    /// # Errors
    /// A missing namevar, an unknown attribute, a value of another type, a title that stands for
    /// other namevars; in the gem's words.
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

    /// What of a row the type does not have, and what has another type than it says.
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

    /// The title of a row, and what is wrong with the one that it has: with several namevars it must
    /// have one, and that must stand for them (Resource API, "Resource implementation").
    fn title_of(&self, row: &Resource, namevars: &Hash) -> (String, Option<String>) {
        if let [namevar] = self.namevars.as_slice() {
            return (row.get(namevar).map(shown).unwrap_or_default(), None);
        }
        let type_name = &self.name;
        let title = row.get("title").and_then(Value::as_str);
        if self.title_patterns.is_empty() {
            // Nobody says what a title stands for.
            return (title.map_or_else(|| joined(namevars), str::to_owned), None);
        }
        let Some(title) = title else {
            let title = joined(namevars);
            let wrong = format!("{type_name}[{title}]#get has not provided a title attribute.");
            return (title, Some(wrong));
        };
        // A title that no pattern takes apart stands for nothing.
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
