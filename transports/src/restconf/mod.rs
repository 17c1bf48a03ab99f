//! `restconf`: devices with RESTCONF (RFC 8040): data that YANG models describe.

mod errors;
mod facts;
mod root;
mod session;
#[cfg(test)]
mod tests;

pub use session::RestconfSession;
