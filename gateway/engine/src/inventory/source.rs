//! The source of an inventory.

use std::fmt;
use std::path::PathBuf;

use devgate_schemas::Sensitive;
use devgate_transports::reading;

use super::InventoryError;

/// The source of an inventory.
#[derive(Clone)]
pub enum InventorySource {
    /// A file that was named explicitly. It must exist.
    File(PathBuf),
    /// The project's file. Without it, the inventory is empty.
    Default(PathBuf),
    /// The text in the environment variable `BOLT_INVENTORY`.
    Environment(String),
    /// The text in the configuration of a PXP module.
    Configuration(Sensitive<String>),
}

impl InventorySource {
    /// Chooses the source as Bolt does: the environment's inventory, the one that was named, or the project's.
    ///
    /// # Errors
    /// Fails when one is named although the environment has an inventory.
    pub fn choose(
        named: Option<Self>,
        environment: Option<Self>,
        default: PathBuf,
    ) -> Result<Self, InventoryError> {
        match (named, environment) {
            (Some(_), Some(_)) => Err(InventoryError::TwoSources),
            (Some(named), None) => Ok(named),
            (None, Some(environment)) => Ok(environment),
            (None, None) => Ok(Self::Default(default)),
        }
    }

    /// Reads the text, and returns it with its name for messages.
    pub(super) fn text(self) -> Result<(String, String), InventoryError> {
        let path = match self {
            Self::Environment(text) => return Ok(("BOLT_INVENTORY".to_owned(), text)),
            Self::Configuration(text) => {
                return Ok(("configuration.inventory".to_owned(), text.reveal().clone()));
            }
            Self::File(path) | Self::Default(path) => path,
        };
        match reading::text(&path) {
            Ok(text) => Ok((path.display().to_string(), text)),
            Err(source) => Err(InventoryError::Unreadable {
                what: "the inventory file",
                path,
                source,
            }),
        }
    }
}

/// Shows no text, because an inventory may contain secrets.
impl fmt::Debug for InventorySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Default(path) => f.debug_tuple("Source").field(path).finish(),
            Self::Environment(_) | Self::Configuration(_) => f.write_str("Source(..)"),
        }
    }
}
