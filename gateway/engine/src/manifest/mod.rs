//! Manifests: reads the desired resources of a device from a file.

mod catalog;
pub mod data;
mod host_types;
mod pp;
mod write;

pub(crate) use write::to_pp;
pub use write::to_yaml;

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;

use devgate_core::failure::Failure;
use devgate_core::trust;
use devgate_transports::reading;
use tokio::task::spawn_blocking;

use crate::device_run::{Catalog, invalid};
use crate::registry::Registry;

/// The source of a manifest, or of a catalog that Puppet has compiled.
pub enum Manifest {
    /// A file with Puppet's code or with data, as its extension says.
    File(PathBuf),
    /// A text in YAML or JSON that is not written to a disk.
    Text {
        /// The name in messages.
        name: &'static str,
        /// The text.
        text: String,
    },
}

impl Manifest {
    /// Reads the manifest. A slow file (a pipe, a network share that is down) does not block others.
    ///
    /// # Errors
    /// Fails when the file cannot be read, or with all problems of its structure, with line and column.
    pub(crate) async fn read(&self, registry: &Registry) -> Result<Catalog, Failure> {
        let path = match self {
            Self::Text { name, text } => return data_or_catalog(text, name, registry).await,
            Self::File(path) => path,
        };
        let shown = path.display().to_string();
        if !path.exists() {
            return Err(invalid(&[format!("{shown} does not exist, cannot apply")]));
        }
        trust::check(path).map_err(|problem| Failure::new("devgate/untrusted", problem))?;
        let file = path.clone();
        let text = spawn_blocking(move || reading::text(&file)).await;
        let text = text
            .unwrap_or_else(|error| Err(error.into()))
            .map_err(|error| invalid(&[format!("cannot read manifest {shown}: {error}")]))?;
        if path.extension().is_some_and(|extension| extension == "pp") {
            pp::read(&text, &shown)
        } else {
            data_or_catalog(&text, &shown, registry).await
        }
    }
}

/// Shows no text, because a manifest may contain secrets.
impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Text { name, .. } => f.debug_tuple("Text").field(name).finish(),
        }
    }
}

async fn data_or_catalog(text: &str, name: &str, registry: &Registry) -> Result<Catalog, Failure> {
    // Repeats the reading if programs must describe their types first.
    while let Some(document) = catalog::document(text) {
        let open = RefCell::new(Vec::new());
        let catalog = catalog::read(document, name, |type_name| {
            open.borrow_mut()
                .extend(registry.undescribed_with_type(type_name));
            Some(registry.type_of_any(type_name)?.schema())
        });
        match open.into_inner() {
            none if none.is_empty() => return catalog,
            some => registry.load_descriptions(some).await,
        }
    }
    data::read(text, name)
}
