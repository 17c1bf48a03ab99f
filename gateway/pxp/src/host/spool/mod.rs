//! The spool: the persistent state of nonblocking actions.
//!
//! A folder for each transaction, named by its id, as pxp-agent has it: `metadata`, `pid`, and `stdout`, `stderr`
//! and `exitcode`, which the module writes itself; and `results_schema`, by which these are judged when the
//! module is not there any more.
//!
//! Each step is on the disk before the next one begins: the folder, before anything is started; the process,
//! before it is given its input. So no action runs twice, wherever a process is killed, and none unrecorded that
//! waits for its input.

mod age;
mod attend;
mod cancel;
mod claim;
mod handover;
mod id;
mod metadata;
mod output;
mod pid;
mod report;
mod start;
mod state;
mod transaction;
mod wait;

pub(crate) use self::attend::attend;
pub(crate) use self::claim::Claim;
pub(crate) use self::handover::Handover;
pub(crate) use self::id::TransactionId;
pub(crate) use self::metadata::Status;
pub(crate) use self::report::Report;
pub(crate) use self::transaction::{Spool, Transaction, folder};
