//! The work of a run on one target, and what it shares with the work on the other targets.

mod context;
mod failures;
mod limits;
mod target_job;

pub use context::RunContext;
pub(crate) use failures::interrupted;
pub use failures::panicked;
pub(crate) use limits::RunId;
pub use limits::{CONCURRENCY, RunLimits};
pub use target_job::TargetJob;
