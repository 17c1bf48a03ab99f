//! Child processes. Only this module starts them. It writes their input, reads their output within limits, and ends
//! them with everything that they have started.

mod dialogue;
mod guard;
mod hosted;
mod identity;
mod mark;
mod output;
mod output_limit;
mod path;
mod piped;
mod program;
mod recorded;
mod reexec;
mod run;
mod spawn;
mod start_retry;
mod tree;

pub(crate) use self::dialogue::{Dialogue, DialogueError};
pub use self::guard::{guard, is_guard};
pub(crate) use self::hosted::{HostedFailure, convert_exit, run_hosted};
pub use self::identity::ProcessIdentity;
pub use self::output::{DiscardOutput, OutputSink, Stream};
pub use self::output_limit::OutputLimit;
pub use self::path::find_program;
pub(crate) use self::piped::{PipedChild, start_piped};
pub use self::program::{EndedProcess, GRACE, ProcessFailure, ProcessLimits, Program};
pub use self::recorded::{DetachedProgram, ProcessRecord, RecordedChild, begin_session};
pub use self::reexec::{own_executable, reexec};
pub use self::run::{run, run_attached};
pub use self::spawn::start_failure;
pub(crate) use self::spawn::writing_executables;
