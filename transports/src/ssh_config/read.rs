//! Loading the configuration: the user's and the system's files, or one file instead of both.

use std::path::{Path, PathBuf};

use devgate_schemas::Level;

use super::files;
use super::item::Item;

/// The system's configuration. The user's configuration takes precedence.
const SYSTEM: &str = "/etc/ssh/ssh_config";

/// The contents of `~/.ssh/config` and `/etc/ssh/ssh_config`, or of one file instead of both.
#[derive(Clone, Debug, Default)]
pub struct SshConfig(pub(super) Vec<Item>);

impl SshConfig {
    /// Loads the user's file, if there is a home folder, and the system's file. Missing files count as empty.
    pub(crate) fn load(home: Option<&Path>, tell: impl FnMut(Level, String)) -> Self {
        let user = home.map(|home| home.join(".ssh/config"));
        let files: Vec<PathBuf> = user.into_iter().chain([PathBuf::from(SYSTEM)]).collect();
        Self::read(&files, home, tell)
    }

    /// Reads one file instead of the user's and the system's.
    pub fn from_file(file: &Path, tell: impl FnMut(Level, String)) -> Self {
        Self::read(&[file.to_owned()], None, tell)
    }

    fn read(files: &[PathBuf], home: Option<&Path>, mut tell: impl FnMut(Level, String)) -> Self {
        let mut items = Vec::new();
        let mut skipped = files::Skipped::default();
        for file in files {
            // A file begins outside of any block, as an included file does.
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
