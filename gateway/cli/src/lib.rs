//! The commands, one file each, except those that join front ends.

pub mod command;
pub mod complete;
pub mod device;
pub mod facts;
pub mod family;
pub mod inventory;
mod names;
pub mod record;
mod rerun;
pub mod resource;
mod results;
mod rows;
pub mod schema;
pub mod session;
pub mod targets;
pub mod task;
mod templates;
mod terminal_view;
pub mod textfsm;
pub mod transport;
pub mod types;
pub mod verify;
