//! Hosts that run programs over SSH: one connection carries many programs at once.

mod cat;
mod exec;
mod forward;
mod put;
mod relay;
mod settings;
mod sftp;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

pub use crate::output::{Exit, Piece};
use crate::ssh::Ssh;
use crate::{Context, ProxyConnection, Result};
pub use exec::{Exec, Output, Stdin};
pub use put::{Source, Upload};
pub use relay::Relay;
pub use settings::HostSettings;

/// An open connection to a host that runs programs.
///
/// Programs run in parallel, each on its own channel, and do not block each other. The host limits their
/// number (`MaxSessions`, 10 by default): see [`exec`](Self::exec).
pub struct SshHost {
    ssh: Ssh,
    settings: HostSettings,
    /// Whether the host turned out to have no SFTP.
    without_sftp: AtomicBool,
    /// Whether a program was started on the connection.
    has_run_program: AtomicBool,
}

impl SshHost {
    /// Connects, checks the host key and logs in. Retries within the context's retry budget.
    ///
    /// # Errors
    /// Fails when the host cannot be reached, is not trusted, or refuses the credentials.
    pub async fn connect(ctx: &Context<'_>, settings: &HostSettings) -> Result<Self> {
        let shared = settings.ssh_settings();
        let what = format!("connect to {}", shared.peer());
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        loop {
            let deadline = shared.deadline();
            match attempts.attempt(Ssh::connect(ctx, shared, deadline)).await {
                Ok(ssh) => {
                    return Ok(Self {
                        ssh,
                        settings: settings.clone(),
                        without_sftp: AtomicBool::new(false),
                        has_run_program: AtomicBool::new(false),
                    });
                }
                Err(error) => attempts.pause(error).await?,
            }
        }
    }

    /// Starts a program: a command line for the account's shell.
    ///
    /// Except with Dropbear, this does not wait for the host's confirmation that the program has started. Data for its
    /// standard input is sent after the request, and a refusal is the first item of its output.
    ///
    /// # Errors
    /// Fails with [`Error::NoMoreSessions`](crate::Error::NoMoreSessions) when this connection carries as many
    /// programs as the host allows. Then nothing was started: use another connection, or wait until a program on
    /// this one ends. On a connection without programs, the error means that the host allows none. Any other error
    /// says why the connection can no longer be used.
    pub async fn exec(&self, command: &str) -> Result<Exec> {
        let channel = self.ssh.program(command, self.deadline()).await?;
        self.has_run_program.store(true, Ordering::Relaxed);
        Ok(Exec::over(channel, self.ssh.peer().clone()))
    }

    /// Uploads files in parallel: by SFTP, or with `cat` if the host has no SFTP.
    ///
    /// Missing folders are created for the account only (0700). Existing files are overwritten. The upload takes one
    /// channel of this connection, or up to four without SFTP.
    ///
    /// # Errors
    /// Fails with [`Error::Upload`](crate::Error::Upload), which names a file that is missing on the host or
    /// incomplete; other files may have been uploaded. Otherwise fails as [`exec`](Self::exec) does.
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
        Instant::now() + self.settings.ssh_settings().timeout
    }

    /// Returns `host:port`, as messages name the host.
    pub fn peer(&self) -> &str {
        self.ssh.peer().name()
    }

    /// Closes the connection, within `disconnect-timeout`. Programs that still run are cut off.
    pub async fn close(self) {
        self.ssh.close().await;
    }
}

#[async_trait]
impl ProxyConnection for SshHost {
    fn is_closed(&self) -> bool {
        self.ssh.is_closed()
    }

    async fn answers(&self, limit: Duration) -> bool {
        self.ssh.answers(limit).await
    }
}

impl fmt::Debug for SshHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshHost")
            .field("peer", &self.peer())
            .finish_non_exhaustive()
    }
}

/// Quotes a word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
