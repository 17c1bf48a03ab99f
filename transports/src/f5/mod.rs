//! `f5`: F5's BIG-IP, over iControl REST.

mod session;
mod transaction;

pub use session::F5Session;
