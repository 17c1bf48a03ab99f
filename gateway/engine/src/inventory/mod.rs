//! Bolt's inventory, version 2: the targets and their data.
//!
//! A file is read and checked as a whole, and all problems are reported at once. The data of groups and entries are
//! merged when a target is selected. No message and no `Debug` form shows the password of a URI or any value of an
//! entry.

mod data;
mod data_keys;
mod device_conf;
mod device_key;
mod entry;
mod error;
mod expand;
mod exposed;
mod glob;
mod group;
mod loaded;
mod lookup;
mod names;
mod nodes;
mod overrides;
mod plain_names;
mod plugin_error;
mod read;
mod redact;
mod references;
mod resolve;
mod select;
mod source;
mod target;
mod target_kind;
mod target_name;
mod target_words;
mod uri;

#[cfg(test)]
mod tests;

pub(crate) use device_conf::TransportOptions;
pub(crate) use device_conf::read as read_device_conf;
pub use device_conf::{ConfiguredDevice, default_file};
pub(crate) use device_key::DeviceKey;
pub(crate) use error::InventoryProblem;
pub use error::{InventoryError, invalid_connection_info, unknown_target};
pub use glob::{Glob, TOO_LARGE};
pub use loaded::Inventory;
pub use overrides::Overrides;
pub use plain_names::names_in;
pub(crate) use plugin_error::PluginError;
pub(crate) use references::{ReferenceResolver, reference_key};
pub use source::InventorySource;
pub use target::{LOCALHOST, Listed, Target};
pub use target_kind::TargetKind;
pub use target_words::target_words;
