//! Child processes. Only this module starts them. It writes their input, reads their output within limits, and ends
//! them with everything that they have started.

mod dialogue;
mod guard;
mod identity;
mod mark;
mod output;
mod output_limit;
mod path;
mod piped;
mod program;
mod recorded;
mod reexec;
mod room;
mod run;
mod spawn;
mod tree;

pub(crate) use self::dialogue::{Broken, Dialogue};
pub use self::guard::guard;
pub use self::identity::Identity;
pub use self::output::{DiscardOutput, OutputSink, Stream};
pub use self::output_limit::OutputLimit;
pub use self::path::found;
pub(crate) use self::piped::{PipedChild, piped};
pub use self::program::{Ended, Failure, GRACE, ProcessLimits, Program};
pub use self::recorded::{Detached, Record, Recorded, begin_session};
pub use self::reexec::{own_executable, reexec};
pub use self::run::{attached, run};
pub use self::spawn::not_started;
pub(crate) use self::spawn::writing_executables;
