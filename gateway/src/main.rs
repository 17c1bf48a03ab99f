mod practice;
mod process;
mod tasks;

fn main() {}
