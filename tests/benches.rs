//! Tests of the benchmarks that others can run.

use std::path::Path;

use crate::support::lab::{command_for, output};

#[test]
fn what_a_command_costs_is_measured_while_its_processes_end() {
    let cost = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cost.py");
    let script = "for i in $(seq 300); do sh -c '/bin/true & /bin/true'; done";
    for _ in 0..3 {
        let measured = output(
            command_for("python3")
                .arg(&cost)
                .args(["1", "sh", "-c", script]),
        );
        let numbers = measured.split_whitespace().map(str::parse::<f64>);
        assert_eq!(numbers.filter(Result::is_ok).count(), 3, "{measured}");
    }
}
