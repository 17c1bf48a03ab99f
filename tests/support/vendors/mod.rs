//! Devices behind HTTP that cannot be had here: what they do is written from their vendors' public
//! documentation, or from an RFC. Each keeps what it is told, so that a test sees that a change is there.

pub(crate) mod eapi;
pub(crate) mod f5;
pub(crate) mod nxapi;
pub(crate) mod panos;
pub(crate) mod restconf;

pub(crate) const USER: &str = "admin";
pub(crate) const PASSWORD: &str = "vendor-canary-password";
