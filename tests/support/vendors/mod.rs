//! Simulated HTTP devices that are not available in the lab, written from their vendors' public
//! documentation or from an RFC. Each keeps its changes, so that a test can see them.

pub(crate) mod eapi;
pub(crate) mod f5;
pub(crate) mod nxapi;
pub(crate) mod panos;
pub(crate) mod restconf;

pub(crate) const USER: &str = "admin";
pub(crate) const PASSWORD: &str = "vendor-canary-password";
