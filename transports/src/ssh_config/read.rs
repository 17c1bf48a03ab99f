//! Reading the configuration: the user's and the system's files, or one in their place.

use std::path::{Path, PathBuf};

use devgate_schemas::Level;

use super::files;
use super::item::Item;

/// The system's configuration, which counts behind the user's.
const SYSTEM: &str = "/etc/ssh/ssh_config";

/// `~/.ssh/config` and `/etc/ssh/ssh_config`, or what stands in their place.
#[derive(Clone, Debug, Default)]
pub struct SshConfig(pub(super) Vec<Item>);

impl SshConfig {
    /// The user's, where there is one, and the system's. A file that does not exist says nothing.
    pub(crate) fn load(home: Option<&Path>, tell: impl FnMut(Level, String)) -> Self {
        let user = home.map(|home| home.join(".ssh/config"));
        let files: Vec<PathBuf> = user.into_iter().chain([PathBuf::from(SYSTEM)]).collect();
        Self::read(&files, home, tell)
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
