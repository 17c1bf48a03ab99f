//! Tasks: finds them in modules, chooses an implementation for a target, and prepares its input.
//!
//! [`Catalogue::find`] returns a [`Task`], and [`Task::parameters`] checks its parameters. An `Invocation` chooses the
//! implementation for a target or refuses the task, and adds the metaparameters. A `Host` runs it.

mod catalogue;
mod command_line;
mod error;
mod files;
mod implementation;
mod invocation;
mod layout;
mod module_path;
mod parameters;
mod selection;
mod task;
#[cfg(test)]
mod tests;

pub use catalogue::{Catalogue, ListedTask};
pub use command_line::given_parameters;
pub(crate) use error::TaskError;
pub use error::TaskOutputs;
pub(crate) use files::files_below;
pub(crate) use implementation::Implementation;
pub use invocation::SESSION_VARIABLE;
pub(crate) use invocation::{Input, Invocation};
pub use layout::with_path;
pub(crate) use layout::{Layout, TaskFile};
pub use parameters::Parameters;
pub(crate) use selection::RunLocation;
pub use task::Task;
