//! Proxies: the hosts for a target's tasks, their loads, and the turns at devices.

mod dialer;
mod host_use;
mod hosts;
mod loads;
mod pool;
mod run_host;
mod run_on;
mod slot_dialer;
mod turns;
mod way;

pub(crate) use dialer::ProxyDialer;
pub(crate) use host_use::HostUse;
pub(crate) use hosts::Hosts;
pub(crate) use loads::ProxyLoads;
pub(crate) use run_host::{HostPreview, HostSlot};
pub use run_on::ProxyCheck;
pub(crate) use slot_dialer::SlotDialer;
pub(crate) use turns::{DeviceTurn, DeviceTurns};
pub(crate) use way::{Way, WayHop};
