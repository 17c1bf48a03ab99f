//! Keeping this process's memory, where secrets are, from everybody else.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Makes this process one of which no core is written, and whose memory, environment and open files no
/// other process of the same user can read. Root still can.
///
/// It holds until a program is executed, so that children are as they would be without us: a task may
/// leave a core where its limits allow one. What the kernel tells everybody of a process (its command
/// line, its state, its parent) stays readable.
pub(crate) fn keep() {
    // Linux refuses this to nobody, and without it everything works as well.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
