//! A private socket: in a folder of its own that nobody else can enter, gone when it is dropped.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, geteuid};
use tempfile::TempDir;
use tokio::net::{UnixListener, UnixStream};

/// A socket that is listened on.
#[derive(Debug)]
pub(super) struct Socket {
    listener: UnixListener,
    path: String,
    /// Removed, with the socket in it, when this is dropped.
    _folder: TempDir,
}

impl Socket {
    /// A new socket: in the user's folder for such things (`XDG_RUNTIME_DIR`), else in the one for
    /// temporary files.
    ///
    /// # Errors
    /// Why it cannot be made: mostly a path that is too long for a socket.
    pub(super) fn bind() -> io::Result<Self> {
        let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        if let Some(folder) = runtime.filter(|folder| folder.is_absolute())
            && let Ok(socket) = Self::bind_in(&folder)
        {
            return Ok(socket);
        }
        Self::bind_in(&env::temp_dir())
    }

    fn bind_in(base: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("devgate-session-")
            .permissions(Permissions::from_mode(0o700))
            // A task may change its directory, and must find the socket all the same.
            .tempdir_in(std::path::absolute(base)?)?;
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let path = path.into_os_string().into_string().map_err(|path| {
            let problem = format!("{}: the path is not UTF-8", path.display());
            io::Error::new(io::ErrorKind::InvalidInput, problem)
        })?;
        Ok(Self {
            listener,
            path,
            _folder: folder,
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        self.listener.accept().await.map(|(stream, _)| stream)
    }
}

/// Whether the other end of a connection is a process of our own user, or of root.
///
/// # Errors
/// What the system says.
pub(super) fn is_trusted(stream: &UnixStream) -> io::Result<bool> {
    let peer = Uid::from_raw(stream.peer_cred()?.uid());
    Ok(peer == geteuid() || peer.is_root())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_private_and_leaves_nothing() {
        let base = tempfile::tempdir().expect("a temporary folder can be made");
        let socket = Socket::bind_in(base.path()).expect("it can be made");
        let path = PathBuf::from(socket.path());
        let folder = path.parent().expect("it is in a folder").to_owned();
        let mode = |path: &Path| {
            let metadata = fs::metadata(path).expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
        let client = UnixStream::connect(&path).await.expect("somebody listens");
        assert!(is_trusted(&client).expect("the system knows"));
        drop(socket);
        assert!(!folder.exists());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_said_and_leaves_nothing() {
        let base = tempfile::tempdir().expect("a temporary folder can be made");
        let deep = base.path().join("x".repeat(120));
        fs::create_dir(&deep).expect("a folder can be made");
        let error = Socket::bind_in(&deep).expect_err("it is too long");
        assert!(error.to_string().contains("/socket: "), "{error}");
        assert_eq!(fs::read_dir(&deep).expect("it is there").count(), 0);
    }
}
