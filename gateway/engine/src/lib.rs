//! The engine: the operations on targets, and everything that carries them out, for many runs at once.

pub mod device_run;
pub mod engine;
mod external;
mod family;
pub mod hosts;
pub mod inventory;
pub mod job;
pub mod manifest;
pub mod operations;
pub mod plugins;
pub mod process;
pub mod project;
mod proxies;
pub mod record;
pub mod registry;
pub mod run;
pub mod session;
pub mod store;
pub mod stream;
mod task_run;
pub mod tasks;
pub mod workspace;
