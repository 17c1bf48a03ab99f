//! The managed world: families, facts, resource types and providers. This crate starts no process and knows
//! no HTTP server and no command line.
//!
//! A [`Family`] is a kind of device: a [`Connect`](devgate_transports::Connect) with facts and
//! resource types. All of it is data that a network engineer can write. A [`ResourceType`] makes a
//! [`Provider`] for each transaction, which reads and changes the device through the session that
//! the [`Context`](devgate_transports::Context) lends. Types that need code implement
//! [`SimpleProvider`] or [`Provider`]; nothing above can distinguish the two kinds.

mod body;
mod command_line;
mod commit_check;
mod declared;
mod error;
#[cfg(test)]
mod fake;
mod family;
mod file_node;
#[doc(hidden)]
pub mod fuzz;
mod keys;
mod line;
mod provider;
mod rollback;
mod simple;
mod source;
mod template;
mod textfsm;

pub use error::{Error, Location, Problem, Result};
pub use family::{
    BuiltIn, CaseResult, Comparison, Family, Finding, LiveCase, Recording, Skeleton, TypeTable,
    UpdateExpected, all,
};
pub use keys::FamilyDocument;
pub use provider::{
    Change, Changes, CurrentState, InSync, Provider, ResourceFilter, ResourceType, SecretVisibility,
};
pub use rollback::{DeviceRollback, RestorePoint};
pub use simple::SimpleProvider;
pub use source::{Unanswered, has_command_line};
pub use textfsm::{CommandTemplates, Table, TemplateCollection};
