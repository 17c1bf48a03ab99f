//! The staged files of tasks on this node: a private directory for each implementation, laid out once and shared by all
//! targets of a run.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use devgate_core::lock::locked;
use devgate_core::trust;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::process;
use crate::tasks::{Implementation, with_path};

/// The stages of one run.
#[derive(Debug, Default)]
pub(super) struct Stages(Mutex<Vec<StageEntry>>);

/// The stage of one implementation. It is laid out when it is first needed.
#[derive(Debug)]
struct StageEntry {
    implementation: Arc<Implementation>,
    stage: Arc<OnceCell<Stage>>,
}

/// A directory with the files of an implementation. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Stage {
    /// `None` if the directory is kept.
    dir: Option<TempDir>,
    executable: PathBuf,
    installdir: Option<PathBuf>,
}

/// What happens to a stage that is no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cleanup {
    Remove,
    /// Keeps the files for inspection.
    Keep,
}

impl Stages {
    /// Returns the stage of an implementation. The first call lays it out in `base`.
    pub(super) async fn get_or_lay_out(
        &self,
        implementation: &Arc<Implementation>,
        base: &Path,
        cleanup: Cleanup,
    ) -> io::Result<Arc<OnceCell<Stage>>> {
        let cell = {
            let mut stages = locked(&self.0);
            let entry = stages
                .iter()
                .find(|entry| Arc::ptr_eq(&entry.implementation, implementation));
            if let Some(entry) = entry {
                Arc::clone(&entry.stage)
            } else {
                let stage = Arc::default();
                stages.push(StageEntry {
                    implementation: Arc::clone(implementation),
                    stage: Arc::clone(&stage),
                });
                stage
            }
        };
        cell.get_or_try_init(async || {
            let (implementation, base) = (Arc::clone(implementation), base.to_owned());
            tokio::task::spawn_blocking(move || Stage::lay_out(&implementation, &base, cleanup))
                .await
                .map_err(io::Error::other)
                .flatten()
        })
        .await?;
        Ok(cell)
    }
}

impl Stage {
    fn lay_out(implementation: &Implementation, base: &Path, cleanup: Cleanup) -> io::Result<Self> {
        trust::check_temporary(base).map_err(|problem| {
            io::Error::other(format!("{problem}; set tmpdir to a folder of your own"))
        })?;
        let dir = tempfile::Builder::new()
            .prefix("devgate-task-")
            .permissions(Permissions::from_mode(0o700))
            // A task may change its directory and must still find `_installdir`.
            .tempdir_in(std::path::absolute(base)?)?;
        let layout = &implementation.layout;
        for file in layout.files() {
            let to = dir.path().join(&file.name);
            let mode = layout.mode(file)?;
            copy(&file.path, &to, mode).map_err(|error| with_path(&file.path, &error))?;
        }
        let executable = dir.path().join(&layout.executable().name);
        let installdir = layout.has_installdir().then(|| dir.path().to_owned());
        let dir = match cleanup {
            Cleanup::Remove => Some(dir),
            Cleanup::Keep => {
                tracing::warn!("the task's files are kept in {}", dir.keep().display());
                None
            }
        };
        Ok(Self {
            dir,
            executable,
            installdir,
        })
    }

    /// Returns the path of the executable.
    pub(super) fn executable(&self) -> &Path {
        &self.executable
    }

    /// Returns the task's `_installdir`.
    pub(super) fn installdir(&self) -> Option<&Path> {
        self.installdir.as_deref()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(dir) = self.dir.take() {
            let path = dir.path().to_owned();
            if let Err(error) = dir.close() {
                tracing::warn!("{} could not be removed: {error}", path.display());
            }
        }
    }
}

fn copy(from: &Path, to: &Path, mode: u32) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let _writing = process::writing_executables();
    fs::copy(from, to)?;
    fs::set_permissions(to, Permissions::from_mode(mode))
}
