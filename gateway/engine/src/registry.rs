//! The registry of transports and families: the built-in ones, and those of the module path.

mod default_port;
mod family_source;
mod options;
mod vendors;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use devgate_core::failure::Failure;
use devgate_core::redactor::{Sink, log_line};
use devgate_devices::ResourceType;
use devgate_schemas::{Level, Value, did_you_mean, suggest};
use devgate_transports::Connect;
use futures_util::future::join_all;
use indexmap::IndexMap;
use tokio::task::yield_now;

use crate::external::{RubyTransport, name_of};
use crate::inventory::{DeviceKey, Target, TargetKind};
use default_port::{SSH, default_port};
use family_source::{Code, FamilySource};

pub use crate::family::Family;

/// Protocols by name, families by name, and through the families the resource types.
#[derive(Debug)]
pub struct Registry {
    protocols: IndexMap<String, Arc<dyn Connect>>,
    families: IndexMap<String, FamilySource>,
    /// The families of modules with invalid files, by the name of their folder, with the problem. They fail only those
    /// operations that need them.
    broken: IndexMap<String, String>,
    /// Invalid families are reported once, when all families are requested.
    reported: Once,
    log: Arc<dyn Sink>,
    id: RegistryId,
}

/// Identifies a registry within this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegistryId(u64);

/// The number of registries that have been created.
static CREATED: AtomicU64 = AtomicU64::new(0);

impl Registry {
    /// Loads the built-in transports and families, the families of the module path, and the modules in Ruby there and
    /// in `libdir`.
    ///
    /// A family of a module replaces a built-in one; this is reported at `notice`. A family with invalid files is
    /// refused when it is needed. A family that exists both for devgate and in Ruby does not use Ruby.
    ///
    /// # Errors
    /// Fails when two modules define the same family.
    pub fn load(
        modulepath: &[PathBuf],
        libdir: Option<&Path>,
        log: &Arc<dyn Sink>,
    ) -> Result<Self, Failure> {
        let mut registry = Self {
            protocols: IndexMap::new(),
            families: IndexMap::new(),
            broken: IndexMap::new(),
            reported: Once::new(),
            log: Arc::clone(log),
            id: RegistryId(CREATED.fetch_add(1, Ordering::Relaxed)),
        };
        for connect in devgate_transports::all() {
            let name = connect.name().to_owned();
            registry.protocols.insert(name, Arc::clone(connect));
        }
        for family in devgate_devices::all() {
            let name = family.name().to_owned();
            let source = FamilySource::new(Some(family), None);
            registry.families.insert(name, source);
        }
        let mut folders: IndexMap<String, PathBuf> = IndexMap::new();
        for folder in family_folders(modulepath) {
            let (name, family) = match FamilySource::read(&folder) {
                Ok(family) => family,
                Err(problem) => {
                    registry.broken.insert(name_of(&folder), problem);
                    continue;
                }
            };
            if let Some(first) = folders.insert(name.clone(), folder.clone()) {
                return Err(Failure::other(format!(
                    "family `{name}` is defined twice: in {} and in {}; remove one of them",
                    first.display(),
                    folder.display()
                )));
            }
            registry.add_family(name, family, &folder);
        }
        for transport in RubyTransport::all(modulepath, libdir) {
            let (name, file) = (transport.name().to_owned(), transport.file().to_owned());
            if !folders.contains_key(&name) && !registry.broken.contains_key(&name) {
                let family = FamilySource::new(None, Some(Code::Ruby(transport)));
                registry.add_family(name, family, &file);
            }
        }
        Ok(registry)
    }

    /// Returns the identity of the registry.
    pub(crate) fn id(&self) -> RegistryId {
        self.id
    }

    /// Adds a transport.
    #[cfg(test)]
    pub(crate) fn add_transport(&mut self, connect: Arc<dyn Connect>) {
        let name = connect.name().to_owned();
        self.protocols.insert(name, connect);
    }

    fn add_family(&mut self, name: String, family: FamilySource, path: &Path) {
        if self.names().any(|known| known == name) {
            let path = path.display();
            let message = format!("family `{name}` of {path} replaces the built-in one");
            log_line(&*self.log, Level::Notice, message);
        }
        self.families.insert(name, family);
    }

    fn report_broken(&self, family: &str, problem: &str) {
        let message = format!("family of {family}: {problem}");
        log_line(&*self.log, Level::Warning, message);
    }

    /// Returns the names of all transports, families included.
    fn names(&self) -> impl Iterator<Item = &str> {
        let protocols = self.protocols.keys();
        protocols.chain(self.families.keys()).map(String::as_str)
    }

    /// Returns the names of all transports, families included.
    pub fn transport_names(&self) -> Vec<String> {
        self.names().map(str::to_owned).collect()
    }

    /// Returns the names of all families.
    pub fn family_names(&self) -> Vec<String> {
        self.families.keys().cloned().collect()
    }

    /// Returns the names of all resource types.
    pub fn type_names(&self) -> Vec<String> {
        let families = self.families.values();
        families.flat_map(|source| source.type_names()).collect()
    }

    /// Returns every transport, families included.
    pub fn transports(&self) -> impl Iterator<Item = &dyn Connect> {
        let protocols = self.protocols.iter();
        let protocols = protocols.filter(|(name, _)| !self.families.contains_key(*name));
        protocols
            .map(|(_, connect)| &**connect)
            .chain(self.families().map(Family::connect))
    }

    /// Returns every family, those of programs only if their descriptions were [loaded](Self::load_descriptions). Families
    /// with invalid files, and programs that do not describe themselves, are reported and skipped.
    pub fn families(&self) -> impl Iterator<Item = &Family> {
        self.reported.call_once(|| {
            for (name, problem) in &self.broken {
                self.report_broken(&format!("`{name}`"), problem);
            }
        });
        let families = self.families.iter();
        families.filter_map(|(name, source)| match source.loaded() {
            Ok(family) => Some(family),
            Err(problem) => {
                let report = || self.report_broken(&format!("`{name}`"), problem);
                source.reported.call_once(report);
                None
            }
        })
    }

    /// Returns every family, provided that all are valid.
    ///
    /// # Errors
    /// Fails when the files of a family are invalid.
    pub fn valid_families(&self) -> Result<impl Iterator<Item = &Family>, Failure> {
        for name in self.broken.keys().chain(self.families.keys()) {
            self.find_family(name)?;
        }
        Ok(self.families())
    }

    /// Returns the transport of this name, if there is one.
    ///
    /// # Errors
    /// Fails when its files are invalid.
    pub fn find_transport(&self, name: &str) -> Result<Option<&dyn Connect>, Failure> {
        let protocol = self.protocols.get(name).map(|connect| &**connect);
        Ok(self.find_family(name)?.map(Family::connect).or(protocol))
    }

    /// Returns the transport of this name.
    ///
    /// # Errors
    /// Fails when its files are invalid, or when there is no such transport; the message suggests the nearest name.
    pub fn transport(&self, name: &str) -> Result<&dyn Connect, Failure> {
        self.find_transport(name)?.ok_or_else(|| {
            if ["ssh", "local", "remote"].contains(&name) {
                let message = format!(
                    "`{name}` is a transport of targets, and not a protocol of devices: `transport: ssh` runs tasks on a \
                     host behind SSH, `local` on this node, `remote` on devices; `devgate transport show ssh` and \
                     `devgate transport show local` list the settings of hosts, `devgate transport list` the values of \
                     `remote-transport`"
                );
                return Failure::new("devgate/unknown-transport", message);
            }
            let hint = hint(name, self.names());
            let end = if hint.ends_with('?') { "" } else { ";" };
            let message = format!(
                "there is no transport `{name}`{hint}{end} `devgate transport list` lists all transports"
            );
            Failure::new("devgate/unknown-transport", message)
        })
    }

    /// Loads the descriptions of the programs of these families, unless they are loaded. If the future is
    /// dropped, the programs are ended, and the next call starts them again.
    pub async fn load_descriptions<'n>(&self, names: impl IntoIterator<Item = &'n str>) {
        let names: HashSet<&str> = names.into_iter().collect();
        let names = names
            .into_iter()
            .filter(|name| self.needs_description(name));
        let sources: Vec<_> = names.filter_map(|name| self.families.get(name)).collect();
        if !sources.is_empty() {
            // The first poll starts nothing: a front end listens for signals only once there is something to wait for.
            yield_now().await;
        }
        // A problem is reported to those who need the family.
        join_all(sources.into_iter().map(|source| source.load())).await;
    }

    /// Loads the descriptions of the programs of every family.
    pub async fn load_all_descriptions(&self) {
        self.load_descriptions(self.families.keys().map(String::as_str))
            .await;
    }

    /// Loads the descriptions of the programs that these targets need.
    pub async fn prepare(&self, targets: &[Arc<Target>]) {
        let targets = targets.iter().filter(|target| target.fault.is_none());
        self.load_descriptions(targets.filter_map(|target| target.remote_transport()))
            .await;
    }

    /// Returns the values in a target's connection info that its transport declares secret, as far as its description
    /// is known.
    pub fn secrets(&self, target: &Target) -> Vec<Value> {
        let transport = target.remote_transport();
        let transport =
            transport.filter(|name| target.fault.is_none() && !self.needs_description(name));
        let connect = transport.and_then(|name| self.find_transport(name).ok().flatten());
        connect.map_or_else(Vec::new, |connect| {
            connect.schema().secrets(target.connection_info())
        })
    }

    /// Returns the device key of a target. The default port of a transport is unknown until its programs have described
    /// it.
    pub(crate) fn device_key(&self, target: &Target) -> DeviceKey {
        let transport = match &target.kind {
            TargetKind::Remote { transport, .. } => transport.as_deref(),
            TargetKind::Ssh => return target.device_key(Some(SSH)),
            TargetKind::Local | TargetKind::Other(_) => None,
        };
        let transport = transport.filter(|name| !self.needs_description(name));
        let connect = transport.and_then(|name| self.find_transport(name).ok().flatten());
        target.device_key(connect.and_then(|connect| default_port(connect.schema(), target)))
    }

    /// Whether the descriptions of the programs of the family of this name are not loaded yet.
    pub(crate) fn needs_description(&self, name: &str) -> bool {
        self.families
            .get(name)
            .is_some_and(|source| source.needs_description())
    }

    /// Returns the families that may have a type of this name and whose descriptions are not loaded yet.
    pub(crate) fn undescribed_with_type(&self, type_name: &str) -> impl Iterator<Item = &str> {
        let families = self.families.iter();
        let open = families
            .filter(move |(_, source)| source.needs_description() && source.has_type(type_name));
        open.map(|(name, _)| name.as_str())
    }

    /// Returns the family of this name, if there is one.
    fn find_family(&self, name: &str) -> Result<Option<&Family>, Failure> {
        let source = self.families.get(name);
        let loaded = source.map(|source| source.loaded().as_ref()).transpose();
        let problem = match (self.broken.get(name), loaded) {
            (None, Ok(family)) => return Ok(family),
            (Some(problem), _) | (None, Err(problem)) => problem,
        };
        let message = format!("family `{name}` cannot be used: {problem}");
        Err(Failure::new("devgate/broken-family", message))
    }

    /// Returns the family of this name.
    ///
    /// # Errors
    /// Fails when its files are invalid, or when there is no such family; the message suggests the nearest name.
    pub fn family(&self, name: &str) -> Result<&Family, Failure> {
        self.find_family(name)?.ok_or_else(|| {
            let what = if self.protocols.contains_key(name) {
                format!("`{name}` is a bare protocol without resource types")
            } else {
                let hint = hint(name, self.families.keys().map(String::as_str));
                format!("there is no family `{name}`{hint}")
            };
            let message = format!("{what}; `devgate family list` lists all families");
            Failure::new("devgate/unknown-family", message)
        })
    }

    /// Returns the resource type of this name, from the first family that has one.
    pub(crate) fn type_of_any(&self, name: &str) -> Option<&dyn ResourceType> {
        let sources = self
            .families
            .values()
            .filter(|source| source.has_type(name));
        let mut families = sources.filter_map(|source| source.loaded().as_ref().ok());
        families.find_map(|family| family.types().find(|kind| kind.schema().name() == name))
    }

    /// Returns a resource type of a family.
    ///
    /// # Errors
    /// Fails when there is no such family or type; the message suggests the nearest name.
    pub fn resource_type(&self, family: &str, name: &str) -> Result<&dyn ResourceType, Failure> {
        let family = self.family(family)?;
        let types = || family.types().map(|kind| kind.schema().name());
        for warning in family.warnings_of(name) {
            log_line(&*self.log, Level::Warning, warning);
        }
        family
            .types()
            .find(|kind| kind.schema().name() == name)
            .ok_or_else(|| {
                let family_name = family.name();
                let message = match family.reason_left_out(name) {
                    Some(why) => {
                        format!("type `{name}` cannot be used by family `{family_name}`: {why}")
                    }
                    None => {
                        let hint = suggest(name, types());
                        format!("family `{family_name}` has no type `{name}`{hint}")
                    }
                };
                Failure::new("devgate/unknown-type", message)
            })
    }
}

/// Returns a hint for an unknown name: a similar name, or the transports for the devices of the vendor of this name.
fn hint<'k>(typed: &str, names: impl Iterator<Item = &'k str>) -> String {
    match did_you_mean(typed, names) {
        suggestion if suggestion.is_empty() => vendors::hint(typed),
        suggestion => suggestion,
    }
}

/// Returns the folders of families in the modules of a module path. They are sorted, so that every run is alike.
fn family_folders(modulepath: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in modulepath {
        for module in subfolders(root) {
            for family in subfolders(&module.join("devices")) {
                if ["family.yaml", "transport"]
                    .iter()
                    .any(|file| family.join(file).is_file())
                {
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
