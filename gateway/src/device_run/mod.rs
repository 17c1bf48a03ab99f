//! Device runs: what a manifest desires, checked before anything is sent, then brought about.

mod difference;
mod manifest;
mod transaction;

use std::collections::HashMap;

use devgate_schemas::Name;
use indexmap::IndexMap;

pub(crate) use manifest::Manifest;
pub(crate) use transaction::{Desired, run};

use crate::failure::Failure;
use crate::registry::Registry;
use manifest::Declaration;

impl Manifest {
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
        let mut declared: HashMap<(&str, Name), &Declaration> = HashMap::new();
        for declaration in &self.declarations {
            let Declaration {
                type_name,
                title,
                attributes,
                place,
            } = declaration;
            let kind = match registry.resource_type(family, type_name) {
                Ok(kind) => kind,
                Err(error) => {
                    wrong.push(format!("{place}: {error}"));
                    continue;
                }
            };
            let (name, resource) = match kind.schema().desire(Some(title), attributes.clone()) {
                Ok(resource) => resource,
                Err(invalid) => {
                    let problems = invalid.problems().iter();
                    wrong.extend(
                        problems.map(|problem| format!("{place}: {type_name}[{title}]: {problem}")),
                    );
                    continue;
                }
            };
            if let Some(first) = declared.insert((type_name, name.clone()), declaration) {
                wrong.push(format!(
                    "{place}: {type_name}[{title}] is the same resource as [{}] at {}: say it once",
                    first.title, first.place
                ));
            }
            let of_type = desired.entry(type_name).or_insert_with(|| Desired {
                kind,
                resources: Vec::new(),
            });
            of_type.resources.push((name, resource));
        }
        if wrong.is_empty() {
            Ok(desired.into_values().collect())
        } else {
            Err(manifest::invalid(&wrong))
        }
    }
}
