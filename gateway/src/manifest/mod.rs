//! Manifests: what reads the desired resources of a device from a file.

mod data;

use std::fs;
use std::path::Path;

use crate::device_run::{Catalog, invalid};
use crate::failure::Failure;

/// Reads a manifest.
///
/// # Errors
/// That the file cannot be read, or everything that is wrong with its shape, with line and column.
pub(crate) fn read(path: &Path) -> Result<Catalog, Failure> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| invalid(&[format!("cannot read manifest {shown}: {error}")]))?;
    data::read(&text, &shown)
}
