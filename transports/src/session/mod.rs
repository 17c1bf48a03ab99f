//! Sessions with targets: what they can do, and the context of a call.

mod actions;
mod context;
mod resources;
#[cfg(test)]
mod tests;
mod transport;

pub use actions::{Block, Doing};
pub use context::Context;
pub use resources::{AttributeChange, Failure, Mode, Resources};
pub use transport::{CommandLine, DataStore, Opening, Transport};
