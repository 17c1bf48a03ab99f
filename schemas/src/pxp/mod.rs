//! PXP modules as the PXP module specification defines them and pxp-agent reads them: the metadata that a
//! module prints, and the request that an action receives.

mod document;
mod json_schema;
mod metadata;
mod request;

pub use json_schema::{JsonSchema, Misfit, SchemaProblem};
pub use metadata::{Action, Metadata};
pub use request::{ActionRequest, InvalidRequest, OutputFiles};

/// The exit code that is reserved for one error: the files of `output_files` could not be written ("Exit
/// code").
pub const FILES_NOT_WRITTEN: u8 = 5;
