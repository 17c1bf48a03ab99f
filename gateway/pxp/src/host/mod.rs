//! PXP modules: those of others, which are asked and run here as pxp-agent does it, and being one.

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
