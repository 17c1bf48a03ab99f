//! Programs in modules that are transports or manage resource types. Their contract is docs/external.md. For everything
//! above the registry, they look like built-in ones.

mod action;
mod event;
mod family_files;
mod family_program;
mod on_proxy;
mod persistent;
mod programs;
mod resource_type;
mod results;
mod ruby;
mod session;

pub(crate) use programs::{Programs, name_of};
pub(crate) use ruby::RubyTransport;
