//! The `devgate` command: everything that acts.

mod inventory;
mod practice;
mod process;
mod project;
mod tasks;

fn main() {}
