//! Finds the programs in a family's folder, and loads their descriptions.

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
use super::family_files::FamilyFiles;
use super::family_program::FamilyProgram;
use super::resource_type::ExternalType;
use super::results::ProgramFailure;
use super::session::{ExternalAccess, ExternalConnect, ProgramHandle};
use crate::family::Family;
use crate::process::{GRACE, ProcessLimits};

/// The programs of a family that have not described themselves yet.
#[derive(Debug)]
pub(crate) struct Programs {
    /// The family's name.
    name: String,
    transport: Option<FamilyProgram>,
    /// The programs of resource types, by the type's name.
    types: Vec<(String, FamilyProgram)>,
    /// The files that cannot be run.
    problems: Vec<String>,
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
pub(super) static LIMIT_OPTIONS: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("settings.yaml")));

impl Programs {
    /// Finds the programs in a family's folder: `transport`, and each file in `types` without an extension. Returns
    /// `None` if there are none.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        let mut programs = Self {
            name: name_of(folder),
            transport: None,
            types: Vec::new(),
            problems: Vec::new(),
        };
        let files = Arc::new(FamilyFiles::of_family(folder));
        let transport = folder.join("transport");
        if transport.is_file() {
            programs.add(&transport, None, &files);
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
                programs.add(&file, Some(name), &files);
            }
        }
        let has_any = programs.transport.is_some()
            || !programs.types.is_empty()
            || !programs.problems.is_empty();
        has_any.then_some(programs)
    }

    fn add(&mut self, file: &Path, type_name: Option<String>, files: &Arc<FamilyFiles>) {
        let mode = fs::metadata(file).map_or(0, |metadata| metadata.permissions().mode());
        let program = FamilyProgram::new(file, type_name.as_deref(), files);
        match type_name {
            _ if mode & 0o111 == 0 => {
                let file = file.display();
                let message = format!("{file} is not executable: `chmod +x` it, or remove it");
                self.problems.push(message);
            }
            None => self.transport = Some(program),
            Some(name) => self.types.push((name, program)),
        }
    }

    /// Returns the names of the types that are programs.
    pub(crate) fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|(name, _)| name.as_str())
    }

    /// Loads the description of every program, for ten seconds at most. Returns the family of these and of the
    /// declarations in the same folder.
    ///
    /// # Errors
    /// Fails with all problems of the descriptions.
    pub(crate) async fn describe(
        &self,
        declared: Option<Arc<devgate_devices::Family>>,
    ) -> Result<Family, String> {
        let mut problems = self.problems.clone();
        if let (Some(transport), Some(_)) = (&self.transport, &declared) {
            problems.push(format!(
                "{} is beside a family.yaml: a family can have only one of them",
                transport.file().display()
            ));
        }
        if let (None, None) = (&self.transport, &declared) {
            problems.push("there is neither a family.yaml nor a program `transport`".to_owned());
        }
        let data = declared.iter().flat_map(|family| family.types());
        for kind in data {
            let name = kind.schema().name();
            if self.type_names().any(|own| own == name) {
                problems.push(format!("the type `{name}` is both declared and a program"));
            }
        }
        if !problems.is_empty() {
            return Err(problems.join("\n"));
        }
        let types = self
            .types
            .iter()
            .map(|(name, program)| describe_type(name, program));
        let transport = async {
            match &self.transport {
                None => Ok(None),
                Some(program) => describe_transport(&self.name, program).await.map(Some),
            }
        };
        let (transport, types) = tokio::join!(transport, join_all(types));
        let described_transport = transport.unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        let types = types.into_iter().filter_map(|kind| match kind {
            Ok(kind) => Some(kind),
            Err(problem) => {
                problems.push(problem);
                None
            }
        });
        let types: Vec<Box<dyn ResourceType>> = types.collect();
        if !problems.is_empty() {
            return Err(problems.join("\n"));
        }
        let (schema, access) = match (described_transport, &declared) {
            (Some((schema, handle)), _) => (schema, ExternalAccess::Program(handle)),
            (None, Some(family)) => {
                let protocol: Arc<dyn Connect> = family.clone();
                (family.schema().clone(), ExternalAccess::Protocol(protocol))
            }
            (None, None) => unreachable!("it was reported above"),
        };
        let schema = schema.with(&LIMIT_OPTIONS);
        Ok(Family::new(
            Arc::new(ExternalConnect { schema, access }),
            declared,
            types,
        ))
    }
}

/// Returns the transport that its program describes.
async fn describe_transport(
    name: &str,
    program: &FamilyProgram,
) -> Result<(TransportSchema, ProgramHandle), String> {
    let (definition, handle) = describe_program(program).await?;
    let schema = TransportSchema::register(&definition);
    let schema = schema.map_err(|problems| describe_problems(program, &problems))?;
    check_name(program, schema.name(), name, "its family's folder")?;
    Ok((schema, handle))
}

/// Returns the resource type that its program describes.
async fn describe_type(
    name: &str,
    program: &FamilyProgram,
) -> Result<Box<dyn ResourceType>, String> {
    let (definition, handle) = describe_program(program).await?;
    let schema = TypeSchema::register(&definition);
    let schema = schema.map_err(|problems| describe_problems(program, &problems))?;
    check_name(program, schema.name(), name, "its file")?;
    Ok(Box::new(ExternalType { schema, handle }))
}

/// Returns the description of a program.
async fn describe_program(program: &FamilyProgram) -> Result<(Value, ProgramHandle), String> {
    let reply = program.run_once(Action::Schema, Hash::new(), &LIMITS);
    let description = reply.await.results.and_then(|mut definition| {
        let is_persistent = match definition.remove("persistent") {
            None | Some(Value::Boolean(false)) => false,
            Some(Value::Boolean(true)) => true,
            Some(_) => {
                return Err(ProgramFailure::new(
                    "expected `persistent` as true or false",
                ));
            }
        };
        Ok((definition, is_persistent))
    });
    let (definition, is_persistent) =
        description.map_err(|problem| describe_failure(program, problem))?;
    let program = program.clone();
    Ok((
        Value::Hash(definition),
        ProgramHandle {
            program,
            is_persistent,
        },
    ))
}

fn check_name(
    program: &FamilyProgram,
    own_name: &str,
    name: &str,
    expected_by: &str,
) -> Result<(), String> {
    if own_name == name {
        return Ok(());
    }
    let problem =
        format!("it calls itself `{own_name}`: expected `{name}`, the name of {expected_by}");
    Err(describe_failure(program, ProgramFailure::new(problem)))
}

/// Formats all problems of a definition.
pub(super) fn describe_problems(program: &FamilyProgram, problems: &DefinitionProblems) -> String {
    let problems = problems.iter().map(|problem| {
        let path = problem.path.join(".");
        let location = if path.is_empty() {
            path
        } else {
            format!("at {path}: ")
        };
        describe_failure(
            program,
            ProgramFailure::new(format!("{location}{}", problem.message)),
        )
    });
    problems.collect::<Vec<_>>().join("\n")
}

pub(super) fn describe_failure(program: &FamilyProgram, problem: ProgramFailure) -> String {
    Error::to_string(&program.error(Action::Schema, problem))
}

/// Returns the last part of a path as text.
pub(crate) fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
