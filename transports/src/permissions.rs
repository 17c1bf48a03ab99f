//! Who besides its owner may use a file.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{Gid, Group, Uid, User};

/// What others than the owner may do with a file or folder, as its mode has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Read what is in it.
    Read = 0o4,
    /// Change what is in it.
    Write = 0o2,
    /// Go through it to what is below.
    Enter = 0o1,
}

/// Who has a right to a file beside its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// Everybody.
    Everybody,
    /// A group in which there may be somebody else than the owner.
    Group(u32),
}

/// Who has this right beside the owner, if anybody has.
///
/// A group that is the owner's own (as where each user has one) is nobody else.
pub fn others_with(right: Right, metadata: &Metadata) -> Option<Others> {
    let (mode, right) = (metadata.mode(), right as u32);
    if mode & right != 0 {
        return Some(Others::Everybody);
    }
    let group = metadata.gid();
    let by_group = mode & (right << 3) != 0 && !is_own_group(metadata.uid(), group);
    by_group.then_some(Others::Group(group))
}

/// Whether a file can be read by others than its owner: by its own mode, and by those of all folders
/// above it. A file that is not there cannot.
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

/// Whether a group is a user's alone: it is the first one of the user, is named alike or has the same
/// number, and lists nobody else.
fn is_own_group(user: u32, group: u32) -> bool {
    let found = User::from_uid(Uid::from_raw(user)).ok().flatten();
    let Some(found) = found else {
        // Nobody knows more in a container without names.
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
        // In a folder that everybody can enter: /tmp is one.
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
        // Nobody has this number.
        let nobody = 3_999_999_999;
        assert!(is_own_group(nobody, nobody) && !is_own_group(nobody, 0));
    }
}
