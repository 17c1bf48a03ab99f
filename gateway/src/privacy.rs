//! Protects the memory of this process, which contains secrets.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Disables core dumps, and prevents other processes of the same user from reading the memory, environment and open
/// files of this process. Root still can.
///
/// It does not apply to child processes that execute a program: a task may write a core dump if its limits allow that.
/// The command line, state and parent of the process stay readable.
pub(crate) fn protect_memory() {
    // Linux never refuses this, and devgate works without it.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
