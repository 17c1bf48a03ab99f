//! Hosts PXP modules of others, as pxp-agent does.

mod call;
mod configuration;
mod describe;
mod module;
mod secrets;
pub(crate) mod spool;
mod verdict;

pub(crate) use self::call::Call;
pub(crate) use self::module::{Module, ModulesDir, NOT_AVAILABLE};
pub(crate) use self::verdict::Verdict;
