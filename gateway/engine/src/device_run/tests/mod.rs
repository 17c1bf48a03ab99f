//! Runs on a device in memory: the calls, their order, and the reports.

mod containers;
mod device;
mod messages;
mod order;
mod precheck;
mod provider;
mod rollback;
