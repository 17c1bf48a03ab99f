//! Hosts over SSH that run programs: one connection, many programs on it at once.

mod exec;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt;

use tokio::time::Instant;

use crate::ssh::Ssh;
use crate::{Context, Result};
pub use exec::{Exec, Exit, Output, Piece, Stdin};
pub use settings::HostSettings;

/// An open connection to a host that runs programs.
///
/// Programs run side by side, each on a channel of its own, and none can hold up another. The host
/// limits how many there may be (`MaxSessions`, 10 where nobody says otherwise): see
/// [`exec`](Self::exec).
pub struct SshHost {
    ssh: Ssh,
    settings: HostSettings,
}

impl SshHost {
    /// Connects, checks the host's key and logs in, retrying within the context's patience.
    ///
    /// # Errors
    /// Why the host cannot be reached, is not trusted, or refuses the credentials.
    pub async fn connect(ctx: &Context<'_>, settings: &HostSettings) -> Result<Self> {
        let shared = settings.shared();
        let what = format!("connect to {}", shared.peer());
        let mut attempts = ctx.patience().attempts(ctx, what);
        loop {
            let deadline = Instant::now() + shared.timeout;
            match attempts.within(Ssh::connect(ctx, shared, deadline)).await {
                Ok(ssh) => {
                    let settings = settings.clone();
                    return Ok(Self { ssh, settings });
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
        let deadline = Instant::now() + self.settings.shared().timeout;
        let channel = self.ssh.program(command, deadline).await?;
        Ok(Exec::over(channel, self.ssh.peer().clone()))
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
