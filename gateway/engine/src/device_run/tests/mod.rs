//! Runs on a device in memory: the calls, their order, and the reports.

mod containers;
mod device;
mod precheck;
mod order;
mod provider;
mod messages;
mod rollback;
