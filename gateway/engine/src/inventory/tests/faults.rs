//! Invalid targets are reported and left out, and do not affect the others.

use serde_json::json;

use super::*;
use crate::inventory::InventoryProblem;

const FAULTY: &str = "config: {transport: remote, remote: {user: me}}
groups:
  - name: g
    targets:
      - {name: good}
      - {name: bad, uri: 'h:port'}
      - {vars: {}}
      - 'me:x/y@h'
      - {name: odd, vars: []}
      - {name: unknown, uri: 'telnet://h', config: {transport: ssh}}
  - name: h
    targets: [bad, other]
";

#[test]
fn an_invalid_target_exists_and_cannot_be_used() {
    let inventory = inventory(FAULTY);
    let targets = choose(&inventory, &["g"]).expect("targets");
    let messages: Vec<_> = targets
        .iter()
        .map(|target| {
            let fault = target.fault.as_ref().map(ToString::to_string);
            (target.name.as_str(), target.kind.name(), fault)
        })
        .collect();
    let fault = |text: &str| Some(text.to_owned());
    assert_eq!(
        messages,
        [
            ("good", "remote", None),
            (
                "bad",
                "unknown",
                fault(
                    "inventory.yaml: line 6, column 26: in group all/g: invalid uri of the target bad: \
                     expected a port from 0 to 65535 after the host"
                )
            ),
            (
                "inventory.yaml:7:9",
                "unknown",
                fault(
                    "inventory.yaml: line 7, column 9: in group all/g: expected a target to have a \
                     name or a uri"
                )
            ),
            (
                "odd",
                "unknown",
                fault(
                    "inventory.yaml: line 9, column 27: in group all/g: expected vars of the target \
                     odd to be a mapping, found a list"
                )
            ),
            (
                "unknown",
                "unknown",
                fault(
                    "target unknown: unknown transport telnet, expected one of ssh, winrm, local, \
                     docker, lxd, podman, jail, pcp, remote"
                )
            ),
            (
                "inventory.yaml:8:9",
                "unknown",
                fault(
                    "inventory.yaml: line 8, column 9: in group all/g: invalid name: expected `/`, \
                     `?` and `#` in a user or password as %2F, %3F and %23"
                )
            ),
        ]
    );
    let kinds: Vec<_> = targets
        .iter()
        .filter_map(|target| Some(target.fault.as_ref()?.kind()))
        .collect();
    assert_eq!(kinds[0], "bolt.inventory/validation-error");
    assert_eq!(kinds[3], "bolt/unknown-transport");
    assert_eq!(names(&inventory, &["h"]), ["bad", "other"]);
    assert!(
        one(&inventory, "bad").fault.is_some(),
        "also through another group"
    );
}

#[test]
fn faults_are_known_before_a_selection() {
    let inventory = inventory(FAULTY);
    let faulty: Vec<_> = inventory.faults().map(|(name, _)| name).collect();
    assert_eq!(
        faulty,
        ["bad", "inventory.yaml:7:9", "odd", "inventory.yaml:8:9"]
    );
}

#[test]
fn in_strict_mode_an_invalid_target_is_an_error_of_the_inventory() {
    let error = refusal(FAULTY);
    assert_eq!(error.to_string().lines().count(), 4, "{error}");
    assert_eq!(error.details()["path"], json!(["all", "g"]));
    let strict = now(Inventory::parse(
        "inventory.yaml",
        "targets: [a, 'telnet://h']",
        plugins(),
        true,
    ));
    let strict = strict.expect("nothing is wrong before a transport is chosen");
    let error = choose(&strict, &["all"]).expect_err("a refusal");
    assert_eq!(error.kind(), "bolt/unknown-transport");
    assert_eq!(names(&strict, &["a"]), ["a"]);
}

#[test]
fn an_invalid_group_is_an_error_of_the_inventory() {
    let read = |text| now(Inventory::parse("inventory.yaml", text, plugins(), false));
    for text in [
        "vars: []\n",
        "groups: [{targets: []}]\n",
        "groups: [{name: 'a b'}]\n",
        "groups: [{name: a, targets: [a]}]\n",
        "targets: [{name: a, alias: x}, {name: b, alias: x}]\n",
        "version: 1\n",
    ] {
        let error = read(text)
            .err()
            .unwrap_or_else(|| panic!("{text} was read"));
        assert_eq!(error.kind(), "bolt.inventory/validation-error", "{text}");
    }
}

#[test]
fn a_problem_without_a_position_has_no_position_in_the_details() {
    let error = InventoryError::Invalid(vec![InventoryProblem::nowhere("it is wrong".to_owned())]);
    assert_eq!(
        error.details(),
        json!({ "problems": [{ "msg": "it is wrong" }] })
    );
}

#[test]
fn an_unknown_transport_suggests_the_right_one() {
    let fault = |transport: &str| {
        let text = format!("targets: [{{name: x, config: {{transport: {transport}}}}}]");
        let target = one(&inventory(&text), "x");
        target.fault.as_ref().expect("a fault").to_string()
    };
    let messages = fault("rmote");
    assert!(
        messages.ends_with("pcp, remote, found `rmote`; did you mean `remote`?"),
        "{messages}"
    );
    for way in ["frr", "netconf"] {
        let messages = fault(way);
        let expected = format!(
            "; to reach a device by `{way}`, write `transport: remote` and `remote: \
             {{remote-transport: {way}}}`"
        );
        assert!(messages.ends_with(&expected), "{messages}");
    }
}

#[test]
fn an_empty_run_on_is_a_fault_of_the_target_with_a_remedy() {
    for run_on in ["[]", "''", "' , '", "['']"] {
        let text = format!(
            "targets:\n  - {{name: a, config: {{transport: remote, remote: {{run-on: {run_on}}}}}}}\n"
        );
        let fault = one(&inventory(&text), "a")
            .fault
            .as_ref()
            .map(ToString::to_string);
        let expected = "the target a: `run-on` is empty: name targets or groups, or leave it out to use this node";
        assert_eq!(fault.as_deref(), Some(expected), "{run_on}");
    }
}

#[test]
fn options_of_a_remote_target_that_are_written_with_an_underscore_are_faults() {
    for (wrong, right) in [
        ("run_on", "run-on"),
        ("remote_transport", "remote-transport"),
    ] {
        let text = format!(
            "targets:\n  - {{name: a, config: {{transport: remote, remote: {{{wrong}: jump}}}}}}\n"
        );
        let fault = one(&inventory(&text), "a")
            .fault
            .as_ref()
            .map(ToString::to_string);
        let expected =
            format!("the target a: there is no `{wrong}` in config.remote; write `{right}`");
        assert_eq!(fault, Some(expected));
    }
}
