//! Proxies: which host runs a target's task, how many run there, and whose turn it is at the device.

mod hosts;
mod loads;
mod member;
mod pool;
mod run_on;
mod turns;

pub(crate) use hosts::Hosts;
pub(crate) use loads::Loads;
pub(crate) use member::{Outlook, Seat};
pub(crate) use turns::{Turn, Turns};
