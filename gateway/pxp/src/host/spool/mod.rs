//! The spool: the persistent state of nonblocking actions.
//!
//! Each transaction has a folder with its ID as the name, as in pxp-agent: `metadata`, `pid`, and `stdout`, `stderr` and
//! `exitcode`, which the module writes itself. `results_schema` allows to judge the results without the module.
//!
//! Each step is on the disk before the next step begins: the folder before anything is started, the process before it
//! gets its input. So no action runs twice, and each process that has got its input is recorded, whichever process is
//! killed.

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
pub(crate) use self::metadata::TransactionStatus;
pub(crate) use self::report::TransactionReport;
pub(crate) use self::transaction::{Spool, Transaction, folder};
