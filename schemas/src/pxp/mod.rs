//! PXP modules, as the PXP module specification has them and as pxp-agent reads them: what a module
//! says of itself (its metadata), and what it is given when an action is invoked.

mod document;
mod json_schema;
mod metadata;
mod request;

pub use json_schema::{JsonSchema, Misfit, SchemaProblem};
pub use metadata::{Action, Metadata};
pub use request::{InvalidRequest, OutputFiles, Request};

/// The exit code that modules keep for one thing: the files of `output_files` could not be written
/// ("Exit code").
pub const FILES_NOT_WRITTEN: u8 = 5;
