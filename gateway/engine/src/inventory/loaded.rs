//! A loaded inventory: its groups, its targets, and their problems.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use devgate_schemas::yaml::{self, Node};
use indexmap::IndexMap;

use super::device_conf::ConfiguredDevice;
use super::expand::ListExpander;
use super::group::{Group, Tree};
use super::names::{Folded, Names};
use super::read::InventoryReader;
use super::references::ReferenceResolver;
use super::{InventoryError, InventoryProblem, InventorySource, exposed};

/// The groups and targets of an inventory.
pub struct Inventory {
    pub(super) tree: Tree,
    pub(super) names: Names,
    folded: OnceCell<Folded>,
    pub(super) warnings: Vec<InventoryProblem>,
    pub(super) references: HashMap<String, InventoryProblem>,
    pub(super) plugins: Rc<dyn ReferenceResolver>,
    pub(super) strict: bool,
    pub(super) missing: Option<PathBuf>,
    /// The devices of a `device.conf`.
    pub(super) devices: IndexMap<String, ConfiguredDevice>,
}

/// What to say of an inventory of another program, to end a message with.
pub(super) const NOT_BOLT: &str = "; this is not a Bolt inventory, version 2: docs/migration.md shows how to convert one of Ansible";

/// Shows no data, because they may contain secrets.
impl fmt::Debug for Inventory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inventory").finish_non_exhaustive()
    }
}

impl Inventory {
    /// Reads and checks an inventory, and expands the lists of plugins.
    ///
    /// An invalid target is kept and fails when it is used. With `strict`, it is an error.
    ///
    /// # Errors
    /// Fails when a file cannot be read or is not YAML, and with all problems of the inventory.
    pub(crate) async fn load(
        source: InventorySource,
        plugins: Rc<dyn ReferenceResolver>,
        strict: bool,
    ) -> Result<Self, InventoryError> {
        if let InventorySource::Default(path) = &source
            && !path.exists()
        {
            let missing = Some(path.clone());
            let empty = Self::parse("no inventory", "", plugins, strict).await?;
            return Ok(Self { missing, ..empty });
        }
        let (name, text) = source.text()?;
        let document = Document::parse(&name, &text)?;
        // The nodes of a large document take enough memory.
        drop(text);
        document.read(&name, plugins, strict).await
    }

    /// Reads and checks the text of an inventory. `file` is its name in messages.
    ///
    /// # Errors
    /// Fails as [`load`](Self::load).
    pub(crate) async fn parse(
        file: &str,
        text: &str,
        plugins: Rc<dyn ReferenceResolver>,
        strict: bool,
    ) -> Result<Self, InventoryError> {
        let document = Document::parse(file, text)?;
        document.read(file, plugins, strict).await
    }

    /// Returns the numbers of the entries whose name or alias is this in any case.
    pub(super) fn entries_in_any_case(&self, name: &str) -> Vec<usize> {
        let folded = || Folded::new(&self.tree, &self.names);
        let folded = self.folded.get_or_init(folded);
        folded.find(name, &self.tree, &self.names)
    }

    /// Returns all groups, an outer one before those in it. The first is `all`.
    pub fn groups(&self) -> &[Group] {
        &self.tree.groups
    }

    /// Returns the names of all targets of a group, including those of its groups.
    pub fn members(&self, group: &str) -> Option<Vec<&str>> {
        let mut names = self.all_members(*self.names.groups.get(group)?);
        let mut seen = std::collections::HashSet::new();
        names.retain(|name| seen.insert(*name));
        Some(names)
    }

    /// Returns the path of the project's inventory if no other was named and it does not exist.
    pub fn missing(&self) -> Option<&Path> {
        self.missing.as_deref()
    }

    /// Returns the targets that cannot be used, with their problems.
    pub(crate) fn faults(&self) -> impl Iterator<Item = (&str, &[InventoryProblem])> {
        let faulty = self.tree.entries.iter();
        faulty
            .filter(|(_, entry)| !entry.faults.is_empty())
            .map(|(name, entry)| (name.as_str(), entry.faults.as_slice()))
    }

    /// Returns the probable mistakes that stop no run: unknown keys, targets that are listed twice.
    pub(crate) fn warnings(&self) -> &[InventoryProblem] {
        &self.warnings
    }
}

/// The document of an inventory.
struct Document {
    root: Node,
    /// Most inventories have no reference, and then nothing needs to be expanded.
    may_have_references: bool,
}

impl Document {
    fn parse(file: &str, text: &str) -> Result<Self, InventoryError> {
        let root = yaml::parse(text).map_err(|mut error| {
            // A section of an INI file.
            if text.lines().any(|line| line.starts_with('[')) {
                error.message += NOT_BOLT;
            }
            InventoryError::Syntax {
                file: file.to_owned(),
                error,
            }
        })?;
        let may_have_references = text.contains("_plugin");
        Ok(Self {
            root,
            may_have_references,
        })
    }

    async fn read(
        self,
        file: &str,
        plugins: Rc<dyn ReferenceResolver>,
        strict: bool,
    ) -> Result<Inventory, InventoryError> {
        let mut root = self.root;
        if self.may_have_references {
            let expander = ListExpander {
                file,
                plugins: &*plugins,
            };
            root = expander.group(root, &[]).await?;
        }
        let secret = exposed::secret_in(Path::new(file), &root);
        let secret = secret.map(|(node, name)| (node.place(), name));
        let mut reader = InventoryReader::new(file, root);
        if let Some((place, name)) = secret {
            reader.warning(
                place,
                None,
                format!(
                    "`{name}` is here in clear text, and other users can read the file: `chmod 600 {file}`, or use a \
                     plugin (`_plugin: prompt`, `env_var`, `age`)"
                ),
            );
        }
        let names = reader.names();
        if strict {
            reader.take_faults();
        }
        if !reader.problems.is_empty() {
            return Err(InventoryError::Invalid(reader.problems));
        }
        let InventoryReader {
            tree,
            warnings,
            references,
            ..
        } = reader;
        Ok(Inventory {
            tree,
            names,
            folded: OnceCell::new(),
            warnings,
            references,
            plugins,
            strict,
            missing: None,
            devices: IndexMap::new(),
        })
    }
}

impl Inventory {
    /// Adds the devices of a `device.conf` to the group `all`. A device whose name is in the inventory is not added;
    /// the names of these are returned.
    pub(crate) fn add_devices(&mut self, devices: Vec<ConfiguredDevice>) -> Vec<String> {
        let (listed, new): (Vec<ConfiguredDevice>, Vec<ConfiguredDevice>) = devices
            .into_iter()
            .partition(|device| self.tree.entries.contains_key(&device.name));
        let named = new.into_iter().map(|device| (device.name.clone(), device));
        self.devices.extend(named);
        listed.into_iter().map(|device| device.name).collect()
    }

    /// Returns the names of all targets of a group, including those of its groups. Some may occur more than once.
    pub(super) fn all_members(&self, group: usize) -> Vec<&str> {
        let mut names = self.tree.members(group);
        if group == 0 {
            names.extend(self.device_names());
        }
        names
    }

    /// Returns the names of the devices of a `device.conf`, in its order.
    pub fn device_names(&self) -> impl Iterator<Item = &str> {
        self.devices.keys().map(String::as_str)
    }
}
