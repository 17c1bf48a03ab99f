//! `nxapi`: switches with Cisco's NX-OS, whose command line is behind HTTP.

mod message;
mod session;

pub use session::NxapiSession;
