//! Manifests: what reads the desired resources of a device from a file.

mod catalog;
pub(crate) mod data;
mod host_types;

use std::fs;
use std::path::Path;

use crate::device_run::{Catalog, invalid};
use crate::failure::Failure;
use crate::registry::Registry;

/// Reads a manifest, or a catalog that Puppet has compiled of one.
///
/// # Errors
/// That the file cannot be read, or everything that is wrong with its shape, with line and column.
pub(crate) fn read(path: &Path, registry: &Registry) -> Result<Catalog, Failure> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| invalid(&[format!("cannot read manifest {shown}: {error}")]))?;
    match catalog::document(&text) {
        Some(document) => catalog::read(document, &shown, |name| is_known(registry, name)),
        None => data::read(&text, &shown),
    }
}

/// Whether any family has a type of this name.
fn is_known(registry: &Registry, name: &str) -> bool {
    let mut types = registry.families().flat_map(|family| family.types());
    types.any(|kind| kind.schema().name() == name)
}
