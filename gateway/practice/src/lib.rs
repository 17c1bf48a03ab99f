//! The practice switch: an SSH server in the binary that speaks a small but true part of Cisco
//! IOS and remembers what it is told, so that devgate can be tried without a device.
//!
//! [`Practice::start`] runs one beside whoever asks, [`serve()`] runs one for a person. Everything
//! that is IOS (`terminal` and below) is a state machine without I/O; `server` connects it to
//! SSH. Sessions share one switch: what one configures, the others see. In its place a recorded
//! device can be played (`replay`).

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
pub use server::{Practice, Settings};
