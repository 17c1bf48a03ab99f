//! The practice switch: an SSH server in the binary that speaks a small but true part of Cisco
//! IOS and remembers what it is told, so that devgate can be tried without a device.

mod clock;
mod commands;
mod config;
mod editor;
mod filter;
mod grammar;
mod interface;
mod interpret;
mod show;
mod switch;
mod terminal;
mod vlans;
