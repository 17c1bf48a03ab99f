//! Tasks: finds them in modules, chooses an implementation for a target, and prepares its input.
//!
//! [`Catalogue::find`] returns a [`Task`], and [`Task::parameters`] checks its parameters. An `Invocation` chooses the
//! implementation for a target or refuses the task, and adds the metaparameters. A `Host` runs it.

mod catalogue;
mod choose;
mod error;
mod files;
mod implementation;
mod invocation;
mod layout;
mod module_path;
mod parameters;
mod task;
#[cfg(test)]
mod tests;
mod words;

pub use catalogue::{Catalogue, Listed};
pub(crate) use choose::TaskPlace;
pub(crate) use error::TaskError;
pub use error::TaskOutputs;
pub(crate) use implementation::Implementation;
pub(crate) use invocation::Invocation;
pub use invocation::SESSION_VARIABLE;
pub(crate) use layout::Layout;
pub use layout::named;
pub use parameters::Parameters;
pub use task::Task;
pub use words::given_parameters;
