//! Replays the inputs that fuzzing has found worth keeping: `fuzz/README.md` describes how to run the
//! targets.

use std::fs;
use std::path::Path;

type Target = fn(&[u8]);

/// Every fuzz target, with the name of its corpus.
const TARGETS: [(&str, Target); 8] = [
    ("data_types", devgate_schemas::fuzz::data_types),
    ("pxp", devgate_schemas::fuzz::pxp),
    ("textfsm", devgate_devices::fuzz::textfsm),
    ("screen", devgate_transports::fuzz::screen),
    ("command_line", devgate_transports::fuzz::command_line),
    ("netconf", devgate_transports::fuzz::netconf),
    ("json_objects", devgate_transports::fuzz::json_objects),
    ("snmp", devgate_transports::fuzz::snmp),
];

#[test]
fn every_target_holds_over_its_corpus() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let written = fs::read_dir(fuzz.join("fuzz_targets")).expect("there are targets");
    assert_eq!(written.count(), TARGETS.len(), "a target is not replayed");
    for (name, target) in TARGETS {
        let cases = fs::read_dir(fuzz.join("corpus").join(name)).expect("it has a corpus");
        let mut replayed = 0;
        for case in cases.flatten() {
            target(&fs::read(case.path()).expect("a case can be read"));
            replayed += 1;
        }
        assert!(replayed > 0, "{name} has no cases");
    }
}
