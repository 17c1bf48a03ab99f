//! Sessions with targets: their traits, and the context of a call.

mod actions;
mod context;
mod dial;
pub mod hosted_program;
mod resources;
#[cfg(test)]
mod tests;
mod transport;

pub use actions::{Block, ResourceAction};
pub use context::Context;
pub use dial::{ByteStream, Destination, Dial, ProxyConnection, ProxyLink};
pub use resources::{AttributeChange, Claim, Mode, ResourceFailure, Resources};
pub use transport::{CommandLine, DataStore, Opening, Transport};
