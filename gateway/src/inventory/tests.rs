//! Whole inventories: what they say of targets, what is refused, and how fast.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use devgate_schemas::{Hash, Value};
use serde_json::json;

use super::{Inventory, InventoryError, Kind, Overrides, Source, Target};

fn inventory(text: &str) -> Inventory {
    Inventory::parse("inventory.yaml", text).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> InventoryError {
    Inventory::parse("inventory.yaml", text)
        .err()
        .expect("a refusal")
}

fn choose(inventory: &Inventory, words: &[&str]) -> Result<Vec<Arc<Target>>, InventoryError> {
    let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
    inventory.select_with(&words, &Overrides::default(), &mut std::io::empty())
}

fn names(inventory: &Inventory, words: &[&str]) -> Vec<String> {
    let targets = choose(inventory, words).unwrap_or_else(|error| panic!("{error}"));
    targets.iter().map(|target| target.name.clone()).collect()
}

fn one(inventory: &Inventory, word: &str) -> Arc<Target> {
    let mut targets = choose(inventory, &[word]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(targets.len(), 1);
    targets.remove(0)
}

fn info(target: &Target) -> serde_json::Value {
    Value::Hash(target.connection_info().into_hash()).reveal_json()
}

const NETWORK: &str = "
version: 2
config:
  transport: remote
  remote: {user: outer, timeout: 10, nested: {a: 1, b: 1}}
vars: {site: {name: hq, floor: 1}}
facts: {os: {family: any, arch: x}}
features: [base]
groups:
  - name: routers
    config: {remote: {remote-transport: cisco_ios, user: middle, nested: {b: 2}}}
    vars: {site: {name: dc}}
    facts: {os: {family: ios}}
    features: [routing]
    groups:
      - name: core
        config: {remote: {user: inner}}
        targets: [{name: r1, uri: 192.0.2.1, alias: [edge, core1]}]
    targets:
      - {name: r2, uri: 'ssh://192.0.2.2', config: {remote: {user: own, timeout: ~}}, features: [mine]}
  - name: lab
    config: {remote: {user: late, remote-transport: frr, extra: lab}}
    targets: [r1, edge2.example.com]
targets:
  - {name: proxy1, config: {transport: ssh, ssh: {user: ops}}, uri: proxy1.example.com}
";

#[test]
fn inner_groups_beat_outer_ones_first_siblings_the_others_and_targets_all() {
    let inventory = inventory(NETWORK);
    let r1 = one(&inventory, "r1");
    let options = r1
        .options()
        .map(|options| Value::Hash(options.clone()).to_json());
    assert_eq!(
        options,
        Some(json!({
            "user": "inner", "timeout": 10, "nested": {"a": 1, "b": 2},
            "remote-transport": "cisco_ios", "extra": "lab",
        }))
    );
    let r2 = one(&inventory, "r2");
    assert_eq!(info(&r2)["user"], "own");
    assert_eq!(info(&r2)["timeout"], 10, "a null hides nothing");
    assert_eq!(
        Value::Hash(r1.vars.clone()).to_json(),
        json!({"site": {"name": "dc"}})
    );
    assert_eq!(
        Value::Hash(r1.facts.clone()).to_json(),
        json!({"os": {"family": "ios", "arch": "x"}})
    );
    assert_eq!(
        r2.features.iter().collect::<Vec<_>>(),
        ["base", "mine", "routing"]
    );
    assert_eq!(r1.aliases, ["edge", "core1"]);
    assert_eq!(r1.groups, ["lab", "core", "routers", "all"]);
}

#[test]
fn connection_info_is_the_options_then_seven_keys() {
    let inventory = inventory(
        "targets:
  - name: sw
    uri: https://me:c%40nary@192.0.2.1:8443/api?x=1
    config:
      transport: remote
      remote: {remote-transport: panos, protocol: http, user: you, password: p, token: t, name: n, uri: u, host: h, gone: ~}
  - {name: plain, config: {transport: remote, remote: {protocol: https, host: h, port: 443, password: p}}}
  - {name: bare, uri: remote://192.0.2.9}
",
    );
    let sw = one(&inventory, "sw");
    assert_eq!(
        info(&sw),
        json!({
            "remote-transport": "panos", "protocol": "https", "user": "me", "password": "c@nary",
            "token": "t", "name": "sw", "uri": "https://me:c%40nary@192.0.2.1:8443/api?x=1",
            "host": "192.0.2.1", "port": 8443,
        })
    );
    assert_eq!(sw.remote_transport(), Some("panos"));
    assert_eq!(
        info(&one(&inventory, "plain")),
        json!({"protocol": "https", "host": "h", "port": 443, "password": "p", "name": "plain"}),
        "a configured protocol counts where the URI has no scheme"
    );
    assert_eq!(
        info(&one(&inventory, "bare")),
        json!({"name": "bare", "uri": "remote://192.0.2.9", "protocol": "remote", "host": "192.0.2.9"})
    );
    assert_eq!(
        info(&one(
            &super::tests::inventory("config: {transport: remote}\n"),
            "x"
        ))["protocol"],
        "remote"
    );
}

#[test]
fn the_transport_is_the_schemes_unless_the_config_says_remote() {
    let inventory = inventory(
        "targets: [a, 'winrm://b', {uri: 'docker://c', config: {transport: ssh}}, localhost]
groups:
  - name: devices
    config: {transport: remote, remote: {run-on: proxy1}}
    targets: ['https://d', e]
",
    );
    let kinds: Vec<_> = choose(&inventory, &["all"])
        .expect("targets")
        .iter()
        .map(|target| (target.name.clone(), target.kind.name()))
        .collect();
    let expected = [
        ("docker://c", "docker"),
        ("a", "ssh"),
        ("winrm://b", "winrm"),
        ("localhost", "local"),
        ("https://d", "remote"),
        ("e", "remote"),
    ];
    assert_eq!(kinds, expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(one(&inventory, "e").run_on(), "proxy1");
    assert_eq!(one(&inventory, "a").run_on(), "localhost");
    let error = choose(&inventory, &["telnet://h"]).expect_err("a refusal");
    assert_eq!(error.kind(), "bolt/unknown-transport");
    assert!(error.to_string().contains("telnet"), "{error}");
}

#[test]
fn localhost_is_local_even_where_everything_is_remote() {
    let inventory = inventory("config: {transport: remote}\nvars: {a: 1}\n");
    let localhost = one(&inventory, "localhost");
    assert_eq!(localhost.kind, Kind::Local);
    assert_eq!(localhost.vars.len(), 1);
    let own = super::tests::inventory("targets: [{name: localhost, config: {transport: ssh}}]");
    assert_eq!(one(&own, "localhost").kind, Kind::Ssh);
}

#[test]
fn words_choose_groups_targets_aliases_patterns_and_strangers_in_order_and_once() {
    let inventory = inventory(NETWORK);
    assert_eq!(
        names(&inventory, &["all"]),
        ["proxy1", "r2", "r1", "edge2.example.com"]
    );
    assert_eq!(names(&inventory, &["routers"]), ["r2", "r1"]);
    assert_eq!(
        names(&inventory, &["lab,r1", "edge"]),
        ["r1", "edge2.example.com"]
    );
    assert_eq!(names(&inventory, &["R2", "CORE1"]), ["r2", "r1"]);
    assert_eq!(
        names(&inventory, &["{r,proxy}[12] edge*"]),
        ["proxy1", "r2", "r1", "edge2.example.com"]
    );
    assert_eq!(
        names(&inventory, &["core*"]),
        ["r1"],
        "a pattern over aliases"
    );
    assert_eq!(names(&inventory, &["ssh://me@new:22"]), ["ssh://me@new:22"]);
    let error = choose(&inventory, &["x*", "r1", "{y,z}"]).expect_err("a refusal");
    assert_eq!(error.kind(), "bolt.inventory/wildcard-error");
    assert!(error.to_string().contains("x*, {y,z}"), "{error}");
}

#[test]
fn words_come_from_files_and_standard_input_too() -> std::io::Result<()> {
    let inventory = inventory(NETWORK);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("targets");
    std::fs::write(&path, "r2\nr1, proxy1\n")?;
    assert_eq!(
        names(&inventory, &[&format!("@{}", path.display())]),
        ["r2", "r1", "proxy1"]
    );
    let stdin: &mut dyn Read = &mut "lab\n".as_bytes();
    let chosen = inventory
        .select_with(&["-".to_owned()], &Overrides::default(), stdin)
        .expect("targets");
    assert_eq!(chosen.len(), 2);
    let missing = format!("@{}", folder.path().join("none").display());
    let error = choose(&inventory, &[&missing]).expect_err("a refusal");
    assert!(matches!(error, InventoryError::Unreadable { .. }));
    Ok(())
}

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
config: {transport: canary, ssh: canary, remote: {run-on: [canary]}}
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
        "line 1, column 10: expected version 2",
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
fn a_target_with_two_uris_is_warned_of_and_the_first_sibling_wins() {
    let inventory = inventory(
        "groups: [{name: a, targets: [{name: t, uri: h1}]}, {name: b, targets: [{name: t, uri: h2}]}]",
    );
    assert!(
        inventory.warnings()[0]
            .message
            .contains("the target t give different uris")
    );
    assert_eq!(info(&one(&inventory, "t"))["host"], "h1");
}

#[test]
fn plugin_references_are_refused_by_name() {
    let error = refusal(
        "targets: {_plugin: terraform, dir: x}\nconfig: {ssh: {password: {_plugin: env_var, var: X}}}\n\
         groups: [{_plugin: yaml}]\nplugin_hooks: {puppet_library: {plugin: task, task: x}}\n",
    );
    let text = error.to_string();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.contains("inventory.yaml: line 2, column 36: "),
        "{text}"
    );
    for plugin in ["terraform", "env_var", "yaml"] {
        assert!(text.contains(&format!("the plugin {plugin}:")), "{text}");
    }
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
fn only_a_file_that_was_named_must_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("inventory.yaml");
    let default = Inventory::load(Source::Default(path.clone())).expect("an empty inventory");
    assert_eq!(default.members("all"), Some(Vec::new()));
    let error = Inventory::load(Source::File(path))
        .err()
        .expect("a refusal");
    assert_eq!(error.kind(), "bolt/file-error");
}

#[test]
fn the_environment_and_a_named_file_exclude_each_other() {
    let default = PathBuf::from("inventory.yaml");
    let environment = Some("targets: [a]".to_owned());
    let both = Source::choose(Some("x.yaml".into()), environment.clone(), default.clone());
    assert!(matches!(both, Err(InventoryError::TwoSources)));
    let source = Source::choose(None, environment, default).expect("a source");
    let inventory = Inventory::load(source).expect("an inventory");
    assert_eq!(inventory.members("all"), Some(vec!["a"]));
}

/// Anything quadratic here would take minutes, and the run of all tests with it.
#[test]
fn twenty_thousand_targets_in_two_thousand_groups_are_chosen_one_by_one() {
    let mut text = "config: {transport: remote}\ngroups:\n".to_owned();
    for group in 0..2_000 {
        text.push_str(&format!(
            "- name: g{group}\n  vars: {{group: {group}}}\n  targets:\n"
        ));
        for target in 0..10 {
            text.push_str(&format!("  - {{name: t{group}-{target}, uri: 'https://h{group}', alias: a{group}-{target}}}\n"));
        }
    }
    let inventory = inventory(&text);
    let words: Vec<_> = (0..20_000)
        .map(|at| format!("A{}-{}", at / 10, at % 10))
        .collect();
    let targets = inventory
        .select_with(&words, &Overrides::default(), &mut std::io::empty())
        .expect("targets");
    assert_eq!(targets.len(), 20_000);
    assert_eq!(
        targets[19_999].vars.get("group"),
        Some(&Value::Integer(1_999))
    );
}

#[test]
fn a_command_line_beats_config_and_a_uri_beats_both() {
    let inventory = inventory(
        "config: {transport: remote, remote: {user: outer}}
targets:
  - {name: a, uri: 'https://me@h:8443', config: {remote: {user: own, port: 1, keep: yes}}}
  - {name: b, config: {transport: ssh, ssh: {user: ops}}}
",
    );
    let options = [("user", Value::from("cli")), ("port", Value::from(22))];
    let overrides = Overrides {
        transport: None,
        options: options.into_iter().collect(),
    };
    let words = ["a".to_owned(), "b".to_owned()];
    let targets = inventory
        .select_with(&words, &overrides, &mut std::io::empty())
        .expect("targets");
    let (a, b) = (info(&targets[0]), info(&targets[1]));
    assert_eq!(
        (&a["user"], &a["port"], &a["keep"]),
        (&json!("me"), &json!(8443), &json!(true))
    );
    assert_eq!((&b["user"], &b["port"]), (&json!("cli"), &json!(22)));
    let local = Overrides {
        transport: Some("local".to_owned()),
        options: Hash::new(),
    };
    let targets = inventory
        .select_with(&words[1..], &local, &mut std::io::empty())
        .expect("targets");
    assert_eq!(targets[0].kind, Kind::Local);
}
