//! Checks who else can change what devgate runs: tasks, their interpreters, programs, families, the project, the
//! inventory and its files, manifests.
//!
//! What root runs must belong to root, or to the user who called `sudo`. Each file is checked with all folders above
//! it, by its own path and by the path that symbolic links lead to. Each folder is checked only once in a process.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use devgate_transports::permissions::{Others, Right, others_with};
use nix::unistd::{Group, Uid, User};

use crate::lock::locked;

/// The users who may own what devgate runs.
#[derive(Clone, Copy, Debug)]
struct AllowedOwners {
    own: u32,
    /// The user who has become root with `sudo`.
    sudo_user: Option<u32>,
}

/// A problem with the owner or the mode of a file or folder.
#[derive(Debug, PartialEq)]
enum ForeignAccess {
    /// Other users can write it.
    Writable(Others),
    /// Another user owns it.
    OwnedBy(u32),
}

/// What was checked already, and what was warned about.
#[derive(Debug, Default)]
struct CheckedPaths {
    folders: HashSet<PathBuf>,
    warned: Vec<PathBuf>,
    /// Rejected paths, with everything below them, and why.
    refused: Vec<(PathBuf, String)>,
}

/// The user who started this process with `sudo`, if it runs as root.
static SUDO_USER: OnceLock<u32> = OnceLock::new();

/// The sticky bit: only owners can remove files from such a folder.
const STICKY: u32 = 0o1000;

/// Root may run the files of this user, who has become root with `sudo`. Only the first call counts.
pub fn started_by(user: u32) {
    SUDO_USER.get_or_init(|| user);
}

/// Checks a folder in which files are created and then run: nobody else may be able to replace what is created there.
/// Folders that all users can write need the sticky bit, as `/tmp` has it.
///
/// # Errors
/// Which folder another user controls.
pub fn check_temporary(folder: &Path) -> Result<(), String> {
    check_temporary_by(AllowedOwners::this(), folder)
}

fn check_temporary_by(allowed: AllowedOwners, folder: &Path) -> Result<(), String> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for path in real.ancestors() {
        let Ok(metadata) = fs::metadata(path) else {
            continue;
        };
        if !allowed.may_own(metadata.uid()) {
            return Err(format!(
                "{} belongs to the user {}, who could replace files in it",
                path.display(),
                metadata.uid()
            ));
        }
        if metadata.mode() & 0o002 != 0 && metadata.mode() & STICKY == 0 {
            return Err(format!(
                "all users can replace files in {}, because it lacks the sticky bit (`chmod +t`)",
                path.display()
            ));
        }
    }
    Ok(())
}

/// Checks a file or a folder. A problem is only a warning for users other than root, and also for root if just the
/// owner is another user.
///
/// # Errors
/// For root: who else can change it.
pub fn check(path: &Path) -> Result<(), String> {
    check_by(AllowedOwners::this(), path)
}

/// Checks a folder with everything below it.
///
/// # Errors
/// As of [`check`]; a link in the folder that leads out of all of `roots`.
pub fn check_all(folder: &Path, roots: &[PathBuf]) -> Result<(), String> {
    check(folder)?;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        stays_in(&path, roots)?;
        let kind = path.symlink_metadata();
        if kind.is_ok_and(|metadata| metadata.is_dir()) {
            check_all(&path, roots)?;
        } else {
            check(&path)?;
        }
    }
    Ok(())
}

/// Folders for [`stays_in`], with links resolved.
pub fn roots<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Vec<PathBuf> {
    let folders = folders.into_iter();
    folders
        .filter_map(|root| root.canonicalize().ok())
        .collect()
}

/// Checks that the target of a path is in one of these folders.
///
/// # Errors
/// The path leads out of them.
pub fn stays_in(path: &Path, roots: &[PathBuf]) -> Result<(), String> {
    let Ok(real) = path.canonicalize() else {
        // The reader of a missing file reports it.
        return Ok(());
    };
    if roots.iter().any(|root| real.starts_with(root)) {
        return Ok(());
    }
    Err(format!(
        "{} is a link to {}, outside the module path: put the file itself there",
        path.display(),
        real.display()
    ))
}

fn check_by(allowed: AllowedOwners, path: &Path) -> Result<(), String> {
    static CHECKED: Mutex<Option<CheckedPaths>> = Mutex::new(None);
    let mut checked = locked(&CHECKED);
    let checked = checked.get_or_insert_default();
    let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = named.canonicalize().unwrap_or_else(|_| named.clone());
    for full_path in [&named, &real] {
        let mut refused = checked.refused.iter();
        if let Some((_, problem)) = refused.find(|(path, _)| full_path.starts_with(path)) {
            return Err(problem.clone());
        }
        for (depth, path) in full_path.ancestors().enumerate() {
            let Ok(metadata) = fs::metadata(path) else {
                continue;
            };
            if metadata.file_type().is_char_device() {
                // `/dev/stdin` at a terminal is no file.
                continue;
            }
            if metadata.is_dir() && !checked.folders.insert(path.to_owned()) && depth > 0 {
                // The folders above it were checked with it.
                break;
            }
            let Some(access) = allowed.foreign_access(&metadata, depth > 0) else {
                continue;
            };
            let problem = describe(path, &access);
            if allowed.own == 0 && matches!(access, ForeignAccess::Writable(_)) {
                let problem = format!("{problem}; root does not run it");
                // The next caller must get this error, too.
                checked.refused.push((path.to_owned(), problem.clone()));
                return Err(problem);
            }
            // One warning for a folder is enough for everything below it.
            if !checked.warned.iter().any(|warned| path.starts_with(warned)) {
                checked.warned.push(path.to_owned());
                tracing::warn!("{problem}");
            }
        }
    }
    Ok(())
}

impl AllowedOwners {
    /// This process.
    fn this() -> Self {
        let own = Uid::effective().as_raw();
        let sudo_user = SUDO_USER.get().copied().filter(|_| own == 0);
        Self { own, sudo_user }
    }

    /// Who else can change it. A sticky folder above it is safe, because users cannot change files of others there.
    fn foreign_access(self, metadata: &Metadata, is_above: bool) -> Option<ForeignAccess> {
        let is_safe = is_above && metadata.is_dir() && metadata.mode() & STICKY != 0;
        if let Some(others) = others_with(Right::Write, metadata).filter(|_| !is_safe) {
            return Some(ForeignAccess::Writable(others));
        }
        let owner = metadata.uid();
        (!self.may_own(owner)).then_some(ForeignAccess::OwnedBy(owner))
    }

    /// Whether this user may own what devgate runs.
    fn may_own(self, owner: u32) -> bool {
        owner == 0 || owner == self.own || Some(owner) == self.sudo_user
    }
}

fn describe(path: &Path, access: &ForeignAccess) -> String {
    let shown = path.display();
    match access {
        ForeignAccess::Writable(Others::Everybody) => {
            format!("all users can write {shown}: remove that permission with `chmod o-w {shown}`")
        }
        ForeignAccess::Writable(Others::Group(group)) => {
            let found = Group::from_gid((*group).into()).ok().flatten();
            let name = found.map_or_else(|| group.to_string(), |group| group.name);
            format!(
                "the group {name} can write {shown}, and so change what devgate runs: remove that permission with \
                 `chmod g-w {shown}`"
            )
        }
        ForeignAccess::OwnedBy(owner) => {
            let found = User::from_uid((*owner).into()).ok().flatten();
            let name = found.map_or_else(|| owner.to_string(), |user| user.name);
            format!("{shown} belongs to the user {name}, who can change what devgate runs")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use tempfile::TempDir;

    use super::*;

    const ROOT: AllowedOwners = AllowedOwners {
        own: 0,
        sudo_user: None,
    };

    fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder")
    }

    /// A file of this mode in a folder of that mode.
    fn file(base: &Path, folder: u32, file: u32) -> PathBuf {
        let module = base.join("m");
        fs::create_dir_all(&module).expect("made");
        let path = module.join("task");
        fs::write(&path, "#!/bin/sh\n").expect("written");
        fs::set_permissions(&path, Permissions::from_mode(file)).expect("set");
        fs::set_permissions(&module, Permissions::from_mode(folder)).expect("set");
        path
    }

    #[test]
    fn a_temporary_folder_is_refused_where_another_user_can_replace_files() {
        let base = folder();
        let temporary = base.path().join("tmp");
        fs::create_dir(&temporary).expect("made");
        for (mode, refused) in [(0o755, None), (0o1777, None), (0o777, Some("sticky bit"))] {
            fs::set_permissions(&temporary, Permissions::from_mode(mode)).expect("set");
            let own = fs::metadata(&temporary).expect("there").uid();
            let allowed = AllowedOwners {
                own,
                sudo_user: None,
            };
            let problem = check_temporary_by(allowed, &temporary).err();
            let is_as_expected = match (&problem, refused) {
                (None, None) => true,
                (Some(problem), Some(part)) => problem.contains(part),
                _ => false,
            };
            assert!(is_as_expected, "{mode:o}: {problem:?}");
        }
        // Only root can give a folder away; any other user is not 4242 either.
        drop(chown(base.path(), Some(4243), None));
        let other = AllowedOwners {
            own: 4242,
            sudo_user: None,
        };
        let problem = check_temporary_by(other, base.path()).expect_err("of another user");
        assert!(problem.contains("belongs to the user"), "{problem}");
    }

    #[test]
    fn world_writable_paths_are_refused_for_root_with_everything_below() {
        for (of_folder, of_file, refused) in [
            (0o755, 0o644, None),
            (0o755, 0o646, Some("m/task")),
            (0o757, 0o644, Some("m:")),
            (0o1757, 0o644, None),
        ] {
            let base = folder();
            let path = file(base.path(), of_folder, of_file);
            let checked = check_by(ROOT, &path);
            match refused {
                None => assert_eq!(checked, Ok(()), "{of_folder:o} {of_file:o}"),
                Some(what) => {
                    let problem = checked.expect_err("others may write it");
                    assert!(problem.contains("all users can write"), "{problem}");
                    assert!(problem.contains(what), "{problem}");
                    // Not only the first call fails.
                    assert!(check_by(ROOT, &path).is_err());
                }
            }
        }
    }

    #[test]
    fn a_folder_that_is_run_itself_must_not_be_writable_though_it_is_sticky() {
        let base = folder();
        file(base.path(), 0o1777, 0o644);
        assert!(check_by(ROOT, &base.path().join("m")).is_err());
    }

    #[test]
    fn users_other_than_root_only_get_warnings() {
        let base = folder();
        let path = file(base.path(), 0o777, 0o666);
        let allowed = AllowedOwners {
            own: 1000,
            sudo_user: None,
        };
        assert_eq!(check_by(allowed, &path), Ok(()));
    }

    #[test]
    fn files_of_another_user_are_foreign_but_not_those_of_the_sudo_user() {
        let base = folder();
        let path = file(base.path(), 0o755, 0o644);
        let metadata = fs::metadata(&path).expect("it is there");
        let owner = metadata.uid();
        let allowed =
            |own, sudo_user| AllowedOwners { own, sudo_user }.foreign_access(&metadata, false);
        assert_eq!(allowed(owner, None), None);
        assert_eq!(allowed(4242, Some(owner)), None);
        let expected = (owner != 0).then_some(ForeignAccess::OwnedBy(owner));
        assert_eq!(allowed(4242, None), expected);
    }

    #[test]
    fn a_link_may_lead_to_another_module_and_not_out_of_the_module_path() {
        let (base, outside) = (folder(), folder());
        let path = file(base.path(), 0o755, 0o644);
        let secret = outside.path().join("secret");
        fs::write(&secret, "a canary").expect("written");
        let roots = roots([base.path()]);
        let [inner, outer] = ["inner", "outer"].map(|name| base.path().join("m").join(name));
        symlink(&path, &inner).expect("linked");
        assert_eq!(stays_in(&inner, &roots), Ok(()));
        assert_eq!(check_all(base.path(), &roots), Ok(()));
        symlink(&secret, &outer).expect("linked");
        let problem = stays_in(&outer, &roots).expect_err("it leads out");
        assert!(problem.contains("outside the module path"), "{problem}");
        assert_eq!(check_all(base.path(), &roots), Err(problem));
    }
}
