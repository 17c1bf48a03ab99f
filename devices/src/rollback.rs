//! A way back: what lets a run that failed leave its device as it found it.

mod blocks;
mod cli;
mod device_rollback;
mod netconf;

pub(crate) use cli::CliRollback;
pub use device_rollback::{DeviceRollback, RestorePoint};
pub(crate) use netconf::NetconfRollback;
