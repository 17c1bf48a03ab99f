//! Runs on a device in memory: what is asked of it, in which order, and what is told of it.

mod containers;
mod device;
mod foresee;
mod order;
mod provider;
mod telling;
mod way_back;
