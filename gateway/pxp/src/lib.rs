//! PXP in both roles: devgate as a module for pxp-agent, and as a host for other modules.

pub mod commands;
mod host;
mod module;
