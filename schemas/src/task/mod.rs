//! Tasks, as the Puppet Task Specification has them: their names, their metadata, their parameters
//! and what their output means. Nothing here reads a file or starts a process.

mod metadata;
mod name;
mod outcome;
mod parameters;
mod section;

pub use metadata::{Implementation, InputMethod, Metadata, MetadataError, Parameter};
pub use name::{TaskName, is_name};
pub use outcome::{Captured, Exit, Outcome};
pub use parameters::InvalidParameters;
