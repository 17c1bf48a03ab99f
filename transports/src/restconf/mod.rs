//! `restconf`: devices with RESTCONF (RFC 8040), which provides data according to YANG models.

mod errors;
mod facts;
mod root;
mod session;
#[cfg(test)]
mod tests;

pub use session::RestconfSession;
