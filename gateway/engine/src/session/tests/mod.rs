//! Sessions, with a device that is made up.

mod fake;
mod lend;
mod pool;
