//! Who else could change what is run here: tasks, their interpreters, programs, families, the project, the
//! inventory and what it refers to, manifests.
//!
//! What root runs must be in the hands of root, or of the user who called `sudo`. Each file is looked at with
//! all folders above it, by its own path and by the one that symbolic links lead to; a folder is looked
//! at once in a process, whatever is read in it.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use devgate_transports::permissions::{Others, Right, others_with};
use nix::unistd::{Group, Uid, User};

use crate::lock::locked;

/// In whose hands what is run may be.
#[derive(Clone, Copy, Debug)]
struct Judge {
    own: u32,
    /// Who has become root by `sudo`.
    behind: Option<u32>,
}

/// Somebody else's hand in a file or folder.
#[derive(Debug, PartialEq)]
enum Hand {
    /// Others may write it.
    Writes(Others),
    /// It is another user's.
    Owns(u32),
}

/// What was looked at already, and what was warned about.
#[derive(Debug, Default)]
struct Looked {
    folders: HashSet<PathBuf>,
    told: Vec<PathBuf>,
    /// What is refused, with all that is below it, and why.
    refused: Vec<(PathBuf, String)>,
}

/// Who has started this process by `sudo`, where it is root's.
static BEHIND: OnceLock<u32> = OnceLock::new();

/// Bits of a mode: only owners may take things out of such a folder.
const STICKY: u32 = 0o1000;

/// What this user has, root may run: the one who has become root by `sudo`. Only the first counts.
pub fn started_by(user: u32) {
    BEHIND.get_or_init(|| user);
}

/// Looks at a file or a folder. For anybody but root what is found is a warning, and so it is for root where
/// only the owner is somebody else.
///
/// # Errors
/// For root: who else may change it.
pub fn check(path: &Path) -> Result<(), String> {
    check_by(Judge::this(), path)
}

/// The same, for a folder with everything below it.
///
/// # Errors
/// As of [`check`]; a link in the folder that leads out of all of `roots`.
pub fn check_all(folder: &Path, roots: &[PathBuf]) -> Result<(), String> {
    check(folder)?;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        stays(&path, roots)?;
        let kind = path.symlink_metadata();
        if kind.is_ok_and(|metadata| metadata.is_dir()) {
            check_all(&path, roots)?;
        } else {
            check(&path)?;
        }
    }
    Ok(())
}

/// Folders as [`stays`] wants them: without links.
pub fn roots<'p>(folders: impl IntoIterator<Item = &'p Path>) -> Vec<PathBuf> {
    let folders = folders.into_iter();
    folders
        .filter_map(|root| root.canonicalize().ok())
        .collect()
}

/// Whether what a path leads to lies in one of these folders.
///
/// # Errors
/// Where it leads to instead.
pub fn stays(path: &Path, roots: &[PathBuf]) -> Result<(), String> {
    let Ok(real) = path.canonicalize() else {
        // What is not there is told by who reads it.
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

fn check_by(judge: Judge, path: &Path) -> Result<(), String> {
    static LOOKED: Mutex<Option<Looked>> = Mutex::new(None);
    let mut looked = locked(&LOOKED);
    let looked = looked.get_or_insert_default();
    let named = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = named.canonicalize().unwrap_or_else(|_| named.clone());
    for whole in [&named, &real] {
        let mut refused = looked.refused.iter();
        if let Some((_, problem)) = refused.find(|(place, _)| whole.starts_with(place)) {
            return Err(problem.clone());
        }
        for (depth, place) in whole.ancestors().enumerate() {
            let Ok(metadata) = fs::metadata(place) else {
                continue;
            };
            if metadata.file_type().is_char_device() {
                // `/dev/stdin` at a terminal: what comes from there is nobody's file.
                continue;
            }
            if metadata.is_dir() && !looked.folders.insert(place.to_owned()) && depth > 0 {
                // All above it was looked at with it.
                break;
            }
            let Some(hand) = judge.other_hand(&metadata, depth > 0) else {
                continue;
            };
            let problem = told(place, &hand);
            if judge.own == 0 && matches!(hand, Hand::Writes(_)) {
                let problem = format!("{problem}; root does not run it");
                // The next one who asks must hear of it, too.
                looked.refused.push((place.to_owned(), problem.clone()));
                return Err(problem);
            }
            // One word for a folder is enough for all that is below.
            if !looked.told.iter().any(|told| place.starts_with(told)) {
                looked.told.push(place.to_owned());
                tracing::warn!("{problem}");
            }
        }
    }
    Ok(())
}

impl Judge {
    /// This process.
    fn this() -> Self {
        let own = Uid::effective().as_raw();
        let behind = BEHIND.get().copied().filter(|_| own == 0);
        Self { own, behind }
    }

    /// Who else has a hand in what is run; in a folder above it nobody can change what is another's where the
    /// folder is sticky.
    fn other_hand(self, metadata: &Metadata, is_above: bool) -> Option<Hand> {
        let is_kept = is_above && metadata.is_dir() && metadata.mode() & STICKY != 0;
        if let Some(others) = others_with(Right::Write, metadata).filter(|_| !is_kept) {
            return Some(Hand::Writes(others));
        }
        let owner = metadata.uid();
        let is_trusted = owner == 0 || owner == self.own || Some(owner) == self.behind;
        (!is_trusted).then_some(Hand::Owns(owner))
    }
}

fn told(path: &Path, hand: &Hand) -> String {
    let shown = path.display();
    match hand {
        Hand::Writes(Others::Everybody) => {
            format!("all users can write {shown}: remove that permission with `chmod o-w {shown}`")
        }
        Hand::Writes(Others::Group(group)) => {
            let found = Group::from_gid((*group).into()).ok().flatten();
            let name = found.map_or_else(|| group.to_string(), |group| group.name);
            format!(
                "the group {name} can write {shown}, and so change what devgate runs: remove that permission with \
                 `chmod g-w {shown}`"
            )
        }
        Hand::Owns(owner) => {
            let found = User::from_uid((*owner).into()).ok().flatten();
            let name = found.map_or_else(|| owner.to_string(), |user| user.name);
            format!("{shown} belongs to the user {name}, who can change what devgate runs")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    const ROOT: Judge = Judge {
        own: 0,
        behind: None,
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
    fn what_everybody_may_write_is_refused_for_root_and_so_is_what_lies_below_it() {
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
                    // Not only the first one who asks is refused.
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
    fn others_than_root_are_warned_and_refused_nothing() {
        let base = folder();
        let path = file(base.path(), 0o777, 0o666);
        let judge = Judge {
            own: 1000,
            behind: None,
        };
        assert_eq!(check_by(judge, &path), Ok(()));
    }

    #[test]
    fn what_another_user_has_is_his_hand_but_not_that_of_the_user_behind_sudo() {
        let base = folder();
        let path = file(base.path(), 0o755, 0o644);
        let metadata = fs::metadata(&path).expect("it is there");
        let owner = metadata.uid();
        let judge = |own, behind| Judge { own, behind }.other_hand(&metadata, false);
        assert_eq!(judge(owner, None), None);
        assert_eq!(judge(4242, Some(owner)), None);
        let expected = (owner != 0).then_some(Hand::Owns(owner));
        assert_eq!(judge(4242, None), expected);
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
        assert_eq!(stays(&inner, &roots), Ok(()));
        assert_eq!(check_all(base.path(), &roots), Ok(()));
        symlink(&secret, &outer).expect("linked");
        let problem = stays(&outer, &roots).expect_err("it leads out");
        assert!(problem.contains("outside the module path"), "{problem}");
        assert_eq!(check_all(base.path(), &roots), Err(problem));
    }
}
