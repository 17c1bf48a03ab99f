//! The modules of a folder, and their metadata.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_schemas::nearest;
use devgate_schemas::pxp::Metadata;
use futures_util::stream::{self, StreamExt};
use serde_json::{Map, Value as Json};

use crate::host::{configuration, describe};

/// The folder of modules, and the folder of their configuration.
#[derive(Debug)]
pub(crate) struct ModulesDir {
    folder: PathBuf,
    configuration: Option<PathBuf>,
}

/// An available module.
pub(crate) struct Module {
    /// Its name, which is that of its file, whatever link leads there.
    pub(crate) name: String,
    /// The program.
    pub(crate) file: PathBuf,
    /// Its metadata.
    pub(crate) metadata: Metadata,
    /// Its configuration, for each request.
    pub(super) configuration: Option<Map<String, Json>>,
    /// Remarks that are no errors.
    pub(crate) remarks: Vec<String>,
}

/// The error kind of a module that is not available.
pub(crate) const NOT_AVAILABLE: &str = "devgate/module-not-available";

/// The maximum number of modules whose metadata is read in parallel. Starting an interpreter needs much CPU time.
const MAX_PARALLEL: usize = 8;

impl ModulesDir {
    /// The modules of a folder; `configuration` is the folder of their `.conf` files.
    ///
    /// # Errors
    /// A path is not a folder.
    pub(crate) fn open(folder: PathBuf, configuration: Option<PathBuf>) -> Result<Self, Failure> {
        for (option, folder) in [
            ("--modules-dir", Some(&folder)),
            ("--config-dir", configuration.as_ref()),
        ] {
            if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
                let message = format!("{option}: {} is not a folder", folder.display());
                return Err(Failure::new("devgate/no-such-folder", message));
            }
        }
        Ok(Self {
            folder,
            configuration,
        })
    }

    /// The files of all modules by their names: every file without an extension is one, as pxp-agent finds them. A
    /// link stands for the file to which it leads.
    ///
    /// # Errors
    /// The folder cannot be read.
    fn files(&self) -> Result<BTreeMap<String, BTreeSet<PathBuf>>, Failure> {
        let unreadable = |error| {
            let message = format!("cannot read {}: {error}", self.folder.display());
            Failure::new("devgate/no-such-folder", message)
        };
        let mut files: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for entry in fs::read_dir(&self.folder).map_err(unreadable)? {
            let found = entry.map_err(unreadable)?.path();
            // A broken link keeps the name of the link, so that it is reported.
            let file = fs::canonicalize(&found).unwrap_or(found);
            let name = file.file_name().map(OsStr::to_string_lossy);
            let name = name.unwrap_or_default().into_owned();
            if !name.contains('.') && !file.is_dir() {
                files.entry(name).or_default().insert(file);
            }
        }
        Ok(files)
    }

    /// Reads the metadata of all modules, some in parallel: each module, or why it is not available.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(crate) async fn all(
        &self,
        stop: &CancelToken,
    ) -> Result<Vec<(String, Result<Module, String>)>, Failure> {
        let modules = stream::iter(self.files()?).map(async |(name, files)| {
            let module = self.describe(&name, &files, stop).await;
            (name, module)
        });
        // In the order of their answers, so that a slow module delays no other.
        let mut modules: Vec<_> = modules.buffer_unordered(MAX_PARALLEL).collect().await;
        modules.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(modules)
    }

    /// Reads the metadata and the configuration of a module.
    ///
    /// # Errors
    /// The module does not exist, or is not available.
    pub(crate) async fn load(&self, name: &str, stop: &CancelToken) -> Result<Module, Failure> {
        let files = self.files()?;
        let Some(found) = files.get(name) else {
            return Err(self.unknown(name, &files));
        };
        self.describe(name, found, stop).await.map_err(|problem| {
            let message = format!("the module `{name}` is not available: {problem}");
            Failure::new(NOT_AVAILABLE, message)
        })
    }

    async fn describe(
        &self,
        name: &str,
        files: &BTreeSet<PathBuf>,
        stop: &CancelToken,
    ) -> Result<Module, String> {
        let file = only(files)?;
        if !file.exists() {
            return Err(format!("{} is a broken link", file.display()));
        }
        let (metadata, mut remarks) = describe::metadata(file, stop).await?;
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
            file: file.to_owned(),
            metadata,
            configuration: configuration.members,
            remarks,
        })
    }

    fn unknown(&self, name: &str, files: &BTreeMap<String, BTreeSet<PathBuf>>) -> Failure {
        let folder = self.folder.display();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
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

/// The only file with a name.
fn only(files: &BTreeSet<PathBuf>) -> Result<&Path, String> {
    let mut paths = files.iter().map(PathBuf::as_path);
    match (paths.next(), paths.next()) {
        (Some(file), None) => Ok(file),
        _ => {
            let paths: Vec<String> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            Err(format!(
                "links lead to several files of its name: {}; keep one of them",
                paths.join(", ")
            ))
        }
    }
}
