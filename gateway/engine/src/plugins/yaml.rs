//! The plugin `yaml`: the contents of another file.

use std::path::Path;

use devgate_core::trust;
use devgate_schemas::{Value, yaml};

use super::options::{Options, read};
use crate::inventory::PluginError;

/// Returns the document in the file `filepath`, which is relative to the project's folder, as in Bolt.
pub(super) fn resolve(folder: &Path, options: &Options<'_>) -> Result<Value, PluginError> {
    options.refuse_unknown(&["filepath"])?;
    let missing = || options.invalid("expected `filepath`, a text");
    let path = options.path("filepath", folder)?.ok_or_else(missing)?;
    trust::check(&path).map_err(|problem| options.failed(problem))?;
    let text = read(options, "the file", &path)?;
    let text = String::from_utf8(text)
        .map_err(|_| options.failed(format!("{}: expected UTF-8", path.display())))?;
    let document = yaml::parse(&text)
        .map_err(|error| options.failed(format!("{}: {error}", path.display())))?;
    Ok(document.to_value())
}
