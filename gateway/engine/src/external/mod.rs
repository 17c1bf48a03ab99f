//! Programs of modules that are transports, or manage types of resources. What they must keep to is
//! written in docs/external.md; what is above the registry cannot tell them from what is built in.

mod action;
mod event;
mod folder;
mod program;
mod resource_type;
mod results;
mod ruby;
mod session;
mod talk;

pub(crate) use folder::{Programs, name_of};
pub(crate) use ruby::RubyTransport;
