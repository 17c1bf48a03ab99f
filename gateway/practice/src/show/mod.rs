//! The output of `show` commands, with bare line feeds.

pub(super) mod interface;
pub(super) mod interfaces;
pub(super) mod routes;
pub(super) mod running;
pub(super) mod system;
pub(super) mod vlans;
