//! What the front ends share: options, output, log, signals, and following a run.

pub mod arguments;
pub mod command_context;
pub mod exit_status;
pub mod follow;
pub mod logdest;
pub mod logger;
pub mod options;
pub mod paint;
pub mod print_queue;
pub mod printer;
pub mod prompt;
pub mod signals;
pub mod summary;
pub mod wrap;
