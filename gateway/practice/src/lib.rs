//! The practice switch: an SSH server in the binary with a small but accurate part of Cisco IOS. It keeps its
//! configuration, so that users can try devgate without a device.
//!
//! [`PracticeSwitch::start`] runs one in the background, [`serve()`] runs one for a person. All of IOS (`terminal` and below)
//! is a state machine without I/O; `server` connects it to SSH. Sessions share one switch and its configuration. A
//! recorded device can be replayed instead (`replay`).

mod clock;
mod commands;
mod config;
mod device;
mod editor;
mod filter;
mod grammar;
mod interface;
mod interpret;
mod replay;
mod serve;
mod server;
mod show;
mod switch;
mod terminal;
mod vlans;
mod vty;

pub use serve::{PracticeArgs, serve};
pub use server::{PracticeSettings, PracticeSwitch};
