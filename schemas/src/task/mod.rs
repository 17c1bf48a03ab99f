//! Tasks as the Puppet Task Specification defines them: names, metadata, parameters and the meaning of
//! their output. Nothing here reads a file or starts a process.

mod implementation;
mod input_method;
mod json_schema;
mod key;
mod metadata;
mod name;
mod outcome;
mod parameter;
mod parameters;
mod section;

pub use implementation::Implementation;
pub use input_method::InputMethod;
pub use metadata::{Metadata, MetadataError};
pub use name::{TaskName, is_name};
pub use outcome::{CapturedOutput, Exit, Outcome};
pub use parameter::Parameter;
pub use parameters::InvalidParameters;
