//! The folders of modules and their configuration.

use std::path::PathBuf;

use clap::Args;
use devgate_core::failure::Failure;

use crate::host::ModulesDir;

/// The folders of modules.
#[derive(Args, Debug)]
pub(super) struct Folders {
    /// Folder of the modules: each file without an extension is a module
    #[arg(long, value_name = "DIR")]
    pub(super) modules_dir: PathBuf,
    /// Folder of the configuration files, MODULE.conf
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
}

impl Folders {
    /// Opens the folders.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub(super) fn open(self) -> Result<ModulesDir, Failure> {
        ModulesDir::open(self.modules_dir, self.config_dir)
    }
}
