//! Everything that can be reached and managed: the built-in parts, and those of the module path.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_devices::{Family, ResourceType};
use devgate_schemas::{Level, did_you_mean, suggest};
use devgate_transports::Connect;
use indexmap::IndexMap;

use crate::failure::Failure;
use crate::voice::Voice;

/// Transports by name, families by name, and through them the resource types.
#[derive(Debug)]
pub(crate) struct Registry {
    transports: IndexMap<String, Arc<dyn Connect>>,
    families: IndexMap<String, Arc<Family>>,
    /// What is wrong with families of modules, by the name of their folder: they stop those who ask
    /// for them, and nobody else.
    broken: IndexMap<String, String>,
}

impl Registry {
    /// Composes the built-in transports and families with the families of the module path.
    ///
    /// A family of a module replaces a built-in one, which is told at `notice`. One whose files are
    /// wrong is told as a warning, and refused where it is asked for.
    ///
    /// # Errors
    /// That two modules define one family.
    pub(crate) fn load(modulepath: &[PathBuf], voice: &Voice) -> anyhow::Result<Self> {
        let mut registry = Self {
            transports: IndexMap::new(),
            families: IndexMap::new(),
            broken: IndexMap::new(),
        };
        for connect in devgate_transports::all() {
            registry
                .transports
                .insert(connect.schema().name().to_owned(), connect.into());
        }
        for family in devgate_devices::all() {
            registry.add(Arc::new(family));
        }
        let mut found: IndexMap<String, PathBuf> = IndexMap::new();
        for folder in family_folders(modulepath) {
            let family = match Family::load(&folder) {
                Ok(family) => family,
                Err(error) => {
                    let problem = error.to_string();
                    let message = format!("family of {}: {problem}", folder.display());
                    voice.say(Level::Warning, &message);
                    registry.broken.insert(name_of(&folder), problem);
                    continue;
                }
            };
            let name = family.name().to_owned();
            if let Some(first) = found.insert(name.clone(), folder.clone()) {
                anyhow::bail!(
                    "family `{name}` is defined twice: in {} and in {}; remove one of them",
                    first.display(),
                    folder.display()
                );
            }
            if registry.transports.contains_key(&name) {
                let message = format!(
                    "family `{name}` of {} replaces the built-in one",
                    folder.display()
                );
                voice.say(Level::Notice, &message);
            }
            registry.add(Arc::new(family));
        }
        Ok(registry)
    }

    fn add(&mut self, family: Arc<Family>) {
        let name = family.name().to_owned();
        self.transports.insert(name.clone(), family.clone());
        self.families.insert(name, family);
    }

    /// Every transport, families included.
    pub(crate) fn transports(&self) -> impl Iterator<Item = &dyn Connect> {
        self.transports.values().map(|connect| &**connect)
    }

    /// Every family.
    pub(crate) fn families(&self) -> impl Iterator<Item = &Family> {
        self.families.values().map(|family| &**family)
    }

    /// Every family, if the files of all are right.
    ///
    /// # Errors
    /// What is wrong with one.
    pub(crate) fn sound_families(&self) -> Result<impl Iterator<Item = &Family>, Failure> {
        for name in self.broken.keys() {
            self.refuse_broken(name)?;
        }
        Ok(self.families())
    }

    /// The transport of this name, if anybody knows it.
    ///
    /// # Errors
    /// That its files are wrong.
    pub(crate) fn known(&self, name: &str) -> Result<Option<&dyn Connect>, Failure> {
        self.refuse_broken(name)?;
        Ok(self.transports.get(name).map(|connect| &**connect))
    }

    /// The transport of this name.
    ///
    /// # Errors
    /// That its files are wrong, or that there is none, with the nearest name.
    pub(crate) fn transport(&self, name: &str) -> Result<&dyn Connect, Failure> {
        self.known(name)?.ok_or_else(|| {
            let hint = did_you_mean(name, self.transports.keys().map(String::as_str));
            let message = format!(
                "there is no transport `{name}`{hint}; `devgate transport list` names them all"
            );
            Failure::new("devgate/unknown-transport", message)
        })
    }

    fn refuse_broken(&self, name: &str) -> Result<(), Failure> {
        match self.broken.get(name) {
            None => Ok(()),
            Some(problem) => {
                let message = format!("family `{name}` cannot be used: {problem}");
                Err(Failure::new("devgate/broken-family", message))
            }
        }
    }

    /// The family of this name.
    ///
    /// # Errors
    /// That its files are wrong, or that there is none, with the nearest name.
    pub(crate) fn family(&self, name: &str) -> Result<&Family, Failure> {
        self.refuse_broken(name)?;
        self.families
            .get(name)
            .map(|family| &**family)
            .ok_or_else(|| {
                let hint = did_you_mean(name, self.families.keys().map(String::as_str));
                let what = if self.transports.contains_key(name) {
                    format!("`{name}` is a bare protocol without resource types")
                } else {
                    format!("there is no family `{name}`{hint}")
                };
                let message = format!("{what}; `devgate family list` names the families");
                Failure::new("devgate/unknown-family", message)
            })
    }

    /// A resource type of a family.
    ///
    /// # Errors
    /// That the family or the type is not there, with the nearest name.
    pub(crate) fn resource_type(
        &self,
        family: &str,
        name: &str,
    ) -> Result<&dyn ResourceType, Failure> {
        let family = self.family(family)?;
        let types = || family.types().map(|kind| kind.schema().name());
        family
            .types()
            .find(|kind| kind.schema().name() == name)
            .ok_or_else(|| {
                let hint = suggest(name, types());
                let message = format!("family `{}` has no type `{name}`{hint}", family.name());
                Failure::new("devgate/unknown-type", message)
            })
    }
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The folders of families in the modules of a module path, sorted, so that every run is alike.
fn family_folders(modulepath: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in modulepath {
        for module in subfolders(root) {
            for family in subfolders(&module.join("devices")) {
                if family.join("family.yaml").is_file() {
                    folders.push(family);
                }
            }
        }
    }
    folders
}

fn subfolders(folder: &PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}
