//! Tasks: finding them in modules, choosing an implementation for a place, giving it its input.
//!
//! A task travels one way: [`Catalogue::find`] gives a [`Task`]; [`Task::parameters`] checks what
//! was given; an `Invocation` picks the implementation for a place or refuses, and joins it with the
//! metaparameters; a `Host` runs it.

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
