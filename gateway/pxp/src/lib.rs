//! PXP, both ways: devgate as a module that pxp-agent drives, and as a host of the modules of others.

pub mod commands;
mod host;
mod module;
