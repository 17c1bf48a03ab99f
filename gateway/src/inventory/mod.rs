//! Bolt's inventory, version 2: which targets there are, and what is said of them.
//!
//! A file is read and checked as a whole, with all problems told at once; what groups and entries
//! say of one target is merged when that target is selected. No message and no `Debug` form shows
//! the password of a URI or any value of an entry.

mod data;
mod entry;
mod error;
mod glob;
mod group;
mod names;
mod overrides;
mod read;
mod select;
mod settings;
mod source;
mod target;
mod uri;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use devgate_schemas::yaml;

pub(crate) use error::{InventoryError, Problem};
pub(crate) use group::Group;
pub(crate) use overrides::Overrides;
pub(crate) use source::Source;
pub(crate) use target::{Kind, Listed, Target};

use group::Tree;
use names::Names;
use read::Reading;

/// Groups and targets.
pub(crate) struct Inventory {
    tree: Tree,
    names: Names,
    folded: HashMap<String, Vec<usize>>,
    warnings: Vec<Problem>,
    missing: Option<PathBuf>,
}

impl Inventory {
    /// Reads and checks an inventory.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is not YAML, and all that it says and must not.
    pub(crate) fn load(source: Source) -> Result<Self, InventoryError> {
        if let Source::Default(path) = &source
            && !path.exists()
        {
            let missing = Some(path.clone());
            let empty = Self::parse("no inventory", "")?;
            return Ok(Self { missing, ..empty });
        }
        let (name, text) = source.text()?;
        Self::parse(&name, &text)
    }

    /// Reads and checks the text of an inventory; `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, InventoryError> {
        let root = yaml::parse(text).map_err(|error| InventoryError::Syntax {
            file: file.to_owned(),
            error,
        })?;
        let mut reading = Reading::new(file, &root);
        let names = reading.names();
        if !reading.problems.is_empty() {
            return Err(InventoryError::Invalid(reading.problems));
        }
        let Reading { tree, warnings, .. } = reading;
        let folded = select::folded(&tree.entries, &names.aliases);
        Ok(Self {
            tree,
            names,
            folded,
            warnings,
            missing: None,
        })
    }

    /// All groups, an outer one before those in it; the first is `all`.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.tree.groups
    }

    /// The names of all targets of a group, those of its groups included.
    pub(crate) fn members(&self, group: &str) -> Option<Vec<&str>> {
        let mut names = self.tree.members(*self.names.groups.get(group)?);
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        Some(names)
    }

    /// The project's inventory, where nobody named another and it is not there.
    pub(crate) fn missing(&self) -> Option<&Path> {
        self.missing.as_deref()
    }

    /// What looks like a mistake and is none that stops a run: unknown keys, targets listed twice.
    pub(crate) fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}
