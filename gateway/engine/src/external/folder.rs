//! Finds the programs in a family's folder, and asks for their descriptions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use devgate_devices::ResourceType;
use devgate_schemas::{DefinitionProblems, Hash, TransportSchema, TypeSchema, Value};
use devgate_transports::{Connect, Error};
use futures_util::future::join_all;

use super::action::Action;
use super::program::Program;
use super::resource_type::ExternalType;
use super::results::Problem;
use super::session::{Asked, Reaching, Way};
use crate::family::Family;
use crate::process::{GRACE, ProcessLimits};

/// The programs of a family that have not described themselves yet.
#[derive(Debug)]
pub(crate) struct Programs {
    /// The family's name.
    name: String,
    transport: Option<Program>,
    /// The programs of resource types, by the type's name.
    types: Vec<(String, Program)>,
    /// The files that cannot be run.
    wrong: Vec<String>,
}

/// The limits for a program's description.
const LIMITS: ProcessLimits = ProcessLimits {
    time: Some(Duration::from_secs(10)),
    stdout: 1024 * 1024,
    stderr: 64 * 1024,
    grace: GRACE,
    respite: Duration::ZERO,
    drain: Duration::from_secs(1),
};

/// The options that limit the programs of every family.
pub(super) static SETTINGS: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("settings.yaml")));

impl Programs {
    /// Finds the programs in a family's folder: `transport`, and each file in `types` without an extension. Returns
    /// `None` if there are none.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let mut found = Self {
            name: name_of(folder),
            transport: None,
            types: Vec::new(),
            wrong: Vec::new(),
        };
        let transport = folder.join("transport");
        if transport.is_file() {
            found.take(&transport, None);
        }
        let types = fs::read_dir(folder.join("types"))
            .into_iter()
            .flatten()
            .flatten();
        let mut types: Vec<PathBuf> = types.map(|entry| entry.path()).collect();
        types.sort();
        for file in types {
            let name = name_of(&file);
            if file.is_file() && !name.contains('.') {
                found.take(&file, Some(name));
            }
        }
        let some = found.transport.is_some() || !found.types.is_empty() || !found.wrong.is_empty();
        some.then_some(found)
    }

    fn take(&mut self, file: &Path, type_name: Option<String>) {
        let mode = fs::metadata(file).map_or(0, |metadata| metadata.permissions().mode());
        let program = Program::new(file, type_name.as_deref());
        match type_name {
            _ if mode & 0o111 == 0 => {
                let file = file.display();
                let message = format!("{file} is not executable: `chmod +x` it, or remove it");
                self.wrong.push(message);
            }
            None => self.transport = Some(program),
            Some(name) => self.types.push((name, program)),
        }
    }

    /// Returns the names of the types that are programs.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(name, _)| name.as_str())
    }

    /// Asks every program for its description, for ten seconds at most. Returns the family of these and of the
    /// declarations in the same folder.
    ///
    /// # Errors
    /// Fails with all problems of the descriptions.
    pub(crate) async fn ask(
        &self,
        declared: Option<Arc<devgate_devices::Family>>,
    ) -> Result<Family, String> {
        let mut wrong = self.wrong.clone();
        if let (Some(transport), Some(_)) = (&self.transport, &declared) {
            wrong.push(format!(
                "{} is beside a family.yaml: a family can have only one of them",
                transport.file().display()
            ));
        }
        if let (None, None) = (&self.transport, &declared) {
            wrong.push("there is neither a family.yaml nor a program `transport`".to_owned());
        }
        let data = declared.iter().flat_map(|family| family.types());
        for kind in data {
            let name = kind.schema().name();
            if self.type_names().any(|own| own == name) {
                wrong.push(format!("the type `{name}` is both declared and a program"));
            }
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let types = self
            .types
            .iter()
            .map(|(name, program)| type_of(name, program));
        let transport = async {
            match &self.transport {
                None => Ok(None),
                Some(program) => transport_of(&self.name, program).await.map(Some),
            }
        };
        let (transport, types) = tokio::join!(transport, join_all(types));
        let reached = transport.unwrap_or_else(|problem| {
            wrong.push(problem);
            None
        });
        let types = types.into_iter().filter_map(|kind| match kind {
            Ok(kind) => Some(kind),
            Err(problem) => {
                wrong.push(problem);
                None
            }
        });
        let types: Vec<Box<dyn ResourceType>> = types.collect();
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
        let (schema, way) = match (reached, &declared) {
            (Some((schema, asked)), _) => (schema, Way::Program(asked)),
            (None, Some(family)) => {
                let protocol: Arc<dyn Connect> = family.clone();
                (family.schema().clone(), Way::Protocol(protocol))
            }
            (None, None) => unreachable!("it was told above"),
        };
        let schema = schema.with(&SETTINGS);
        Ok(Family::new(
            Arc::new(Reaching { schema, way }),
            declared,
            types,
        ))
    }
}

/// Returns the transport that its program describes.
async fn transport_of(name: &str, program: &Program) -> Result<(TransportSchema, Asked), String> {
    let (definition, asked) = described(program).await?;
    let schema = TransportSchema::register(&definition);
    let schema = schema.map_err(|problems| unfit(program, &problems))?;
    check_name(program, schema.name(), name, "its family's folder")?;
    Ok((schema, asked))
}

/// Returns the resource type that its program describes.
async fn type_of(name: &str, program: &Program) -> Result<Box<dyn ResourceType>, String> {
    let (definition, asked) = described(program).await?;
    let schema = TypeSchema::register(&definition);
    let schema = schema.map_err(|problems| unfit(program, &problems))?;
    check_name(program, schema.name(), name, "its file")?;
    Ok(Box::new(ExternalType { schema, asked }))
}

/// Returns the description of a program.
async fn described(program: &Program) -> Result<(Value, Asked), String> {
    let asked = program.once(Action::Schema, Hash::new(), &LIMITS);
    let asked = asked.await.results.and_then(|mut definition| {
        let stays = match definition.remove("persistent") {
            None | Some(Value::Boolean(false)) => false,
            Some(Value::Boolean(true)) => true,
            Some(_) => return Err(Problem::new("expected `persistent` as true or false")),
        };
        Ok((definition, stays))
    });
    let (definition, stays) = asked.map_err(|problem| told(program, problem))?;
    let program = program.clone();
    Ok((Value::Hash(definition), Asked { program, stays }))
}

fn check_name(program: &Program, said: &str, name: &str, whose: &str) -> Result<(), String> {
    if said == name {
        return Ok(());
    }
    let problem = format!("it calls itself `{said}`: expected `{name}`, the name of {whose}");
    Err(told(program, Problem::new(problem)))
}

/// Formats all problems of a definition.
pub(super) fn unfit(program: &Program, problems: &DefinitionProblems) -> String {
    let problems = problems.iter().map(|problem| {
        let path = problem.path.join(".");
        let place = if path.is_empty() {
            path
        } else {
            format!("at {path}: ")
        };
        told(program, Problem::new(format!("{place}{}", problem.message)))
    });
    problems.collect::<Vec<_>>().join("\n")
}

pub(super) fn told(program: &Program, problem: Problem) -> String {
    Error::to_string(&program.error(Action::Schema, problem))
}

/// Returns the last part of a path as text.
pub(crate) fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
