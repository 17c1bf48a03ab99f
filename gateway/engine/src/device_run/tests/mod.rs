//! Runs on a device in memory: the calls, their order, and the reports.

mod containers;
mod device;
mod foresee;
mod order;
mod provider;
mod telling;
mod way_back;
