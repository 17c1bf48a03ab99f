//! Starts a host's shell, writes to it and reads from it: over SSH, or as a child process on this node.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use devgate_core::failure::Failure;
use devgate_transports::ssh_host::{self, Exec, Piece};
use devgate_transports::{Context, Error, SshHost};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

use super::lines::{Lease, Lines};
use super::script::Script;
use super::talk::SILENT;
use crate::process::{self, PipedChild};

/// How a host's shell is reached.
pub(super) enum Way {
    Ssh(Arc<Lines>),
    /// The shell of this node.
    Here,
}

/// The standard input of a started script. It is closed when this is dropped.
pub(super) enum Stdin {
    Ssh(ssh_host::Stdin),
    Here(ChildStdin),
}

/// The output of a started script, and how it ends. If this is dropped before, the script is abandoned; on this node,
/// it is killed as far as permissions allow.
pub(super) enum Output<'a> {
    Ssh {
        output: ssh_host::Output,
        _lease: Lease<'a>,
    },
    Here(Box<PipedChild>),
}

impl Way {
    /// Opens the first connection, where one is needed.
    ///
    /// # Errors
    /// Fails when no connection can be opened.
    pub(super) async fn reach(&self, ctx: &Context<'_>) -> Result<(), Failure> {
        match self {
            Self::Ssh(lines) => Ok(lines.reach(ctx).await?),
            Self::Here => Ok(()),
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
        before: &[String],
    ) -> Result<(Stdin, Output<'_>), Failure> {
        match self {
            Self::Ssh(lines) => {
                let command = script.command(before)?;
                let start = async |host: &SshHost| host.exec(&command).await;
                let (Exec { stdin, output }, _lease) = lines.start(ctx, start).await?;
                Ok((Stdin::Ssh(stdin), Output::Ssh { output, _lease }))
            }
            Self::Here => {
                let words: Vec<_> = script.line(before).map(Into::into).collect();
                let started = process::piped(words).await;
                let (stdin, pieces) = started.map_err(|error| {
                    let program = script.line(before).next().unwrap_or_default();
                    Failure::new(SILENT, format!("{program}: {error}"))
                })?;
                Ok((Stdin::Here(stdin), Output::Here(Box::new(pieces))))
            }
        }
    }

    /// Closes the connections to the host.
    pub(super) async fn close(&self, ctx: &Context<'_>) {
        if let Self::Ssh(lines) = self {
            ctx.debug(format!("closing {} connections", lines.count()));
            lines.close().await;
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
            Self::Here(stdin) => stdin.write_all(&bytes).await,
        }
    }
}

impl Output<'_> {
    /// Returns the next piece of output. The future may be dropped while it waits.
    ///
    /// # Errors
    /// Fails when the connection was lost; whether the script still runs is not known.
    pub(super) async fn next(&mut self) -> Result<Piece, Error> {
        match self {
            Self::Ssh { output, .. } => output.next().await,
            Self::Here(pieces) => Ok(pieces.next().await),
        }
    }
}
