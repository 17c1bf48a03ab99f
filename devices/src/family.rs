//! Families: kinds of devices, each with a protocol, a dialect, facts and resource types, all declared as data.
//!
//! A family is a [`Connect`]: it wraps its protocol's session and adds facts.

mod cases;
mod facts;
mod folder;
mod names;
mod protocol;
mod recording;
mod session;
mod show;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value, suggest};
use devgate_transports::{Connect, Context, Dialect, Transport};

use crate::command_line::check_command;
use crate::declared::DeclaredType;
use crate::file_node::{FileNode, Problems, YamlFile};
use crate::rollback::{CliRollback, NetconfRollback};
use crate::source::{FamilyProtocol, ProtocolKind, Unanswered, has_command_line};
use crate::template::Language;
use crate::{DeviceRollback, Error, ResourceType, Result};
use facts::FactSources;
use folder::Folder;
use protocol::{dialect, protocol};
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
    textfsm_platform: Option<String>,
    folder: Folder,
}

/// The name of a family's file.
const FILE: &str = "family.yaml";

/// The key of a type's file that names another type, from which it takes what it does not say itself.
const LIKE: &str = "like";

/// The keys of a family's file.
const KEYS: [&str; 11] = [
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

    /// The commands or queries whose answers contain facts.
    pub fn fact_commands(&self) -> impl Iterator<Item = &str> {
        self.facts.commands()
    }

    /// The read-only commands or queries that a recording still lacks, without duplicates: those that the dialect runs
    /// when a session opens, and those of facts and resources. What a command is asked about may be in the answers to
    /// others, so there may be more when these are known.
    pub fn unanswered<'o>(
        &self,
        known: impl Fn(&str) -> Option<&'o str> + Copy,
    ) -> Vec<Unanswered> {
        let on_open = self.dialect.iter().flat_map(|dialect| &dialect.on_open);
        let on_open = on_open.filter(|command| known(command).is_none());
        let on_open = on_open.map(|command| Unanswered {
            query: command.clone(),
            is_optional: false,
        });
        let types = self.types.iter().flat_map(|kind| kind.unanswered(known));
        let mut unanswered: Vec<Unanswered> = Vec::new();
        for one in on_open.chain(self.facts.unanswered(known)).chain(types) {
            match unanswered.iter_mut().find(|other| other.query == one.query) {
                Some(other) => other.is_optional &= one.is_optional,
                None => unanswered.push(one),
            }
        }
        unanswered
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
        let mut language = Language::default();
        for folder in folder.of_types().iter().rev() {
            // The file of another family has its own problems.
            if let Ok(file) = folder.yaml(FILE) {
                let top = file.top();
                let has_names = top.get("names").is_some();
                let read = if has_names {
                    names::language(&top, &mut problems)
                } else {
                    language
                };
                language = read;
            }
        }
        let file = file.map(|file| file.speaking(language));
        let contents = file.and_then(|file| FamilyFile::read(&file.top(), &folder, &mut problems));
        let protocol = contents.as_ref().map(|it| FamilyProtocol {
            kind: ProtocolKind::of(it.protocol.schema().name()),
            dialect: it.dialect.clone().map(Arc::new),
        });
        let mut all = Vec::new();
        for folder in folder.of_types() {
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
            }) if problems.is_empty() => Ok(Self {
                schema,
                protocol,
                dialect,
                facts: Arc::new(facts),
                types: all,
                checkpoint,
                textfsm_platform,
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

/// The types in `types/`, one per file.
fn types(
    folder: &Folder,
    language: Language,
    protocol: Option<&FamilyProtocol>,
    problems: &mut Problems,
) -> Result<Vec<DeclaredType>> {
    let mut types: Vec<DeclaredType> = Vec::new();
    for name in folder.names("types")? {
        let Some(stem) = name.strip_suffix(".yaml") else {
            continue;
        };
        let path = format!("types/{name}");
        let Some(mut file) = if_valid(folder.yaml(&path), problems)? else {
            continue;
        };
        if !add_like(&mut file, folder, problems)? {
            continue;
        }
        let file = file.speaking(language);
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

/// Adds to a type's file what it takes from another type, named by its `like`. Returns whether that is possible; a problem
/// with the other file is reported for that file.
fn add_like(file: &mut YamlFile, folder: &Folder, problems: &mut Problems) -> Result<bool> {
    let Some(like) = file
        .top()
        .get(LIKE)
        .map(|like| (like.text(problems), like.location()))
    else {
        return Ok(true);
    };
    let (Some(name), location) = like else {
        return Ok(false);
    };
    let name = format!("{name}.yaml");
    let names = folder.names("types")?;
    if !names.contains(&name) {
        let hint = suggest(&name, names.iter().map(String::as_str));
        problems.push(location.problem(format!("there is no file `{name}` beside this one{hint}")));
        return Ok(false);
    }
    let Ok(other) = folder.yaml(&format!("types/{name}")) else {
        return Ok(false);
    };
    if other.top().get(LIKE).is_some() {
        let message = format!("`{name}` is itself `{LIKE}` another type: expected that one");
        problems.push(location.problem(message));
        return Ok(false);
    }
    file.add_missing(&other);
    Ok(true)
}
