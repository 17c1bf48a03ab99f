//! `nxapi`: switches with Cisco's NX-OS, whose command line is available over HTTP.

mod message;
mod session;

pub use session::NxapiSession;
