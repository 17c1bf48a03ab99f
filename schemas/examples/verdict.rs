use std::io::{BufRead, Write};
fn main() {
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for line in std::io::stdin().lock().lines() {
        writeln!(out, "{}", devgate_schemas::types::verdict(&line.unwrap())).unwrap();
    }
}
