//! Hosts: where programs run. This node is one; every normal target is one, for its own tasks and,
//! as a proxy, for those of remote targets.

mod execution;
mod host;
mod local;
mod settings;
mod shell;
mod stage;
mod teller;
mod words;

pub use execution::Ended;
pub(crate) use execution::{Order, TaskOutput};
pub(crate) use host::Host;
pub(crate) use settings::Budget;
pub use settings::Settings;
pub(crate) use shell::Shell;
pub(crate) use teller::Teller;
