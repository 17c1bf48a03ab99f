//! Hosts: where programs run. This node is a host. Every normal target is one, for its own tasks and, as a proxy, for
//! those of remote targets.

mod command_line;
mod execution;
mod host;
mod host_context;
mod local;
mod settings;
mod shell;
mod stage;

pub use execution::TaskNotRun;
pub(crate) use execution::{TaskControl, TaskOutput};
pub(crate) use host::{Host, LendingWay};
pub(crate) use host_context::HostContext;
pub(crate) use settings::TaskBudget;
pub use settings::TaskHostSettings;
pub(crate) use shell::{ForwardError, Lend, RelayedClients, Shell, SshConnections, TaskSession};
