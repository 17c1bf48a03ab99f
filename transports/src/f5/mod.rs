//! `f5`: BIG-IP of F5, by iControl REST.

mod session;

pub use session::F5Session;
