//! The modules of a folder: which there are, and what each says of itself.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use devgate_schemas::nearest;
use devgate_schemas::pxp::Metadata;
use devgate_schemas::task::{Exit, Outcome};
use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value as Json};
use tokio::sync::Notify;

use super::configuration;
use crate::failure::Failure;
use crate::process::{self, Hear, Limits, Program, Stream};
use crate::stop::Stop;

/// A folder of modules, and the one of their configuration.
#[derive(Debug)]
pub(crate) struct ModulesDir {
    folder: PathBuf,
    configuration: Option<PathBuf>,
}

/// A module that can be used.
pub(crate) struct Module {
    /// Its name, which is that of its file.
    pub(crate) name: String,
    /// The program.
    pub(crate) file: PathBuf,
    /// What it says of itself.
    pub(crate) metadata: Metadata,
    /// What goes into each of its requests.
    pub(super) configuration: Option<Map<String, Json>>,
    /// What is no fault here, and worth knowing.
    pub(crate) remarks: Vec<String>,
}

/// The kind of what is wrong with a module that cannot be used.
pub(crate) const NOT_AVAILABLE: &str = "devgate/module-not-available";

/// How long a module may take to say what it is. pxp-agent waits for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many modules are asked at once: interpreters take their time, and much of it is the processor's.
const AT_ONCE: usize = 8;

/// How large metadata may be, in bytes.
const LARGEST: usize = 4 << 20;

impl ModulesDir {
    /// The modules of a folder; `configuration` is the folder of their `.conf` files.
    ///
    /// # Errors
    /// That one of them is no folder.
    pub(crate) fn open(folder: PathBuf, configuration: Option<PathBuf>) -> Result<Self, Failure> {
        for (option, folder) in [
            ("--modules-dir", Some(&folder)),
            ("--config-dir", configuration.as_ref()),
        ] {
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let message = format!("{option}: {} is no folder", folder.display());
                return Err(Failure::new("devgate/no-such-folder", message));
            }
        }
        Ok(Self {
            folder,
            configuration,
        })
    }

    /// The names of all modules: of every file without an extension, as pxp-agent finds them.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        let unreadable = |error| {
            let message = format!("cannot read {}: {error}", self.folder.display());
            Failure::new("devgate/no-such-folder", message)
        };
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.contains('.') && !entry.path().is_dir() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Asks all modules what they are, some at once: each, or why it is not available.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) async fn all(
        &self,
        stop: &Stop,
    ) -> Result<Vec<(String, Result<Module, String>)>, Failure> {
        let modules = stream::iter(self.names()?).map(async |name| {
            let module = self.describe(&name, stop).await;
            (name, module)
        });
        // In the order of their answers: one that takes its time holds nobody up.
        let mut modules: Vec<_> = modules.buffer_unordered(AT_ONCE).collect().await;
        modules.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(modules)
    }

    /// Asks a module what it is, and reads its configuration.
    ///
    /// # Errors
    /// There is no such module, or why it is not available.
    pub(crate) async fn load(&self, name: &str, stop: &Stop) -> Result<Module, Failure> {
        let names = self.names()?;
        if !names.iter().any(|known| known == name) {
            return Err(self.unknown(name, &names));
        }
        self.describe(name, stop).await.map_err(|problem| {
            let message = format!("the module `{name}` is not available: {problem}");
            Failure::new(NOT_AVAILABLE, message)
        })
    }

    async fn describe(&self, name: &str, stop: &Stop) -> Result<Module, String> {
        let file = self.folder.join(name);
        if !file.exists() {
            return Err(format!(
                "{} leads nowhere: it is a link to what is not there",
                file.display()
            ));
        }
        let (metadata, mut remarks) = ask(&file, stop).await?;
        remarks.extend(metadata.remarks.iter().cloned());
        let configuration = match &self.configuration {
            None => configuration::Configuration::default(),
            Some(folder) => {
                let file = folder.join(format!("{name}.conf"));
                configuration::read(&file, metadata.configuration.as_ref())?
            }
        };
        remarks.extend(configuration.remark);
        Ok(Module {
            name: name.to_owned(),
            file,
            metadata,
            configuration: configuration.members,
            remarks,
        })
    }

    fn unknown(&self, name: &str, names: &[String]) -> Failure {
        let folder = self.folder.display();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let hint = match nearest(name, &names) {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None if names.is_empty() => format!("; there is no module in {folder}"),
            None => format!("; {folder} has {}", names.join(", ")),
        };
        Failure::new(
            "devgate/unknown-module",
            format!("unknown module: {name}{hint}"),
        )
    }
}

/// Asks a module for its metadata: with `metadata`, as pxp-agent does, and without an argument, as
/// the specification does, where that brings nothing of use.
async fn ask(file: &Path, stop: &Stop) -> Result<(Metadata, Vec<String>), String> {
    let problem = match told(file, &["metadata"], stop).await {
        Ok(metadata) => return Ok((metadata, Vec::new())),
        Err(Silence::Answered(problem)) => problem,
        Err(Silence::Mute(problem)) => return Err(problem),
    };
    match told(file, &[], stop).await {
        Ok(metadata) => {
            let remark = "it gives its metadata only without an argument: pxp-agent asks with \
                          `metadata`, and would refuse it";
            Ok((metadata, vec![remark.to_owned()]))
        }
        Err(_) => Err(problem),
    }
}

/// Why there is no metadata.
enum Silence {
    /// The module has said something else.
    Answered(String),
    /// It could not be asked, or does not end.
    Mute(String),
}

async fn told(file: &Path, arguments: &[&str], stop: &Stop) -> Result<Metadata, Silence> {
    let program = Program {
        words: std::iter::once(file.into())
            .chain(arguments.iter().map(Into::into))
            .collect(),
        environment: Vec::new(),
        stdin: None,
    };
    let limits = Limits {
        time: Some(PATIENCE),
        stdout: LARGEST,
        ..Limits::default()
    };
    let stdout = Length::default();
    let outcome = tokio::select! {
        outcome = process::run(&program, &limits, stop, &stdout) => outcome,
        // Some never stop: what is not awaited any more is ended.
        () = stdout.exceeded.notified() => return Err(Silence::Mute(too_long())),
    };
    let outcome = outcome.map_err(|failure| {
        Silence::Mute(match failure {
            process::Failure::Start(error) => process::not_started(&error),
            process::Failure::Ended(ended) if ended.limit.is_some() => format!(
                "it did not say what it is within {} s, and was ended",
                PATIENCE.as_secs()
            ),
            process::Failure::Ended(_) => "interrupted".to_owned(),
        })
    })?;
    read(&outcome).map_err(Silence::Answered)
}

/// Hears when a module has written more than any metadata.
#[derive(Debug, Default)]
struct Length {
    heard: Cell<usize>,
    exceeded: Notify,
}

impl Hear for Length {
    fn hear(&self, stream: Stream, bytes: &[u8]) {
        if matches!(stream, Stream::Stdout) {
            self.heard.set(self.heard.get() + bytes.len());
        }
        if self.heard.get() > LARGEST {
            self.exceeded.notify_one();
        }
    }
}

fn too_long() -> String {
    format!("its metadata is longer than {LARGEST} bytes")
}

/// Reads what a module has answered. Its exit code does not matter to pxp-agent, but a byte on stderr does.
fn read(outcome: &Outcome) -> Result<Metadata, String> {
    if !outcome.stderr.bytes.is_empty() {
        let words = outcome.stderr.last_words();
        return Err(format!(
            "it wrote to stderr when it was asked for its metadata, where pxp-agent refuses any word: {}",
            words.as_deref().unwrap_or("blank lines")
        ));
    }
    if outcome.stdout.cut {
        return Err(too_long());
    }
    Metadata::read(&outcome.stdout.bytes).map_err(|problems| match outcome.exit {
        Exit::Code(0) => format!("its metadata: {problems}"),
        exit => format!("its metadata: {problems}; {exit}"),
    })
}
