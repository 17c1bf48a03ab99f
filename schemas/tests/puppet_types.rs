//! Data types answer as a live Puppet did: its verdicts are kept as golden files.

use devgate_schemas::types::verdict;
use serde_json::{Value, json};

#[test]
fn every_recorded_verdict_of_puppet_is_ours_too() {
    let golden: Value =
        serde_json::from_str(include_str!("data/puppet-types.json")).expect("the golden file");
    let cases = golden["cases"].as_array().expect("a list of cases");
    let differences: Vec<String> = cases.iter().filter_map(difference).collect();
    assert!(
        differences.is_empty(),
        "{}\n{} differ",
        differences.join("\n"),
        differences.len()
    );
    assert_eq!(cases.len(), 178);
}

/// What we say and what Puppet said, if they differ.
fn difference(case: &Value) -> Option<String> {
    let line = json!({ "type": case["type"], "value": case["value"] }).to_string();
    let ours = verdict(&line);
    let puppet = match case.get("error") {
        Some(error) => json!({ "error": error }),
        None => json!({
            "canonical": case["canonical"],
            "ok": case["ok"],
            "mismatch": case["mismatch"],
        }),
    };
    (ours != puppet).then(|| format!("{line}\n  ours   {ours}\n  puppet {puppet}"))
}
