//! Sessions with a fake device.

mod fake;
mod lend;
mod pool;
