//! Device runs: what a manifest desires, checked before anything is sent, then brought about.

mod difference;
mod manifest;
mod transaction;

use std::path::Path;

use anyhow::bail;
use indexmap::IndexMap;

pub(crate) use transaction::{Desired, run};

use crate::registry::Registry;

/// Reads a manifest and checks every resource in it against the types of a family.
///
/// # Errors
/// Everything that is wrong with it, each with file, line and column; nothing is sent to a device.
pub(crate) fn desired<'a>(
    registry: &'a Registry,
    family: &str,
    manifest: &Path,
) -> anyhow::Result<Vec<Desired<'a>>> {
    let mut wrong = Vec::new();
    let mut desired: IndexMap<String, Desired<'a>> = IndexMap::new();
    for declaration in manifest::read(manifest)? {
        let manifest::Declaration {
            type_name,
            title,
            attributes,
            place,
        } = declaration;
        let kind = match registry.resource_type(family, &type_name) {
            Ok(kind) => kind,
            Err(error) => {
                wrong.push(format!("{place}: {error}"));
                continue;
            }
        };
        match kind.schema().desire(Some(&title), attributes) {
            Ok(resource) => {
                let empty = || Desired {
                    kind,
                    resources: Vec::new(),
                };
                desired
                    .entry(type_name)
                    .or_insert_with(empty)
                    .resources
                    .push(resource);
            }
            Err(invalid) => {
                let problems = invalid.problems().iter();
                wrong.extend(
                    problems.map(|problem| format!("{place}: {type_name}[{title}]: {problem}")),
                );
            }
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(desired.into_values().collect())
}
