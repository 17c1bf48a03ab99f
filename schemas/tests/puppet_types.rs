//! Data types give the same answers as a live Puppet, whose verdicts are kept as golden files.
//!
//! `tests/oracle/puppet-types.rb` queries Puppet again.

use devgate_schemas::types::verdict;
use serde_json::{Value, json};

#[test]
fn every_verdict_that_was_chosen_by_hand_is_puppets() {
    assert_agreement(include_str!("data/puppet-types.json"), 178);
}

#[test]
fn every_verdict_that_was_generated_is_puppets() {
    assert_agreement(include_str!("data/puppet-types-more.json"), 3000);
}

fn assert_agreement(golden: &str, at_least: usize) {
    let golden: Value = serde_json::from_str(golden).expect("the golden file");
    let cases = golden["cases"].as_array().expect("a list of cases");
    assert!(cases.len() >= at_least, "{} cases", cases.len());
    let differences: Vec<String> = cases.iter().filter_map(difference).collect();
    assert!(
        differences.is_empty(),
        "{}\n{} differ",
        differences.join("\n"),
        differences.len()
    );
}

/// Describes the difference between devgate's answer and Puppet's, if there is any.
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
