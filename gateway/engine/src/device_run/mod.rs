//! Device runs: a catalog is checked before anything is sent, and then applied.

mod audit;
mod canonical;
mod catalog;
mod compare;
mod diff;
mod difference;
mod entry;
mod failure;
mod format;
mod graph;
mod metaparameters;
mod plan;
mod puppet_report;
mod relate;
mod rows;
mod run_rollback;
mod schedule;
mod tags;
#[cfg(test)]
mod tests;
mod text;
mod transaction;
mod type_run;

pub(crate) use audit::Audited;
pub use catalog::invalid;
pub(crate) use catalog::{
    AttributeLocations, Catalog, Container, Meta, Ref, Relation, SourceLocation,
};
pub use failure::{RESOURCE_FAILURE, failure};
pub(crate) use plan::Plan;
pub(crate) use puppet_report::{as_puppet_yaml, puppet_report};
pub use rows::Strict;
pub(crate) use rows::{Checked, Strictness};
pub use text::text;
pub use transaction::Options;
pub(crate) use transaction::run;
