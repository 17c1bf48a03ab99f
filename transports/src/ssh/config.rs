//! What OpenSSH's client configuration says of hosts (ssh_config(5)).
//!
//! It is read once and asked for each host: the first value that applies to a host is the one that
//! counts. `Match` blocks are skipped, because some of their conditions run programs.

mod files;
mod lookup;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use devgate_schemas::Level;

use crate::Environment;

pub(crate) use lookup::{Names, Said, Strict};

/// The system's configuration, which counts behind the user's.
const SYSTEM: &str = "/etc/ssh/ssh_config";

/// `~/.ssh/config` and `/etc/ssh/ssh_config`, or what stands in their place.
#[derive(Clone, Debug, Default)]
pub struct SshConfig(Vec<Item>);

/// A part of a file.
#[derive(Clone, Debug)]
enum Item {
    /// The beginning of a block for the hosts that fit these patterns.
    Host(Vec<String>),
    /// The beginning of a block that is skipped.
    Match,
    /// The contents of other files, each for itself.
    Include(Vec<Vec<Self>>),
    Keyword {
        /// In small letters.
        name: String,
        words: Vec<String>,
        place: Place,
    },
}

/// A line of a file.
#[derive(Clone, Debug)]
struct Place {
    file: PathBuf,
    line: usize,
}

impl SshConfig {
    /// The user's, where there is one, and the system's. A file that does not exist says nothing.
    pub(crate) fn load(environment: &Environment, tell: impl FnMut(Level, String)) -> Self {
        let user = environment.home().map(|home| home.join(".ssh/config"));
        let files: Vec<PathBuf> = user.into_iter().chain([PathBuf::from(SYSTEM)]).collect();
        Self::read(&files, environment.home(), tell)
    }

    /// Reads one file in place of the user's and the system's.
    pub fn from_file(file: &Path, tell: impl FnMut(Level, String)) -> Self {
        Self::read(&[file.to_owned()], None, tell)
    }

    fn read(files: &[PathBuf], home: Option<&Path>, mut tell: impl FnMut(Level, String)) -> Self {
        let mut items = Vec::new();
        let mut skipped = files::Skipped::default();
        for file in files {
            // A file begins outside of any block, as an included one does.
            items.push(Item::Include(vec![files::read(file, home, &mut skipped)]));
        }
        for unreadable in skipped.unreadable {
            tell(Level::Warning, unreadable);
        }
        if !skipped.matches.is_empty() {
            let message = format!(
                "`Match` blocks are skipped ({}): say it with `Host` blocks, or in the inventory",
                skipped.matches.join(", ")
            );
            tell(Level::Warning, message);
        }
        Self(items)
    }
}
