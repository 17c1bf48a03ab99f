//! References are resolved when they are needed, and only once.

use std::path::Path;

use devgate_transports::Environment;
use serde_json::json;

use super::*;

/// Loads an inventory of a project whose folder contains these files.
fn project(text: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, Inventory) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).expect("a file");
    }
    let read = read(folder.path(), text);
    (folder, read.unwrap_or_else(|error| panic!("{error}")))
}

fn read(folder: &Path, text: &str) -> Result<Inventory, InventoryError> {
    let project = Project::find(Some(folder.to_owned()), None, folder).expect("a project");
    let plugins = Rc::new(Plugins::new(
        &project,
        Arc::new(Environment::of_process()),
        None,
    ));
    now(Inventory::parse("inventory.yaml", text, plugins, false))
}

fn fault(target: &Target) -> (&'static str, String) {
    let fault = target.fault.as_ref().expect("a fault");
    (fault.kind(), fault.to_string())
}

#[test]
fn lists_of_groups_and_targets_are_resolved_until_everything_has_a_name() {
    let (_folder, inventory) = project(
        "targets:
  - a
  - {_plugin: yaml, filepath: more.yaml}
  - {name: {_plugin: yaml, filepath: name.yaml}, uri: h}
groups: {_plugin: yaml, filepath: groups.yaml}
",
        &[
            (
                "more.yaml",
                "[b, {_plugin: yaml, filepath: rest.yaml}, {name: c, alias: cc}]",
            ),
            ("rest.yaml", "[d, [e]]"),
            ("name.yaml", "named"),
            (
                "groups.yaml",
                "[{name: g, targets: {_plugin: yaml, filepath: inner.yaml}}]",
            ),
            ("inner.yaml", "[f, cc]"),
        ],
    );
    let mut found = names(&inventory, &["all"]);
    found.sort();
    assert_eq!(found, ["a", "b", "c", "d", "e", "f", "named"]);
    assert_eq!(names(&inventory, &["g"]), ["f", "c"]);
}

#[test]
fn references_in_data_are_resolved_for_selected_targets_and_merged_like_literals() {
    let (_folder, inventory) = project(
        "config:
  transport: remote
  remote: {_plugin: yaml, filepath: remote.yaml}
vars: {site: {_plugin: yaml, filepath: site.yaml}}
features: [{_plugin: yaml, filepath: features.yaml}, own]
targets:
  - {name: a, config: {remote: {user: {_plugin: yaml, filepath: user.yaml}, keep: {x: 1}}}}
  - {name: b, config: {remote: {user: {_plugin: yaml, filepath: none.yaml}}}}
",
        &[
            (
                "remote.yaml",
                "{user: outer, port: 22, keep: {y: 2}, gone: ~}",
            ),
            ("site.yaml", "{name: hq}"),
            ("features.yaml", "[one, two]"),
            ("user.yaml", "me"),
        ],
    );
    let a = one(&inventory, "a");
    assert_eq!(a.fault.as_ref().map(ToString::to_string), None);
    assert_eq!(
        info(&a),
        json!({
            "user": "me", "port": 22, "keep": {"y": 2, "x": 1}, "name": "a", "protocol": "remote", "run-on": "localhost",
        })
    );
    assert_eq!(
        Value::Hash(a.vars.clone()).to_json(),
        json!({"site": {"name": "hq"}})
    );
    assert_eq!(a.features.iter().collect::<Vec<_>>(), ["one", "own", "two"]);
    let (kind, message) = fault(&one(&inventory, "b"));
    assert_eq!(kind, "bolt/plugin-error");
    assert!(
        message.starts_with(
            "inventory.yaml: line 8, column 39: in group all: the target b: the plugin yaml: cannot \
             read the file "
        ),
        "{message}"
    );
}

#[test]
fn references_without_influence_are_not_resolved() {
    let (_folder, inventory) = project(
        "config:
  transport: remote
  ssh: {password: {_plugin: prompt, message: never}}
  remote: {user: {_plugin: nothing}}
targets: [{name: a, config: {remote: {user: me}}}, b]
",
        &[],
    );
    assert_eq!(info(&one(&inventory, "a"))["user"], "me");
    let (kind, message) = fault(&one(&inventory, "b"));
    assert_eq!(kind, "bolt/unknown-plugin");
    assert!(message.contains("unknown plugin nothing: expected one of age, env_var"));
}

#[test]
fn each_reference_is_resolved_once() {
    let (folder, inventory) = project(
        "config: {transport: remote, remote: {user: {_plugin: yaml, filepath: user.yaml}}}
targets: [a, b]\n",
        &[("user.yaml", "me")],
    );
    assert_eq!(info(&one(&inventory, "a"))["user"], "me");
    std::fs::remove_file(folder.path().join("user.yaml")).expect("it was there");
    assert_eq!(info(&one(&inventory, "b"))["user"], "me");
}

#[test]
fn an_optional_value_that_is_not_there_hides_nothing() {
    let optional = "{_plugin: env_var, var: DEVGATE_NOT_SET, optional: true}";
    let (_folder, inventory) = project(
        &format!(
            "config: {{transport: remote, remote: {{user: outer, port: {optional}}}}}
targets: [{{name: a, config: {{remote: {{user: {optional}}}}}}}]\n"
        ),
        &[],
    );
    assert_eq!(
        info(&one(&inventory, "a")),
        json!({"user": "outer", "name": "a", "protocol": "remote", "run-on": "localhost"})
    );
}

#[test]
fn a_reference_to_itself_ends() {
    let (folder, inventory) = project(
        "config: {transport: remote, remote: {_plugin: yaml, filepath: a.yaml}}
vars: {x: {_plugin: yaml, filepath: c.yaml}}
targets: [{name: t, config: {remote: {_plugin: yaml, filepath: d.yaml}}}, u]\n",
        &[
            ("a.yaml", "{_plugin: yaml, filepath: b.yaml}"),
            ("b.yaml", "{_plugin: yaml, filepath: a.yaml}"),
            ("c.yaml", "{deeper: [{_plugin: yaml, filepath: c.yaml}]}"),
            ("d.yaml", "{}"),
            ("l.yaml", "[{_plugin: yaml, filepath: l.yaml}]"),
            (
                "g.yaml",
                "{name: g, groups: [{_plugin: yaml, filepath: g.yaml}]}",
            ),
        ],
    );
    for name in ["t", "u"] {
        assert_eq!(
            fault(&one(&inventory, name)).0,
            "bolt/recursive-reference-loop"
        );
    }
    for text in [
        "targets: {_plugin: yaml, filepath: l.yaml}\n",
        "targets: {_plugin: yaml, filepath: a.yaml}\n",
        "groups: [{_plugin: yaml, filepath: g.yaml}]\n",
    ] {
        let error = read(folder.path(), text).expect_err("a refusal");
        assert_eq!(error.kind(), "bolt/recursive-reference-loop", "{text}");
    }
}

#[test]
fn a_list_that_cannot_be_resolved_is_fatal_with_its_position() {
    let error = refusal("groups:\n  - name: g\n    targets: {_plugin: terraform, dir: x}\n");
    assert_eq!(error.kind(), "bolt/unknown-plugin");
    assert!(
        error.to_string().starts_with(
            "inventory.yaml: line 3, column 14: in group all/g: unknown plugin terraform: "
        ),
        "{error}"
    );
    let error = refusal("vars: {a: {_plugin: [x]}}\n");
    assert!(
        error
            .to_string()
            .contains("expected `_plugin` to name a plugin, found a list"),
        "{error}"
    );
}

#[test]
fn the_value_of_a_plugin_must_have_the_right_type() {
    let (_folder, inventory) = project(
        "config: {transport: {_plugin: yaml, filepath: list.yaml}}
groups:
  - {name: a, config: {transport: remote, remote: {_plugin: yaml, filepath: list.yaml}}, targets: [a1]}
  - {name: b, config: {transport: ssh}, vars: {_plugin: yaml, filepath: list.yaml}, targets: [b1]}
  - {name: c, config: {transport: ssh}, features: {_plugin: yaml, filepath: number.yaml}, targets: [c1]}
targets: [d1]\n",
        &[("list.yaml", "[1]"), ("number.yaml", "1")],
    );
    for (name, expected) in [
        ("a1", "expected config.remote to be a mapping"),
        ("b1", "expected vars to be a mapping"),
        ("c1", "expected features to be a list of texts"),
        ("d1", "expected config.transport to be a text"),
    ] {
        let (kind, message) = fault(&one(&inventory, name));
        assert_eq!(kind, "bolt.inventory/validation-error", "{name}");
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn an_option_of_the_command_line_is_not_resolved_by_a_plugin() {
    let (_folder, inventory) = project(
        "config: {transport: remote, remote: {user: {_plugin: nobody}}}\ntargets: [a]\n",
        &[],
    );
    let overrides = Overrides {
        remote: [("user", Value::from("cli"))].into_iter().collect(),
        ..Overrides::default()
    };
    let targets = now(inventory.select(&["a".to_owned()], &overrides)).expect("targets");
    assert!(targets[0].fault.is_none());
    assert_eq!(info(&targets[0])["user"], "cli");
}
