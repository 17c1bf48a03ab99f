//! Tasks: finds them in modules, chooses an implementation for a target, and prepares its input.
//!
//! [`Catalogue::find`] returns a [`Task`], and [`Task::parameters`] checks its parameters. An `Invocation` chooses the
//! implementation for a target or refuses the task, and adds the metaparameters. A `Host` runs it.

mod catalogue;
mod selection;
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
mod command_line;

pub use catalogue::{Catalogue, ListedTask};
pub(crate) use selection::RunLocation;
pub(crate) use error::TaskError;
pub use error::TaskOutputs;
pub(crate) use implementation::Implementation;
pub(crate) use invocation::Invocation;
pub use invocation::SESSION_VARIABLE;
pub(crate) use layout::Layout;
pub use layout::with_path;
pub use parameters::Parameters;
pub use task::Task;
pub use command_line::given_parameters;
