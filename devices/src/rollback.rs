//! Rollback: restores a device to its state from before a failed run.

mod blocks;
mod cli;
mod device_rollback;
mod netconf;

pub(crate) use cli::CliRollback;
pub use device_rollback::{DeviceRollback, RestorePoint};
pub(crate) use netconf::NetconfRollback;
