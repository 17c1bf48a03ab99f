//! The `devgate` command: everything that acts.

mod practice;
mod process;
mod tasks;

fn main() {}
