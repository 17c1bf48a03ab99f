//! Starts a host's shell, writes to it and reads from it: over SSH, or as a child process on this node.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use devgate_core::failure::Failure;
use devgate_transports::ssh_host::{self, Exec, Piece};
use devgate_transports::{Context, Error, SshHost};
use futures_util::FutureExt;
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use super::connections::{ConnectionLease, SshConnections};
use super::running_script::NO_MARK;
use super::script::Script;
use crate::process::{self, PipedChild};

/// How a host's shell is reached.
pub(super) enum ShellAccess {
    Ssh(Arc<SshConnections>),
    /// The shell of this node.
    Local,
}

/// The standard input of a started script. It is closed when this is dropped.
pub(super) enum Stdin {
    Ssh(ssh_host::Stdin),
    Local(ChildStdin),
}

/// The output of a started script, and how it ends. If this is dropped before, the script is abandoned; on this node,
/// it is killed as far as permissions allow.
pub(super) enum Output {
    Ssh {
        output: ssh_host::Output,
        _lease: ConnectionLease,
    },
    Local(Box<PipedChild>),
}

impl ShellAccess {
    /// Opens the first connection, where one is needed.
    ///
    /// # Errors
    /// Fails when no connection can be opened.
    pub(super) async fn connect(&self, ctx: &Context<'_>) -> Result<(), Failure> {
        match self {
            Self::Ssh(connections) => Ok(connections.connect(ctx).await?),
            Self::Local => Ok(()),
        }
    }

    /// Starts a script, with the words that change the user before it.
    ///
    /// # Errors
    /// Fails when the script was not started.
    pub(super) async fn start(
        &self,
        ctx: &Context<'_>,
        script: &Script,
        prefix: &[String],
    ) -> Result<(Stdin, Output), Failure> {
        match self {
            Self::Ssh(connections) => {
                let command_line = script.command_line(prefix)?;
                let start = |host: Arc<SshHost>| {
                    let command_line = command_line.clone();
                    async move { host.exec(&command_line).await }.boxed()
                };
                let (Exec { stdin, output }, _lease) = connections.start(ctx, start).await?;
                Ok((Stdin::Ssh(stdin), Output::Ssh { output, _lease }))
            }
            Self::Local => {
                let argv: Vec<_> = script.argv(prefix).map(Into::into).collect();
                let started = process::start_piped(argv).await;
                let (stdin, child) = started.map_err(|error| {
                    let program = script.argv(prefix).next().unwrap_or_default();
                    Failure::new(NO_MARK, format!("{program}: {error}"))
                })?;
                Ok((Stdin::Local(stdin), Output::Local(Box::new(child))))
            }
        }
    }

    /// Waits until the host turns out not to answer within this time. This ends only if a connection is open and silent.
    pub(super) async fn silence(&self, limit: Duration) {
        match self {
            Self::Ssh(connections) => connections.silence(limit).await,
            Self::Local => pending().await,
        }
    }

    /// Drops the connections to a host that does not answer.
    pub(super) fn abandon(&self) {
        if let Self::Ssh(connections) = self {
            connections.abandon();
        }
    }

    /// Closes the connections to the host.
    pub(super) async fn close(&self, ctx: &Context<'_>) {
        if let Self::Ssh(connections) = self {
            ctx.debug(format!("closing {} connections", connections.count()));
            connections.close().await;
        }
    }
}

impl Stdin {
    /// Writes bytes, however long their reader takes.
    ///
    /// # Errors
    /// Fails when nobody reads them any more. The output tells why.
    pub(super) async fn write_all(&mut self, bytes: Bytes) -> io::Result<()> {
        match self {
            Self::Ssh(stdin) => stdin.write_all(bytes).await,
            Self::Local(stdin) => stdin.write_all(&bytes).await,
        }
    }
}

impl Output {
    /// Returns the next piece of output. The future may be dropped while it waits.
    ///
    /// # Errors
    /// Fails when the connection was lost; whether the script still runs is not known.
    pub(super) async fn next(&mut self) -> Result<Piece, Error> {
        match self {
            Self::Ssh { output, .. } => output.next().await,
            Self::Local(child) => Ok(child.next().await),
        }
    }
}
