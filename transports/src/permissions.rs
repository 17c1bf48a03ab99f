//! Checking who besides its owner may use a file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User};

/// A right of others to a file or folder, as a bit of its mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Read its content.
    Read = 0o4,
    /// Change its content.
    Write = 0o2,
    /// Enter the folder.
    Enter = 0o1,
}

/// Who besides the owner has a right to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Everybody.
    Everybody,
    /// A group that may have other members than the owner.
    Group(u32),
}

/// Returns who besides the owner has this right, if anybody has.
///
/// The owner's private group (on systems where each user has one) does not count.
pub fn others_with(right: Right, metadata: &Metadata) -> Option<Others> {
    let (mode, right) = (metadata.mode(), right as u32);
    if mode & right != 0 {
        return Some(Others::Everybody);
    }
    let group = metadata.gid();
    let by_group = mode & (right << 3) != 0 && !is_own_group(metadata.uid(), group);
    by_group.then_some(Others::Group(group))
}

/// Returns whether others than its owner can read a file, judged by its mode and those of all folders
/// above it. Returns `false` for a missing file.
pub fn others_may_read(file: &Path) -> bool {
    let Ok(whole) = file.canonicalize() else {
        return false;
    };
    let has = |right: Right, path: &Path| {
        fs::metadata(path).is_ok_and(|metadata| others_with(right, &metadata).is_some())
    };
    has(Right::Read, &whole)
        && whole
            .ancestors()
            .skip(1)
            .all(|folder| has(Right::Enter, folder))
}

/// Returns whether a group is a user's private group: it is the user's primary group, has the same name or
/// number, and lists no other members.
fn is_own_group(user: u32, group: u32) -> bool {
    let found = User::from_uid(Uid::from_raw(user)).ok().flatten();
    let Some(found) = found else {
        // In a container without user names, nothing more is known.
        return user == group;
    };
    if found.gid.as_raw() != group {
        return false;
    }
    match Group::from_gid(Gid::from_raw(group)).ok().flatten() {
        None => user == group,
        Some(own) => {
            (own.name == found.name || user == group)
                && own.mem.iter().all(|member| *member == found.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_can_be_read_where_its_mode_and_those_of_all_folders_allow_it() -> std::io::Result<()>
    {
        // A folder that everybody can enter, such as /tmp.
        let base = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o755))
            .tempdir()?;
        let file = base.path().join("key");
        fs::write(&file, "x")?;
        for (folder, mode, is_read) in [
            (0o755, 0o644, true),
            (0o755, 0o600, false),
            (0o700, 0o644, false),
            (0o711, 0o604, true),
        ] {
            fs::set_permissions(base.path(), Permissions::from_mode(folder))?;
            fs::set_permissions(&file, Permissions::from_mode(mode))?;
            assert_eq!(others_may_read(&file), is_read, "{folder:o} {mode:o}");
        }
        assert!(!others_may_read(&base.path().join("none")));
        Ok(())
    }

    #[test]
    fn the_group_of_root_is_root_s_own_and_another_is_not() {
        assert!(is_own_group(0, 0));
        assert!(!is_own_group(0, 1));
        // No user has this number.
        let nobody = 3_999_999_999;
        assert!(is_own_group(nobody, nobody) && !is_own_group(nobody, 0));
    }
}
