//! A host of any kind.

use std::collections::BTreeSet;
use std::sync::Weak;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_transports::hosted_program::{HostedProcess, HostedProgram};
use devgate_transports::{ByteStream, Context, Destination, ProxyConnection, dial};
use tokio::time::Instant;

use super::local::Local;
use super::shell::{ForwardError, Shell, TaskSession};
use super::{TaskBudget, TaskControl, TaskHostSettings, TaskNotRun, TaskOutput};
use crate::tasks::Invocation;

/// A host that runs tasks, for the duration of one run of devgate.
#[derive(Debug)]
pub(crate) enum Host<'v> {
    /// This node, under our own user.
    Local(Box<Local>),
    /// A host behind SSH, or this node under another user.
    Shell(Box<Shell<'v>>),
}

/// How tasks on a host reach a session that this process holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LendingWay {
    /// Over a socket of this node, which belongs to our own user.
    Socket,
    /// Over a relay on the host.
    Relay,
    /// Not at all: another user of this node does not get our sessions.
    None,
}

impl Host<'_> {
    /// Creates the host for this node, under our own user.
    pub(crate) fn local(settings: TaskHostSettings) -> Self {
        Self::Local(Box::new(Local::new(settings)))
    }

    /// Returns the features of the host that tasks may require.
    pub(crate) fn features(&self) -> &BTreeSet<String> {
        match self {
            Self::Local(local) => local.features(),
            Self::Shell(shell) => shell.features(),
        }
    }

    /// Returns the limits of each task on the host.
    pub(crate) fn budget(&self) -> &TaskBudget {
        match self {
            Self::Local(local) => local.budget(),
            Self::Shell(shell) => shell.budget(),
        }
    }

    /// Returns how tasks on the host reach a session that this process holds.
    pub(crate) fn lending_way(&self) -> LendingWay {
        match self {
            Self::Local(_) => LendingWay::Socket,
            Self::Shell(shell) => match shell.connections() {
                Some(_) => LendingWay::Relay,
                None => LendingWay::None,
            },
        }
    }

    /// Runs a task. When this future is dropped, the task's processes are killed: at once on this node under our own
    /// user, otherwise when the host is closed.
    ///
    /// # Errors
    /// Fails when the task could not be started or executed, or took too long. A failure of the task itself is in its
    /// output.
    pub(crate) async fn run(
        &self,
        invocation: Invocation,
        control: TaskControl<'_>,
    ) -> Result<TaskOutput, TaskNotRun> {
        self.run_with(invocation, control, TaskSession::None).await
    }

    /// Runs a task as [`run`](Self::run) does, with a session. On this node, the invocation names the session instead.
    ///
    /// # Errors
    /// Fails as [`run`](Self::run).
    pub(crate) async fn run_with(
        &self,
        invocation: Invocation,
        control: TaskControl<'_>,
        session: TaskSession<'_>,
    ) -> Result<TaskOutput, TaskNotRun> {
        match self {
            Self::Local(local) => Ok(local.run(invocation, control).await?),
            // Boxed, so that a task on this node does not carry the space for one behind a shell.
            Self::Shell(shell) => Box::pin(shell.run(&invocation, control, session)).await,
        }
    }

    /// Starts a program of a family, or returns `None` on this node under our own user, where the caller can start it.
    ///
    /// # Errors
    /// Fails when the host cannot run the program, or cannot be reached.
    pub(crate) async fn start_program(
        &self,
        program: &HostedProgram<'_>,
    ) -> Result<Option<HostedProcess>, Failure> {
        match self {
            Self::Local(_) => Ok(None),
            Self::Shell(shell) => shell.start_program(program).await.map(Some),
        }
    }

    /// Connects from the host to another place.
    ///
    /// # Errors
    /// Fails with the error of the host, or of the destination.
    pub(crate) async fn forward(
        &self,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> Result<Box<dyn ByteStream>, ForwardError> {
        let connections = match self {
            Self::Local(_) => None,
            Self::Shell(shell) => shell.connections(),
        };
        match connections {
            Some(connections) => connections.forward(ctx, to, limit, deadline).await,
            // A connection from this node.
            None => {
                let stream = dial::connect(ctx, to, limit, deadline).await;
                stream.map_err(ForwardError::Destination)
            }
        }
    }

    /// Returns a connection to the host, without keeping it open. `None` for this node.
    pub(crate) fn connection(&self) -> Option<Weak<dyn ProxyConnection>> {
        match self {
            Self::Local(_) => None,
            Self::Shell(shell) => Some(shell.connections()?.connection() as _),
        }
    }

    /// Closes the host and removes everything of this run from it.
    pub(crate) async fn close(&self) {
        match self {
            // The staged files on this node are removed when they are dropped.
            Self::Local(_) => {}
            Self::Shell(shell) => shell.close().await,
        }
    }
}
