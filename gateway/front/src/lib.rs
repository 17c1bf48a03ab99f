//! What the front ends share: options, output, log, signals, and following a run.

pub mod arguments;
pub mod attend;
pub mod ending;
pub mod interrupt;
pub mod logdest;
pub mod options;
pub mod output;
pub mod paint;
pub mod printer;
pub mod prompt;
pub mod setting;
pub mod summary;
pub mod voice;
pub mod wrap;
