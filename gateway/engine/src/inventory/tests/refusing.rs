//! Invalid inventories, and the messages.

use serde_json::json;

use super::*;

#[test]
fn conflicts_of_names_are_refused_all_at_once_with_their_groups() {
    let error = refusal(
        "groups:
  - name: a
    targets: [{name: t1, alias: [x, b]}, {name: t2, alias: x}]
  - name: b
    groups: [{name: a}]
  - name: t1
  - name: c
    targets: [{name: y}, {name: t3, alias: y}]
",
    );
    assert_eq!(error.kind(), "bolt.inventory/validation-error");
    let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
    assert_eq!(
        lines,
        [
            "inventory.yaml: line 3, column 60: in group all/a: the alias x refers to both t1 and t2",
            "inventory.yaml: line 4, column 11: in group all/b: the group b conflicts with an alias \
             of the same name",
            "inventory.yaml: line 5, column 21: in group all/b/a: the group a is defined twice, \
             first at line 2",
            "inventory.yaml: line 6, column 11: in group all/t1: the group t1 conflicts with a \
             target of the same name",
            "inventory.yaml: line 8, column 44: in group all/c: the alias y conflicts with a target \
             of the same name",
        ]
    );
    assert_eq!(error.details()["path"], json!(["all", "a"]));
    assert_eq!(
        error.details()["problems"].as_array().map(Vec::len),
        Some(5)
    );
}

#[test]
fn wrong_shapes_are_refused_all_at_once_without_their_values() {
    let error = refusal(
        "version: 3
vars: canary
features: canary
config: {transport: shh, ssh: canary, remote: {run-on: {canary: 1}}}
targets:
  - [canary]
  - {name: 5}
  - {vars: {}}
  - {name: 'a canary'}
  - {uri: 'me:canary/canary@h'}
  - 'me:canary:canary'
  - {name: t, alias: [[canary]]}
groups:
  - {targets: []}
  - canary
  - {name: g, nodes: []}
",
    );
    let text = error.to_string();
    assert_eq!(text.lines().count(), 16, "{text}");
    assert!(
        !format!("{text} {error:?} {}", error.details()).contains("canary"),
        "{text}"
    );
    for expected in [
        "line 1, column 10: expected version 2 of the inventory, found 3",
        "line 2, column 7: in group all: expected vars to be a mapping, found a text",
        "line 4, column 21: in group all: expected transport to be one of ssh, winrm",
        "line 8, column 5: in group all: expected a target to have a name or a uri",
        "line 9, column 12: in group all: illegal character ' ' in a target's name",
        "line 16, column 22: in group all/g: expected `targets`, found `nodes`",
    ] {
        assert!(text.contains(expected), "{expected} in\n{text}");
    }
}

#[test]
fn unknown_keys_and_second_entries_only_warn() {
    let inventory = inventory(
        "version: 2\ntarget: []\ntargets: [{name: a, vras: {}}, {name: a}, a]\nconfig: {shh: {}}\n",
    );
    let warnings: Vec<_> = inventory
        .warnings()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        warnings,
        [
            "inventory.yaml: line 2, column 1: in group all: unknown key `target` in the group; did \
             you mean `targets`?",
            "inventory.yaml: line 3, column 21: in group all: unknown key `vras` in the target a; \
             did you mean `vars`?",
            "inventory.yaml: line 3, column 39: in group all: the target a is listed twice, the \
             first entry counts",
            "inventory.yaml: line 3, column 43: in group all: the target a is listed twice, the \
             first entry counts",
            "inventory.yaml: line 4, column 10: in group all: unknown key `shh` in config; did you \
             mean `ssh`?",
        ]
    );
}

#[test]
fn yaml_errors_name_file_line_and_column() {
    let error = refusal("targets:\n  - {name: a, name: canary}\n");
    assert_eq!(
        error.to_string(),
        "inventory.yaml: line 2, column 15: at targets[0].name: duplicate key, first given at line \
         2, column 6"
    );
    assert_eq!(error.details()["line"], 2);
}

#[test]
fn a_password_in_a_uri_never_shows() {
    let inventory = inventory(
        "targets: ['me:canary@a', 'ssh://you:canary@b:22', {name: 'x:canary@c'}, {uri: 'us:canary@a'}]\n",
    );
    let targets = choose(&inventory, &["all", "me:canary@a", "zed:canary@d"]).expect("targets");
    let shown = format!(
        "{targets:?} {} {:?}",
        targets[1],
        targets[1].connection_info()
    );
    assert!(!shown.contains("canary"), "{shown}");
    let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["x@c", "us@a", "me@a", "ssh://you@b:22", "zed@d"]);
    assert_eq!(
        info(&targets[2])["password"],
        "canary",
        "but it is passed on"
    );
    let error = choose(&inventory, &["me:can/ary@h"])
        .expect_err("a refusal")
        .to_string();
    assert!(
        error.starts_with("target word 1: ") && !error.contains("ary"),
        "{error}"
    );
}
