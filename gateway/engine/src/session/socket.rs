//! Private sockets in a folder that no other user can enter. Each is removed when it is dropped.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use devgate_transports::Environment;
use nix::unistd::{Uid, geteuid};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};

/// A folder for the sockets of one run. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Sockets {
    folder: TempDir,
    count: AtomicUsize,
}

/// A listening socket.
#[derive(Debug)]
pub(super) struct Socket {
    listener: UnixListener,
    path: String,
}

impl Sockets {
    /// Creates a folder: in the user's runtime directory (`XDG_RUNTIME_DIR`), else in memory, else in the directory for
    /// temporary files. Creating a socket on a disk takes ten times as long.
    ///
    /// # Errors
    /// Fails when no folder can be created.
    pub(super) fn new(environment: &Environment) -> io::Result<Self> {
        let runtime = environment.variable("XDG_RUNTIME_DIR").map(PathBuf::from);
        let base_folders = runtime.into_iter().chain([PathBuf::from("/dev/shm")]);
        base_folders
            .filter(|base| base.is_absolute() && base.is_dir())
            .find_map(|base| Self::new_in(&base).ok())
            .map_or_else(|| Self::new_in(&environment.temporary()), Ok)
    }

    fn new_in(base: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("devgate-session-")
            .permissions(Permissions::from_mode(0o700))
            // A task may change its directory and must still find the socket.
            .tempdir_in(std::path::absolute(base)?)?;
        Ok(Self {
            folder,
            count: AtomicUsize::new(0),
        })
    }

    /// Creates another socket.
    ///
    /// # Errors
    /// Fails when the socket cannot be created, mostly because its path is too long for a socket.
    pub(super) fn bind(&self) -> io::Result<Socket> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.path().join(number.to_string());
        let problem =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let Some(text) = path.to_str() else {
            return Err(problem(io::Error::other("the path is not UTF-8")));
        };
        let listener = UnixListener::bind(&path).map_err(problem)?;
        let socket = Socket {
            listener,
            path: text.to_owned(),
        };
        fs::set_permissions(&path, Permissions::from_mode(0o600)).map_err(problem)?;
        Ok(socket)
    }
}

impl Socket {
    /// Returns the path of the socket.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Waits for the next client.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // A socket that cannot be removed now is removed with its folder.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the peer of a connection is a process of our own user, or of root.
///
/// # Errors
/// Fails when the system does not tell the credentials of the peer.
pub(super) fn is_trusted(stream: &UnixStream) -> io::Result<bool> {
    let peer = Uid::from_raw(stream.peer_cred()?.uid());
    Ok(peer == geteuid() || peer.is_root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sockets_are_private_and_leave_nothing() {
        let base = tempfile::tempdir().expect("a temporary folder can be made");
        let sockets = Sockets::new_in(base.path()).expect("it can be made");
        let [one, other] = [(); 2].map(|()| sockets.bind().expect("it can be made"));
        let path = PathBuf::from(one.path());
        let folder = path.parent().expect("it is in a folder").to_owned();
        let mode = |path: &Path| {
            let metadata = fs::metadata(path).expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
        let client = UnixStream::connect(&path).await.expect("somebody listens");
        assert!(is_trusted(&client).expect("the system knows"));
        drop(one);
        assert!(!path.exists() && Path::new(other.path()).exists());
        drop(sockets);
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_reported() {
        let base = tempfile::tempdir().expect("a temporary folder can be made");
        let deep = base.path().join("x".repeat(120));
        fs::create_dir(&deep).expect("a folder can be made");
        let sockets = Sockets::new_in(&deep).expect("it can be made");
        let error = sockets.bind().expect_err("it is too long").to_string();
        assert!(error.contains("/devgate-session-"), "{error}");
    }
}
