//! Hosts over SSH that run programs: one connection, many programs on it at once.

mod cat;
mod exec;
mod put;
mod settings;
mod sftp;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::time::Instant;

use crate::ssh::Ssh;
use crate::{Context, Result};
pub use exec::{Exec, Exit, Output, Piece, Stdin};
pub use put::{Source, Upload};
pub use settings::HostSettings;

/// An open connection to a host that runs programs.
///
/// Programs run side by side, each on a channel of its own, and none can hold up another. The host
/// limits how many there may be (`MaxSessions`, 10 where nobody says otherwise): see
/// [`exec`](Self::exec).
pub struct SshHost {
    ssh: Ssh,
    settings: HostSettings,
    /// Whether the host has shown that it has no SFTP.
    without_sftp: AtomicBool,
}

impl SshHost {
    /// Connects, checks the host's key and logs in, retrying within the context's patience.
    ///
    /// # Errors
    /// Why the host cannot be reached, is not trusted, or refuses the credentials.
    pub async fn connect(ctx: &Context<'_>, settings: &HostSettings) -> Result<Self> {
        let shared = settings.shared();
        let what = format!("connect to {}", shared.peer());
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        loop {
            let deadline = shared.deadline();
            match attempts.within(Ssh::connect(ctx, shared, deadline)).await {
                Ok(ssh) => {
                    return Ok(Self {
                        ssh,
                        settings: settings.clone(),
                        without_sftp: AtomicBool::new(false),
                    });
                }
                Err(error) => attempts.pause(error).await?,
            }
        }
    }

    /// Starts a program: a command line for the account's shell.
    ///
    /// It does not wait for the host to say that the program has started: what is written to its
    /// standard input travels behind the request, and a refusal is the first thing that its output
    /// gives.
    ///
    /// # Errors
    /// [`Error::NoMoreSessions`](crate::Error::NoMoreSessions) where this connection carries as
    /// many programs as the host allows: nothing was started, and another connection, or the end
    /// of a program on this one, makes room. On a connection that carries nothing it means that
    /// the host allows none. Otherwise why the connection is of no use any more.
    pub async fn exec(&self, command: &str) -> Result<Exec> {
        let channel = self.ssh.program(command, self.deadline()).await?;
        Ok(Exec::over(channel, self.ssh.peer().clone()))
    }

    /// Puts files on the host, many at once: by SFTP, or with `cat` where the host has none.
    ///
    /// Folders that are missing are made, for the account alone (0700). A file that was there is
    /// overwritten. It takes one channel of this connection, or up to four without SFTP.
    ///
    /// # Errors
    /// [`Error::Upload`](crate::Error::Upload) names the file that is not there, or not whole;
    /// those before and behind it may be there. As [`exec`](Self::exec) otherwise.
    pub async fn put(&self, files: &[Upload]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        if !self.without_sftp.load(Ordering::Relaxed) {
            match sftp::open(&self.ssh, self.deadline()).await? {
                Some(session) => return session.put(files).await,
                None => self.without_sftp.store(true, Ordering::Relaxed),
            }
        }
        cat::put(self, files).await
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.settings.shared().timeout
    }

    /// `host:port`, as messages name it.
    pub fn peer(&self) -> &str {
        self.ssh.peer().name()
    }

    /// Whether the connection has ended: every program on it was told so.
    pub fn is_closed(&self) -> bool {
        self.ssh.is_closed()
    }

    /// Says goodbye and lets go, within `disconnect-timeout`. Programs that still run are cut off.
    pub async fn close(self) {
        self.ssh.close().await;
    }
}

impl fmt::Debug for SshHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshHost")
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
