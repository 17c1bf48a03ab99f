//! The files that the programs of a family need on a proxy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use devgate_core::trust;
use devgate_transports::hosted_program::{ProgramFile, ProgramFiles};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::tasks::{Layout, TaskFile, files_below};

/// Folders whose files go to a proxy, in the same relative positions as here.
#[derive(Debug)]
pub(super) struct FamilyFiles {
    /// The folders, by their names on the proxy.
    folders: Vec<(String, PathBuf)>,
    /// The files. They are listed and read when a proxy first needs them.
    files: OnceCell<Result<Arc<ProgramFiles>, String>>,
}

impl FamilyFiles {
    /// Creates the list of these folders, by their names on the proxy.
    pub(super) fn new(folders: Vec<(String, PathBuf)>) -> Self {
        let real = |(name, folder): (String, PathBuf)| match folder.canonicalize() {
            Ok(real) => (name, real),
            Err(_) => (name, folder),
        };
        Self {
            folders: folders.into_iter().map(real).collect(),
            files: OnceCell::new(),
        }
    }

    /// Returns the files of a module for its family in this folder: the folder itself, and the module's `lib`.
    pub(super) fn of_family(folder: &Path) -> Self {
        // A link to the folder leads to the files, and `..` to its module.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let mut above = folder.ancestors().skip(1);
        let (devices, module) = (above.next(), above.next());
        let names = [devices, Some(folder.as_path())].map(|path| path?.file_name()?.to_str());
        let name = names.map(Option::unwrap_or_default).join("/");
        let lib = module.map(|module| ("lib".to_owned(), module.join("lib")));
        let lib = lib.filter(|(_, lib)| lib.is_dir());
        Self::new([(name, folder.clone())].into_iter().chain(lib).collect())
    }

    /// Returns the name of a file on the proxy. If it is a link, the link has a name, too.
    pub(super) fn name_of(&self, file: &Path) -> Option<String> {
        let file = file.parent()?.canonicalize().ok()?.join(file.file_name()?);
        self.folders.iter().find_map(|(name, folder)| {
            let below = file.strip_prefix(folder).ok()?;
            Some(format!("{name}/{}", below.to_str()?))
        })
    }

    /// Returns the files.
    ///
    /// # Errors
    /// Fails when a file cannot be read, or is a link out of the module path.
    pub(super) async fn files(&self) -> Result<Arc<ProgramFiles>, String> {
        let files = self.files.get_or_init(async || {
            let folders = self.folders.clone();
            let listed = spawn_blocking(move || list(&folders).map(Arc::new)).await;
            listed.expect("files do not panic")
        });
        files.await.clone()
    }
}

fn list(folders: &[(String, PathBuf)]) -> Result<ProgramFiles, String> {
    // The folder of the module path that contains the module is allowed, too.
    let roots = trust::roots(
        folders
            .iter()
            .flat_map(|(_, folder)| folder.ancestors().take(4)),
    );
    let roots: Vec<PathBuf> = roots
        .into_iter()
        .filter(|root| root.parent().is_some())
        .collect();
    let mut found = Vec::new();
    for (name, folder) in folders {
        let listed = files_below(folder, name, &mut found);
        listed.map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    found.retain(|file| is_needed(&file.name));
    for TaskFile { path, .. } in &found {
        trust::stays_in(path, &roots)?;
    }
    let layout = Layout::of_files(found);
    let digest = layout.digest().map_err(|error| error.to_string())?;
    let files = layout.files().iter().map(|file| {
        let mode = layout.mode(file).map_err(|error| error.to_string())?;
        Ok(ProgramFile {
            name: file.name.clone(),
            path: file.path.clone(),
            mode,
        })
    });
    Ok(ProgramFiles {
        digest: digest.to_owned(),
        files: files.collect::<Result<_, String>>()?,
    })
}

/// Whether programs may need a file. Hidden files, what Python has compiled, and the recorded sessions of a family stay
/// here.
fn is_needed(name: &str) -> bool {
    let mut parts = name.split('/');
    let is_case = parts.clone().nth(2) == Some("cases") && name.starts_with("devices/");
    !is_case && parts.all(|part| !part.starts_with('.') && part != "__pycache__")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[tokio::test]
    async fn the_folder_of_a_family_and_the_lib_of_its_module_keep_their_positions() {
        let path = tempfile::tempdir().expect("a folder");
        let module = path.path().join("modules/m");
        let write = |name: &str| {
            let file = module.join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, name).expect("a file");
        };
        for name in [
            "devices/panel/transport",
            "devices/panel/cases/1/in",
            "devices/other/transport",
            "lib/a.py",
            "lib/__pycache__/a.pyc",
            "lib/.git/config",
            "tasks/t.sh",
        ] {
            write(name);
        }
        let folder = module.join("devices/panel");
        fs::create_dir(folder.join("types")).expect("a folder");
        symlink("../transport", folder.join("types/port")).expect("a link");
        let files = FamilyFiles::of_family(&folder);
        let listed = files.files().await.expect("files");
        let mut names: Vec<&str> = listed.files.iter().map(|file| &*file.name).collect();
        names.sort_unstable();
        let expected = [
            "devices/panel/transport",
            "devices/panel/types/port",
            "lib/a.py",
        ];
        assert_eq!(names, expected);
        let real = folder.canonicalize().expect("a folder").join("transport");
        assert_eq!(files.name_of(&real).as_deref(), Some(expected[0]));
        // A link out of the module path would take any file to the proxy.
        symlink("/etc/passwd", folder.join("x")).expect("a link");
        let problem = FamilyFiles::of_family(&folder).files().await;
        assert!(problem.is_err_and(|problem| problem.contains("/etc/passwd")));
    }
}
