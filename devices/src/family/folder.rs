//! A family's folder: built into the program, or on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use devgate_transports::reading;

use crate::file_node::{Problems, YamlFile};
use crate::{Error, Result};

/// Every file of the built-in families, by its path below `devices/families`.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/families.rs"));

/// The name of a family's file.
pub(super) const FILE: &str = "family.yaml";

/// A family's folder.
#[derive(Clone, Debug)]
pub(crate) enum Folder {
    /// A folder of the program, by its name among the built-in ones.
    BuiltIn(&'static str),
    /// A folder of a module.
    OnDisk(PathBuf),
}

/// Returns the names of the built-in families, sorted.
pub(crate) fn built_in() -> Vec<&'static str> {
    let mut names: Vec<&'static str> = BUILT_IN
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("/family.yaml"))
        .collect();
    names.sort_unstable();
    names
}

impl Folder {
    /// Returns the parent of a folder on disk, and the folder's path in it.
    pub(crate) fn parent_of(folder: &Path) -> (Self, String) {
        let full_path = match folder.file_name() {
            Some(_) => folder.to_owned(),
            // `.` and `..` have no name of their own.
            None => folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        };
        let name = full_path.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        (Self::OnDisk(full_path.with_file_name("")), name)
    }

    /// Returns the name of a file for messages.
    pub(crate) fn display_name(&self, path: &str) -> String {
        match self {
            Self::BuiltIn(name) => format!("built-in {name}/{path}"),
            Self::OnDisk(folder) => folder.join(path).display().to_string(),
        }
    }

    /// The folder on disk, if it is there.
    pub(crate) fn on_disk(&self) -> Option<&Path> {
        match self {
            Self::BuiltIn(_) => None,
            Self::OnDisk(folder) => Some(folder),
        }
    }

    /// Returns whether a path is a folder.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        match self {
            Self::BuiltIn(_) => self.names(path).is_ok_and(|names| !names.is_empty()),
            Self::OnDisk(folder) => folder.join(path).is_dir(),
        }
    }

    /// Reads a file. An absolute path may lead out of a folder on disk.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        match self {
            Self::BuiltIn(_) => self
                .built_in_files()
                .find(|(name, _)| *name == path)
                .map(|(_, text)| text.to_owned())
                .ok_or_else(|| io::ErrorKind::NotFound.into()),
            // A pipe would be waited for.
            Self::OnDisk(folder) if is_special(&folder.join(path)) => {
                Err(io::Error::other("it is no regular file"))
            }
            Self::OnDisk(folder) => reading::text(&folder.join(path)),
        }
        .map_err(file_error("read", self.display_name(path)))
    }

    /// Reads and parses a YAML file.
    pub(crate) fn yaml(&self, path: &str) -> Result<YamlFile> {
        let file = YamlFile::parse(self.display_name(path), &self.read(path)?);
        file.map_err(|problem| Error::Family(vec![problem]))
    }

    /// Returns the names of the entries directly below a folder of this one, sorted; none if it does not
    /// exist.
    pub(crate) fn names(&self, under: &str) -> Result<Vec<String>> {
        let mut names = match self {
            Self::BuiltIn(_) => self
                .built_in_files()
                .filter_map(|(path, _)| path.strip_prefix(under)?.strip_prefix('/'))
                .filter_map(|rest| rest.split('/').next())
                .map(str::to_owned)
                .collect(),
            Self::OnDisk(folder) => on_disk(&folder.join(under))?,
        };
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Returns the folders of the family's types: its own, and that of the family which it takes types from
    /// (`types_of`), beside it or built in.
    pub(crate) fn of_types(&self) -> Vec<Self> {
        let text = self.read(FILE).unwrap_or_default();
        let other = self.value_of("types_of", &text);
        let own = self.name();
        let is_name = |name: &String| {
            let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            name.chars().all(is_letter) && *name != own
        };
        let other = other.filter(is_name).and_then(|name| match self {
            Self::OnDisk(folder) if folder.join("..").join(&name).is_dir() => {
                Some(Self::OnDisk(folder.with_file_name(&name)))
            }
            _ => built_in()
                .into_iter()
                .find(|known| *known == name)
                .map(Self::BuiltIn),
        });
        [Some(self.clone()), other].into_iter().flatten().collect()
    }

    /// A text at the top of a file, without parsing all of it.
    pub(super) fn value_of(&self, key: &str, text: &str) -> Option<String> {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
        let value = value.split(" #").next().unwrap_or(value).trim();
        let value = value.trim_matches(['"', '\'']);
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// The folder's own name.
    fn name(&self) -> String {
        match self {
            Self::BuiltIn(name) => (*name).to_owned(),
            Self::OnDisk(folder) => {
                let name = folder.file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            }
        }
    }

    /// Writes a file. This fails in a built-in folder.
    pub(crate) fn write(&self, path: &str, text: &str) -> Result<()> {
        match self {
            Self::BuiltIn(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            Self::OnDisk(folder) => fs::write(folder.join(path), text),
        }
        .map_err(file_error("write", self.display_name(path)))
    }

    /// Removes a file. This fails in a built-in folder.
    pub(crate) fn remove(&self, path: &str) -> Result<()> {
        match self {
            Self::BuiltIn(_) => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            Self::OnDisk(folder) => fs::remove_file(folder.join(path)),
        }
        .map_err(file_error("remove", self.display_name(path)))
    }

    pub(super) fn built_in_files(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let family = match self {
            Self::BuiltIn(name) => name,
            Self::OnDisk(_) => "",
        };
        BUILT_IN.iter().filter_map(move |(path, text)| {
            Some((path.strip_prefix(family)?.strip_prefix('/')?, *text))
        })
    }
}

/// Whether a path leads to something that is there and neither a file nor a folder.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn on_disk(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(file_error("read", folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry
            .map_err(file_error("read", folder))?
            .file_name()
            .to_string_lossy()
            .into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

fn file_error(what: &'static str, file: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let file = file.into();
    move |cause| Error::File { what, file, cause }
}

/// The file, or `None` if it is not YAML, which is reported.
pub(super) fn if_valid(
    file: Result<YamlFile>,
    problems: &mut Problems,
) -> Result<Option<YamlFile>> {
    match file {
        Err(Error::Family(found)) => {
            problems.extend(found);
            Ok(None)
        }
        file => file.map(Some),
    }
}
