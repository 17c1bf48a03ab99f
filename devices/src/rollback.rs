//! A way back: what lets a run that failed leave its device as it found it.

mod blocks;
mod cli;
mod netconf;
mod safety;

pub(crate) use cli::Checkpoint;
pub(crate) use netconf::Running;
pub use safety::{Mark, Safety};
