//! A family, and how its file is read.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use devgate_transports::{Connect, Context, Dialect, Transport};

use super::after::RequestAfter;
use super::facts::FactSources;
use super::folder::{FILE, Folder, if_valid};
use super::protocol::{dialect, protocol};
use super::session::Session;
use super::type_files::types;
use crate::command_line::check_command;
use crate::declared::DeclaredType;
use crate::file_node::{FileNode, Problems};
use crate::rollback::{CliRollback, NetconfRollback};
use crate::source::{FamilyProtocol, ProtocolKind, has_command_line};
use crate::{DeviceRollback, Error, ResourceType, Result};

/// A kind of device.
#[derive(Debug)]
pub struct Family {
    pub(super) schema: TransportSchema,
    pub(super) protocol: Arc<dyn Connect>,
    pub(super) dialect: Option<Dialect>,
    pub(super) facts: Arc<FactSources>,
    pub(super) types: Vec<DeclaredType>,
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

/// A built-in family that is not loaded yet. A run needs few of them, and loading is slow.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn(&'static str);

/// The built-in families.
pub fn all() -> impl Iterator<Item = BuiltIn> {
    super::folder::built_in().into_iter().map(BuiltIn)
}

impl BuiltIn {
    /// The family's name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether it has a resource type of this name.
    pub fn has_type(self, name: &str) -> bool {
        let path = format!("types/{name}.yaml");
        let mut folders = Folder::BuiltIn(self.0).of_types().into_iter();
        folders.any(|folder| folder.read(&path).is_ok())
    }

    /// The names of its resource types, without reading them.
    pub fn type_names(self) -> Vec<String> {
        let folders = Folder::BuiltIn(self.0).of_types().into_iter();
        let files = folders.flat_map(|folder| folder.names("types").unwrap_or_default());
        let stems = files.filter_map(|name| Some(name.strip_suffix(".yaml")?.to_owned()));
        stems.collect()
    }

    /// The family itself.
    pub fn read(self) -> Family {
        let read = Family::read(Folder::BuiltIn(self.0));
        read.expect("the tests read every built-in family")
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
        self.protocol.schema().name()
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

    pub(super) fn read(folder: Folder) -> Result<Self> {
        let mut problems = Problems::new();
        let file = if_valid(folder.yaml(FILE), &mut problems)?;
        let own = file
            .as_ref()
            .and_then(|it| super::names::language(&it.top(), &mut problems));
        let file = file.map(|file| file.speaking(own.unwrap_or_default()));
        let contents = file.and_then(|file| FamilyFile::read(&file.top(), &folder, &mut problems));
        let protocol = contents.as_ref().map(|it| FamilyProtocol {
            kind: ProtocolKind::of(it.protocol.schema().name()),
            dialect: it.dialect.clone().map(Arc::new),
        });
        let mut all = Vec::new();
        for (number, folder) in folder.of_types().into_iter().enumerate() {
            let others = || (number > 0).then(|| super::names::language_of(&folder));
            let language = own.or_else(others).unwrap_or_default();
            all.extend(types(&folder, language, protocol.as_ref(), &mut problems)?);
        }
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
                types: all,
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

/// The contents of `family.yaml`.
struct FamilyFile {
    schema: TransportSchema,
    protocol: Arc<dyn Connect>,
    dialect: Option<Dialect>,
    facts: FactSources,
    checkpoint: Option<CliRollback>,
    textfsm_platform: Option<String>,
    after: Option<RequestAfter>,
}

impl FamilyFile {
    fn read(top: &FileNode<'_>, folder: &Folder, problems: &mut Problems) -> Option<Self> {
        top.only(&KEYS, problems);
        let mut text = |key| top.required_text(key, problems);
        let (name, desc) = (text("name"), text("desc"));
        let dialect = dialect(top, problems);
        let protocol = protocol(top, dialect.clone(), problems);
        let read = |path: &str| folder.read(path);
        let protocol_kind = protocol
            .as_ref()
            .map(|it| ProtocolKind::of(it.schema().name()));
        let protocol_kind = protocol_kind.unwrap_or(ProtocolKind::CommandApi);
        let facts = top.get("facts");
        for source in facts.iter().flat_map(FileNode::items) {
            check_command(&source, dialect.as_ref(), problems);
        }
        let facts =
            facts.map(|file_node| FactSources::read(&file_node, protocol_kind, &read, problems));
        let facts = facts.unwrap_or_default();
        if let (Some(other), 1) = (top.get("types_of"), folder.of_types().len()) {
            let message = "there is no such family beside this one, and none is built in";
            problems.push(other.problem(message));
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
            && !has_command_line(protocol.schema().name())
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
