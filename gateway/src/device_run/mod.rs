//! Device runs: what a catalog desires, checked before anything is sent, then brought about.

mod catalog;
mod difference;
pub(crate) mod metaparameters;
mod transaction;

use std::collections::HashMap;

use devgate_schemas::Name;
use indexmap::IndexMap;

pub(crate) use catalog::{Catalog, Container, Declared, Meta, Place, Ref, invalid};
pub(crate) use transaction::{Desired, run};

use crate::failure::Failure;
use crate::registry::Registry;

impl Catalog {
    /// The resources that it desires, by type, each checked against the types of a family.
    ///
    /// # Errors
    /// Everything that is wrong with them, each with file, line and column.
    pub(crate) fn desired<'a>(
        &self,
        registry: &'a Registry,
        family: &str,
    ) -> Result<Vec<Desired<'a>>, Failure> {
        let mut wrong = Vec::new();
        let mut desired: IndexMap<&str, Desired<'a>> = IndexMap::new();
        let mut declared: HashMap<(&str, Name), &Declared> = HashMap::new();
        for resource in &self.resources {
            let Declared {
                name: shown,
                attributes,
                place,
                ..
            } = resource;
            let Ref { type_name, title } = shown;
            let kind = match registry.resource_type(family, type_name) {
                Ok(kind) => kind,
                Err(error) => {
                    wrong.push(format!("{place}: {error}"));
                    continue;
                }
            };
            let (name, should) = match kind.schema().desire(Some(title), attributes.clone()) {
                Ok(desired) => desired,
                Err(invalid) => {
                    let problems = invalid.problems().iter();
                    wrong.extend(problems.map(|problem| format!("{place}: {shown}: {problem}")));
                    continue;
                }
            };
            if let Some(first) = declared.insert((type_name, name.clone()), resource) {
                wrong.push(format!(
                    "{place}: {shown} is the same resource as [{}] at {}: say it once",
                    first.name.title, first.place
                ));
            }
            let of_type = desired.entry(type_name).or_insert_with(|| Desired {
                kind,
                resources: Vec::new(),
            });
            of_type.resources.push((name, should));
        }
        if wrong.is_empty() {
            Ok(desired.into_values().collect())
        } else {
            Err(invalid(&wrong))
        }
    }
}
