//! Where an inventory comes from.

use std::path::PathBuf;

use super::InventoryError;

/// The place that an inventory is read from.
pub(crate) enum Source {
    /// A file that someone named: it must be there.
    File(PathBuf),
    /// The project's file: where it is not, the inventory is empty.
    Default(PathBuf),
    /// The inventory itself, in the environment variable `BOLT_INVENTORY`.
    Environment(String),
}

impl Source {
    /// The environment's inventory, the named file, or the project's, as Bolt chooses.
    ///
    /// # Errors
    ///
    /// When a file is named although the environment has an inventory.
    pub(crate) fn choose(
        named: Option<PathBuf>,
        environment: Option<String>,
        default: PathBuf,
    ) -> Result<Self, InventoryError> {
        match (named, environment) {
            (Some(_), Some(_)) => Err(InventoryError::TwoSources),
            (Some(path), None) => Ok(Self::File(path)),
            (None, Some(text)) => Ok(Self::Environment(text)),
            (None, None) => Ok(Self::Default(default)),
        }
    }

    /// The name for messages, and the text.
    pub(super) fn text(self) -> Result<(String, String), InventoryError> {
        let path = match self {
            Self::Environment(text) => return Ok(("BOLT_INVENTORY".to_owned(), text)),
            Self::File(path) | Self::Default(path) => path,
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(source) => Err(InventoryError::Unreadable {
                what: "the inventory file",
                path,
                source,
            }),
        }
    }
}
