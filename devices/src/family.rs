//! Families: kinds of devices, each with a protocol, a dialect, facts and resource types, all declared as data.
//!
//! A family is a [`Connect`]: it wraps its protocol's session and adds facts.

mod cases;
mod facts;
mod folder;
mod recording;
mod session;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value, suggest, yaml};
use devgate_transports::{Connect, Context, Dialect, Transport};

use crate::command_line::check_command;
use crate::commit_check::check_dialect;
use crate::declared::DeclaredType;
use crate::file_node::{FileNode, Problems, YamlFile};
use crate::rollback::{CliRollback, NetconfRollback};
use crate::source::{FamilyProtocol, ProtocolKind, has_command_line};
use crate::{DeviceRollback, Error, ResourceType, Result};
use facts::FactSources;
use folder::Folder;
use session::Session;

pub use cases::{CaseResult, UpdateExpected};
pub use recording::Recording;

/// A kind of device.
#[derive(Debug)]
pub struct Family {
    schema: TransportSchema,
    protocol: Arc<dyn Connect>,
    dialect: Option<Dialect>,
    facts: Arc<FactSources>,
    types: Vec<DeclaredType>,
    checkpoint: Option<CliRollback>,
    folder: Folder,
}

/// The name of a family's file.
const FILE: &str = "family.yaml";

/// The keys of a family's file.
const KEYS: [&str; 8] = [
    "name",
    "desc",
    "protocol",
    "connection_info",
    "groups",
    "dialect",
    "facts",
    "checkpoint",
];

/// A built-in family that is not loaded yet. A run needs few of them, and loading is slow.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn(&'static str);

/// The built-in families.
pub fn all() -> impl Iterator<Item = BuiltIn> {
    folder::built_in().into_iter().map(BuiltIn)
}

impl BuiltIn {
    /// The family's name.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Whether it has a resource type of this name.
    pub fn has_type(self, name: &str) -> bool {
        let path = format!("types/{name}.yaml");
        Folder::BuiltIn(self.0).read(&path).is_ok()
    }

    /// The names of its resource types, without reading them.
    pub fn type_names(self) -> Vec<String> {
        let files = Folder::BuiltIn(self.0).names("types").unwrap_or_default();
        let stems = files.iter().filter_map(|name| name.strip_suffix(".yaml"));
        stems.map(str::to_owned).collect()
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

    /// Whether its dialect declares that a command changes nothing.
    pub fn is_harmless(&self, command: &str) -> bool {
        let dialect = self.dialect.as_ref();
        dialect.is_some_and(|dialect| dialect.is_harmless(command))
    }

    /// Whether its devices can tell what lines would change, without changing anything.
    pub fn previews(&self) -> bool {
        self.dialect.as_ref().is_some_and(Dialect::previews)
    }

    /// The name of its file, for messages.
    pub fn file(&self) -> String {
        self.folder.display_name(FILE)
    }

    /// The commands or queries whose answers contain facts.
    pub fn fact_commands(&self) -> impl Iterator<Item = &str> {
        self.facts.commands()
    }

    /// Every read-only command or query, without duplicates: those that the dialect runs when a session opens, and
    /// those of facts and resources.
    pub fn commands(&self) -> Vec<&str> {
        let types = self.types.iter().flat_map(DeclaredType::commands);
        let all = self.dialect.iter().flat_map(|dialect| &dialect.on_open);
        let all = all.map(String::as_str);
        let mut commands: Vec<&str> = Vec::new();
        for command in all.chain(self.fact_commands()).chain(types) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        commands
    }

    /// The secrets in the outputs of the types' commands: the values of sensitive attributes.
    pub fn secrets_in<'o>(&self, output: impl Fn(&str) -> Option<&'o str>) -> Vec<Value> {
        let resources = self.types.iter().flat_map(|kind| {
            // Output that a type cannot read yields no known secret.
            kind.resources(&output).unwrap_or_default()
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
        let outputs = recording::outputs_in(folder)?;
        Ok(self.facts_of(|command| recording::similar(&outputs, command), report))
    }

    /// Saves the running configuration, so that it survives a restart. Protocols without a command line change
    /// the persistent configuration, or save it themselves (NETCONF's `save`).
    ///
    /// # Errors
    /// Fails with the reason why it was not saved.
    pub async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        match ctx.command_line() {
            Some(session) => Ok(session.save(ctx).await?),
            None => Ok(()),
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

    fn read(folder: Folder) -> Result<Self> {
        let mut problems = Problems::new();
        let file = if_valid(folder.yaml(FILE), &mut problems)?;
        let contents = file.and_then(|file| FamilyFile::read(&file.top(), &folder, &mut problems));
        let protocol = contents.as_ref().map(|it| FamilyProtocol {
            kind: ProtocolKind::of(it.protocol.schema().name()),
            dialect: it.dialect.clone().map(Arc::new),
        });
        let types = types(&folder, protocol.as_ref(), &mut problems)?;
        match contents {
            Some(FamilyFile {
                schema,
                protocol,
                dialect,
                facts,
                checkpoint,
            }) if problems.is_empty() => Ok(Self {
                schema,
                protocol,
                dialect,
                facts: Arc::new(facts),
                types,
                checkpoint,
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
        let protocol_kind = protocol_kind.unwrap_or(ProtocolKind::Commands);
        let facts = top.get("facts");
        for source in facts.iter().flat_map(FileNode::items) {
            check_command(&source, dialect.as_ref(), problems);
        }
        let facts =
            facts.map(|file_node| FactSources::read(&file_node, protocol_kind, &read, problems));
        let facts = facts.unwrap_or_default();
        let checkpoint = top.get("checkpoint");
        if let (Some(checkpoint), None) = (&checkpoint, top.get("dialect")) {
            let message = "lines are taken back on a command line only: there is no `dialect`";
            problems.push(checkpoint.problem(message));
        }
        let checkpoint = checkpoint.and_then(|file_node| CliRollback::read(&file_node, problems));
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
        })
    }
}

/// The file, or `None` if it is not YAML, which is reported.
fn if_valid(file: Result<YamlFile>, problems: &mut Problems) -> Result<Option<YamlFile>> {
    match file {
        Err(Error::Family(found)) => {
            problems.extend(found);
            Ok(None)
        }
        file => file.map(Some),
    }
}

/// The family's dialect, if it has one.
fn dialect(top: &FileNode<'_>, problems: &mut Problems) -> Option<Dialect> {
    let file_node = top.get("dialect")?;
    let dialect: Dialect = match yaml::from_node(file_node.node()) {
        Ok(dialect) => dialect,
        Err(error) => {
            problems.push(file_node.yaml_problem(error));
            return None;
        }
    };
    check_dialect(&file_node, &dialect, problems);
    Some(dialect)
}

/// The family's protocol, with its dialect if it has one.
fn protocol(
    top: &FileNode<'_>,
    dialect: Option<Dialect>,
    problems: &mut Problems,
) -> Option<Arc<dyn Connect>> {
    let file_node = top.required("protocol", problems)?;
    let name = file_node.text(problems)?;
    let known = devgate_transports::all();
    let Some(protocol) = known.iter().find(|one| one.schema().name() == name) else {
        let hint = suggest(name, known.iter().map(|one| one.schema().name()));
        problems.push(file_node.problem(format!("there is no protocol `{name}`{hint}")));
        return None;
    };
    let Some(dialect) = dialect else {
        return Some(Arc::clone(protocol));
    };
    let with_dialect = protocol.speaking(dialect);
    if with_dialect.is_none() && has_command_line(name) {
        // An API takes commands without a prompt.
        top.get("dialect")?.only(&["harmless", "filters"], problems);
        return Some(Arc::clone(protocol));
    }
    if with_dialect.is_none() {
        let message = format!("`{name}` has no command line, and so no dialect: leave it out");
        problems.push(top.nearest(&["dialect".to_owned()]).problem(message));
    }
    with_dialect
}

/// The types in `types/`, one per file.
fn types(
    folder: &Folder,
    protocol: Option<&FamilyProtocol>,
    problems: &mut Problems,
) -> Result<Vec<DeclaredType>> {
    let mut types: Vec<DeclaredType> = Vec::new();
    for name in folder.names("types")? {
        let Some(stem) = name.strip_suffix(".yaml") else {
            continue;
        };
        let path = format!("types/{name}");
        let Some(file) = if_valid(folder.yaml(&path), problems)? else {
            continue;
        };
        let top = file.top();
        let read = |path: &str| folder.read(path);
        let Some(kind) = DeclaredType::read(&top, protocol, &read, problems) else {
            continue;
        };
        if kind.schema().name() != stem {
            let message = format!("the type of `{name}` must be named `{stem}`, as its file");
            problems.push(top.nearest(&["name".to_owned()]).problem(message));
        }
        types.push(kind);
    }
    Ok(types)
}
