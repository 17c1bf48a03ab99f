mod practice;

fn main() {}
