//! Manifests: what reads the desired resources of a device from a file.

mod catalog;
pub(crate) mod data;
mod host_types;
mod pp;
mod write;

pub(crate) use write::{to_pp, to_yaml};

use std::fs;
use std::path::Path;

use crate::device_run::{Catalog, invalid};
use crate::failure::Failure;
use crate::registry::Registry;

/// Reads a manifest, by the extension of its file, or a catalog that Puppet has compiled of one.
///
/// # Errors
/// That the file cannot be read, or everything that is wrong with its shape, with line and column.
pub(crate) fn read(path: &Path, registry: &Registry) -> Result<Catalog, Failure> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| invalid(&[format!("cannot read manifest {shown}: {error}")]))?;
    let is_pp = path.extension().is_some_and(|extension| extension == "pp");
    if is_pp {
        return pp::read(&text, &shown);
    }
    match catalog::document(&text) {
        Some(document) => catalog::read(document, &shown, |name| {
            Some(registry.type_of_any(name)?.schema())
        }),
        None => data::read(&text, &shown),
    }
}
