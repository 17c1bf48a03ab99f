//! A family, and how its file is read.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use devgate_transports::{Connect, Context, Dialect, Transport};

use super::after::RequestAfter;
use super::as_needed::AsNeeded;
use super::facts::FactSources;
use super::folder::{FILE, Folder, if_valid};
use super::protocol::{dialect, protocol};
use super::session::Session;
use super::type_files::all_types;
use crate::command_line::check_command;
use crate::declared::DeclaredType;
use crate::file_node::{FileNode, Problems, YamlFile};
use crate::rollback::{CliRollback, NetconfRollback};
use crate::source::{FamilyProtocol, ProtocolKind, has_command_line};
use crate::{DeviceRollback, Error, ResourceType, Result};

/// A kind of device.
#[derive(Debug)]
pub struct Family {
    pub(super) schema: TransportSchema,
    pub(super) protocol: Arc<dyn Connect>,
    pub(super) dialect: Option<Dialect>,
    pub(super) facts: Arc<AsNeeded<FactSources>>,
    pub(super) types: AsNeeded<Vec<DeclaredType>>,
    pub(super) checkpoint: Option<CliRollback>,
    pub(super) textfsm_platform: Option<String>,
    pub(super) after: Option<RequestAfter>,
    pub(super) folder: Folder,
}

/// The keys of a family's file.
const KEYS: [&str; 12] = [
    "name",
    "desc",
    "protocol",
    "types_of",
    "connection_info",
    "groups",
    "names",
    "dialect",
    "facts",
    "checkpoint",
    "textfsm_platform",
    "rest",
];

/// A family that is not loaded yet. A run needs few of them, and loading is slow.
#[derive(Clone, Debug)]
pub struct UnloadedFamily {
    name: String,
    folder: Folder,
}

/// The built-in families.
pub fn all() -> impl Iterator<Item = UnloadedFamily> {
    let names = super::folder::built_in().into_iter();
    names.map(|name| UnloadedFamily {
        name: name.to_owned(),
        folder: Folder::BuiltIn(name),
    })
}

impl UnloadedFamily {
    /// A family in a folder on disk.
    ///
    /// # Errors
    /// Fails when its file cannot be read, or does not say its name.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        let folder = Folder::OnDisk(folder.to_owned());
        let name = match folder.value_of("name", &folder.read(FILE)?) {
            Some(name) => name,
            None => Family::read(folder.clone())?.name().to_owned(),
        };
        Ok(Self { name, folder })
    }

    /// The family's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has a resource type of this name.
    pub fn has_type(&self, name: &str) -> bool {
        let path = format!("types/{name}.yaml");
        let mut folders = self.folder.of_types().into_iter();
        folders.any(|folder| folder.read(&path).is_ok())
    }

    /// The names of its resource types, without reading them.
    pub fn type_names(&self) -> Vec<String> {
        let folders = self.folder.of_types().into_iter();
        let files = folders.flat_map(|folder| folder.names("types").unwrap_or_default());
        let stems = files.filter_map(|name| Some(name.strip_suffix(".yaml")?.to_owned()));
        stems.collect()
    }

    /// The family itself.
    ///
    /// # Errors
    /// Fails as [`Family::load`] does.
    pub fn load(&self) -> Result<Family> {
        Family::read(self.folder.clone())
    }

    /// A built-in family itself.
    #[cfg(test)]
    pub(crate) fn read(&self) -> Family {
        self.load().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Family {
    /// Loads a family from its folder: `family.yaml`, `types/*.yaml`, `cases/`.
    ///
    /// # Errors
    /// Fails when a file cannot be read, or with all problems in the files, each with file, line, column
    /// and key.
    pub fn load(folder: &Path) -> Result<Self> {
        Self::read(Folder::OnDisk(folder.to_owned()))
    }

    /// The family's name, which is that of its transport.
    pub fn name(&self) -> &str {
        self.schema.name()
    }

    /// The resource types.
    pub fn types(&self) -> impl Iterator<Item = &dyn ResourceType> {
        self.types.iter().map(|kind| kind as &dyn ResourceType)
    }

    /// The name of its protocol.
    pub fn protocol(&self) -> &str {
        self.protocol.name()
    }

    /// The name of its file, for messages.
    pub fn file(&self) -> String {
        self.folder.display_name(FILE)
    }

    /// Its folder, unless it is built in.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.on_disk()
    }

    /// The commands or queries whose answers contain facts.
    pub fn fact_commands(&self) -> impl Iterator<Item = &str> {
        self.facts.commands()
    }

    /// The secrets in the outputs of the types' commands: the values of sensitive attributes.
    pub fn secrets_in<'o>(&self, output: impl Fn(&str) -> Option<&'o str>) -> Vec<Value> {
        let resources = self.types.iter().flat_map(|kind| {
            // Output that a type cannot read yields no known secret.
            kind.resources(&output, None).unwrap_or_default()
        });
        let values = resources.flat_map(|one| {
            let values = one.iter().map(|(_, value)| value.clone());
            values.collect::<Vec<_>>()
        });
        values.filter(Value::has_secret).collect()
    }

    /// The facts in the outputs of commands. Each output that is missing or cannot be read is reported to `report`.
    pub fn facts_of<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
        report: impl FnMut(String),
    ) -> Facts {
        self.facts.of_outputs(output, report)
    }

    /// The facts in the outputs that lie in a folder, one file per command or query. In the names of the files, `_` may
    /// stand for blanks and for what a file name cannot contain, and the extension does not matter. Each output that
    /// is missing or cannot be read is reported to `report`.
    ///
    /// # Errors
    /// Fails when the folder or a file in it cannot be read.
    pub fn facts_in(&self, folder: &Path, report: impl FnMut(String)) -> Result<Facts> {
        let outputs = super::recording::outputs_in(folder)?;
        Ok(self.facts_of(
            |command| super::recording::similar(&outputs, command),
            report,
        ))
    }

    /// Saves the running configuration, so that it survives a restart, or sends the request that the family declares
    /// for after a run. Other protocols without a command line change the persistent configuration, or save it themselves
    /// (NETCONF's `save`).
    ///
    /// # Errors
    /// Fails with the reason why it was not saved.
    pub async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        match (&self.after, ctx.command_line()) {
            (Some(after), _) => after.send(ctx).await,
            (None, Some(session)) => Ok(session.save(ctx).await?),
            (None, None) => Ok(()),
        }
    }

    /// How to undo a failed run, if the family declares it or the protocol supports it.
    pub fn rollback(&self) -> Option<&dyn DeviceRollback> {
        match &self.checkpoint {
            Some(checkpoint) => Some(checkpoint),
            None if ProtocolKind::of(self.protocol()) == ProtocolKind::Netconf => {
                Some(&NetconfRollback)
            }
            None => None,
        }
    }

    /// Reads a family from its folder. The facts and types of a built-in one are read when they are needed, because
    /// tests have found no problem in them.
    pub(super) fn read(folder: Folder) -> Result<Self> {
        let mut problems = Problems::new();
        let file = if_valid(folder.yaml(FILE), &mut problems)?;
        let own = file
            .as_ref()
            .and_then(|it| super::names::language(&it.top(), &mut problems));
        let file = file.map(|file| Arc::new(file.speaking(own.unwrap_or_default())));
        let contents = file.and_then(|file| FamilyFile::read(&file, &folder, &mut problems));
        let protocol = contents.as_ref().map(|it| FamilyProtocol {
            kind: ProtocolKind::of(it.protocol.name()),
            dialect: it.dialect.clone().map(Arc::new),
        });
        let read_types = {
            let folder = folder.clone();
            move |problems: &mut Problems| all_types(&folder, own, protocol.as_ref(), problems)
        };
        let types = match folder {
            Folder::BuiltIn(_) => AsNeeded::of_built_in(read_types),
            Folder::OnDisk(_) => AsNeeded::from(read_types(&mut problems)?),
        };
        match contents {
            Some(FamilyFile {
                schema,
                protocol,
                dialect,
                facts,
                checkpoint,
                textfsm_platform,
                after,
            }) if problems.is_empty() => Ok(Self {
                schema,
                protocol,
                dialect,
                facts: Arc::new(facts),
                types,
                checkpoint,
                textfsm_platform,
                after,
                folder,
            }),
            _ => Err(Error::Family(problems)),
        }
    }
}

#[async_trait]
impl Connect for Family {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> devgate_transports::Result<Box<dyn Transport>> {
        let inner = self.protocol.connect(ctx, info).await?;
        Ok(Box::new(Session::new(inner, Arc::clone(&self.facts))))
    }
}

/// The facts in a family's file.
fn facts(
    top: &FileNode<'_>,
    folder: &Folder,
    protocol_kind: ProtocolKind,
    dialect: Option<&Dialect>,
    problems: &mut Problems,
) -> FactSources {
    let Some(facts) = top.get("facts") else {
        return FactSources::default();
    };
    for source in facts.items() {
        check_command(&source, dialect, problems);
    }
    FactSources::read(&facts, protocol_kind, &|path| folder.read(path), problems)
}

/// The contents of `family.yaml`.
struct FamilyFile {
    schema: TransportSchema,
    protocol: Arc<dyn Connect>,
    dialect: Option<Dialect>,
    facts: AsNeeded<FactSources>,
    checkpoint: Option<CliRollback>,
    textfsm_platform: Option<String>,
    after: Option<RequestAfter>,
}

impl FamilyFile {
    fn read(file: &Arc<YamlFile>, folder: &Folder, problems: &mut Problems) -> Option<Self> {
        let top = &file.top();
        top.only(&KEYS, problems);
        let mut text = |key| top.required_text(key, problems);
        let (name, desc) = (text("name"), text("desc"));
        let dialect = dialect(top, folder, problems);
        let protocol = protocol(top, dialect.clone(), problems);
        let protocol_kind = protocol.as_ref().map(|it| ProtocolKind::of(it.name()));
        let protocol_kind = protocol_kind.unwrap_or(ProtocolKind::CommandApi);
        let facts = match folder {
            Folder::BuiltIn(_) => {
                let (file, folder) = (Arc::clone(file), folder.clone());
                let read = move |problems: &mut Problems| {
                    Ok(facts(&file.top(), &folder, protocol_kind, None, problems))
                };
                AsNeeded::of_built_in(read)
            }
            Folder::OnDisk(_) => {
                facts(top, folder, protocol_kind, dialect.as_ref(), problems).into()
            }
        };
        if let Some(other) = top.get("types_of") {
            let folders = folder.of_types();
            if folders.len() == 1 {
                let message = "there is no such family beside this one, and none is built in";
                problems.push(other.problem(message));
            } else if folders[1].of_types().len() > 1 {
                let message = "it takes types of another family itself: expected that one";
                problems.push(other.problem(message));
            }
        }
        let checkpoint = top.get("checkpoint");
        if let (Some(checkpoint), None) = (&checkpoint, top.get("dialect")) {
            let message = "lines are taken back on a command line only: there is no `dialect`";
            problems.push(checkpoint.problem(message));
        }
        let checkpoint = checkpoint
            .and_then(|file_node| CliRollback::read(&file_node, dialect.as_ref(), problems));
        let platform = top.get("textfsm_platform");
        if let (Some(platform), Some(protocol)) = (&platform, &protocol)
            && !has_command_line(protocol.name())
        {
            problems
                .push(platform.problem("this protocol has no command line to parse outputs of"));
        }
        let platform = platform.and_then(|it| it.text(problems).map(str::to_owned));
        let after = RequestAfter::read(top, protocol_kind, problems);
        let protocol = protocol?;
        let schema = protocol.schema().renamed(name?, desc?.trim());
        let schema = match schema.extended(&top.node().to_value()) {
            Ok(schema) => schema,
            Err(found) => {
                top.schema_problems(&found, problems);
                return None;
            }
        };
        Some(Self {
            schema,
            protocol,
            dialect,
            facts,
            checkpoint,
            textfsm_platform: platform,
            after,
        })
    }
}
