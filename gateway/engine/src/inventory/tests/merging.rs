//! The merge of the data of groups and entries.

use devgate_schemas::Value;
use serde_json::json;

use super::*;

#[test]
fn inner_groups_beat_outer_ones_first_siblings_the_others_and_targets_all() {
    let inventory = inventory(NETWORK);
    let r1 = one(&inventory, "r1");
    assert_eq!(
        Value::Hash(r1.options.clone()).to_json(),
        json!({
            "user": "inner", "timeout": 10, "nested": {"a": 1, "b": 2},
            "remote-transport": "cisco_ios", "extra": "lab",
        })
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
    assert_eq!(r1.groups, ["core", "routers", "lab", "all"]);
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
            "host": "192.0.2.1", "port": 8443, "run-on": "localhost",
        })
    );
    assert_eq!(sw.remote_transport(), Some("panos"));
    assert_eq!(
        info(&one(&inventory, "plain")),
        json!({
            "protocol": "https", "host": "h", "port": 443, "password": "p", "name": "plain", "run-on": "localhost",
        }),
        "a configured protocol counts where the URI has no scheme"
    );
    assert_eq!(
        info(&one(&inventory, "bare")),
        json!({
            "name": "bare", "uri": "remote://192.0.2.9", "protocol": "remote", "host": "192.0.2.9", "run-on": "localhost",
        })
    );
    for (scheme, protocol) in [("rest", "http"), ("remote", "http"), ("https", "https")] {
        let inventory = super::inventory(&format!(
            "targets: [{{name: own, uri: '{scheme}://h', config: {{transport: remote, \
             remote: {{remote-transport: rest, protocol: http}}}}}}]"
        ));
        let own = info(&one(&inventory, "own"));
        assert_eq!(own["protocol"], protocol, "{scheme}");
    }
    assert_eq!(
        info(&one(
            &super::inventory("config: {transport: remote}\n"),
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
    let stranger = one(&inventory, "telnet://h");
    let fault = stranger.fault.as_ref().expect("a fault");
    assert_eq!(fault.kind(), "bolt/unknown-transport");
    assert!(fault.to_string().contains("telnet"), "{fault}");
}

#[test]
fn localhost_is_local_even_where_everything_is_remote() {
    let inventory = inventory("config: {transport: remote}\nvars: {a: 1}\n");
    let localhost = one(&inventory, "localhost");
    assert_eq!(localhost.kind, TargetKind::Local);
    assert_eq!(localhost.vars.len(), 1);
    let own = super::inventory("targets: [{name: localhost, config: {transport: ssh}}]");
    assert_eq!(one(&own, "localhost").kind, TargetKind::Ssh);
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
        remote: options.clone().into_iter().collect(),
        options: options.into_iter().collect(),
        ..Overrides::default()
    };
    let words = ["a".to_owned(), "b".to_owned()];
    let targets = now(inventory.select(&words, &overrides)).expect("targets");
    let (a, b) = (info(&targets[0]), info(&targets[1]));
    assert_eq!(
        (&a["user"], &a["port"], &a["keep"]),
        (&json!("me"), &json!(8443), &json!(true))
    );
    assert_eq!((&b["user"], &b["port"]), (&json!("cli"), &json!(22)));
    let local = Overrides {
        transport: Some("local".to_owned()),
        ..Overrides::default()
    };
    let targets = now(inventory.select(&words[1..], &local)).expect("targets");
    assert_eq!(targets[0].kind, TargetKind::Local);
}

#[test]
fn an_ssh_target_without_a_host_is_reached_by_its_name() {
    let inventory = inventory(
        "targets:\n  - {name: al, config: {transport: ssh}}\n  - {name: bo, config: {transport: remote}}\n",
    );
    assert_eq!(info(&one(&inventory, "al"))["host"], "al");
    assert_eq!(info(&one(&inventory, "bo")).get("host"), None);
}
