//! Bolt's inventory, version 2: which targets there are, and what is said of them.
//!
//! A file is read and checked as a whole, with all problems told at once; what groups and entries
//! say of one target is merged when that target is selected. No message and no `Debug` form shows
//! the password of a URI or any value of an entry.

mod collect;
mod data;
mod device_conf;
mod entry;
mod error;
mod expand;
mod exposed;
mod glob;
mod group;
mod lookup;
mod names;
mod overrides;
mod plain;
mod read;
mod redact;
mod select;
mod settings;
mod source;
mod target;
mod uri;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use devgate_schemas::yaml;
use indexmap::IndexMap;

pub(crate) use device_conf::read as read_device_conf;
pub use device_conf::{Device, default_file};
pub(crate) use error::Problem;
pub use error::{InventoryError, invalid_connection_info, unknown_target};
pub use glob::{Glob, TOO_MANY};
pub(crate) use group::Group;
pub use overrides::Overrides;
pub use plain::names_in;
pub use source::Source;
pub(crate) use target::{DeviceKey, Kind};
pub use target::{LOCALHOST, Listed, Target};
pub use words::words;

use expand::Expanding;
use group::Tree;
use names::Names;
use read::Reading;

use crate::plugins::Plugins;

/// Groups and targets.
pub struct Inventory {
    tree: Tree,
    names: Names,
    folded: HashMap<String, Vec<usize>>,
    warnings: Vec<Problem>,
    references: HashMap<String, Problem>,
    plugins: Rc<Plugins>,
    strict: bool,
    missing: Option<PathBuf>,
    /// Those of a `device.conf`.
    devices: IndexMap<String, Device>,
}

/// It may hold secrets.
impl fmt::Debug for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inventory").finish_non_exhaustive()
    }
}

impl Inventory {
    /// Reads and checks an inventory; what plugins list is looked up.
    ///
    /// A target that is wrong is there and says so when it is used; with `strict` it is an error.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not YAML, and all that it says and must not.
    pub(crate) async fn load(
        source: Source,
        plugins: Rc<Plugins>,
        strict: bool,
    ) -> Result<Self, InventoryError> {
        if let Source::Default(path) = &source
            && !path.exists()
        {
            let missing = Some(path.clone());
            let empty = Self::parse("no inventory", "", plugins, strict).await?;
            return Ok(Self { missing, ..empty });
        }
        let (name, text) = source.text()?;
        Self::parse(&name, &text, plugins, strict).await
    }

    /// Reads and checks the text of an inventory; `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub(crate) async fn parse(
        file: &str,
        text: &str,
        plugins: Rc<Plugins>,
        strict: bool,
    ) -> Result<Self, InventoryError> {
        let mut root = yaml::parse(text).map_err(|error| InventoryError::Syntax {
            file: file.to_owned(),
            error,
        })?;
        // Most inventories have no reference, and those that have need no second look at the rest.
        if text.contains("_plugin") {
            let expanding = Expanding {
                file,
                plugins: &plugins,
            };
            root = expanding.group(root, &[]).await?;
        }
        let mut reading = Reading::new(file, &root);
        if let Some((node, name)) = exposed::secret_in(Path::new(file), &root) {
            reading.warning(
                node,
                None,
                format!(
                    "`{name}` stands here in clear, and others than its owner may read the file: \
                     `chmod 600 {file}`, or let a plugin look it up (`_plugin: prompt`, `env_var`, `age`)"
                ),
            );
        }
        let names = reading.names();
        if strict {
            reading.take_faults();
        }
        if !reading.problems.is_empty() {
            return Err(InventoryError::Invalid(reading.problems));
        }
        let Reading {
            tree,
            warnings,
            references,
            ..
        } = reading;
        let folded = select::folded(&tree.entries, &names.aliases);
        Ok(Self {
            tree,
            names,
            folded,
            warnings,
            references,
            plugins,
            strict,
            missing: None,
            devices: IndexMap::new(),
        })
    }

    /// All groups, an outer one before those in it; the first is `all`.
    pub fn groups(&self) -> &[Group] {
        &self.tree.groups
    }

    /// The names of all targets of a group, those of its groups included.
    pub fn members(&self, group: &str) -> Option<Vec<&str>> {
        let mut names = self.all_members(*self.names.groups.get(group)?);
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        Some(names)
    }

    /// The project's inventory, where nobody named another and it is not there.
    pub fn missing(&self) -> Option<&Path> {
        self.missing.as_deref()
    }

    /// The targets that cannot be used, each with what is wrong with it.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (&str, &[Problem])> {
        let faulty = self.tree.entries.iter();
        faulty
            .filter(|(_, entry)| !entry.faults.is_empty())
            .map(|(name, entry)| (name.as_str(), entry.faults.as_slice()))
    }

    /// What looks like a mistake and is none that stops a run: unknown keys, targets listed twice.
    pub(crate) fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}
