//! A router's own command line, which asks for its passwords and shows pages: behind SSH, and by telnet.

use serde_json::{Value, json};

use crate::support::lab::Device;
use crate::support::line::console;
use crate::support::project::Project;

/// Returns the ways to the same command line. Behind SSH, its password differs from the account's.
fn variants(device: &Device) -> [Value; 2] {
    let [line, enable] = ["vty_password", "enable_password"].map(|which| device.secret(which));
    [
        json!({ "user": "vty", "password": device.password_of("vty"), "line_password": line, "enable_password": enable }),
        json!({ "protocol": "telnet", "port": device.port("vty_port"), "password": line, "enable_password": enable }),
    ]
}

fn with(settings: &Value, key: &str, value: Value) -> Value {
    let mut settings = settings.clone();
    settings[key] = value;
    settings
}

#[test]
fn it_is_reached_behind_ssh_and_by_telnet_which_is_warned_of() {
    let device = Device::lease();
    for (settings, is_telnet) in variants(&device).iter().zip([false, true]) {
        let project = Project::with_settings(&device, settings.clone());
        let run = project.devgate("facts -t router --format json").succeeded();
        let facts = &run.item()["value"];
        assert_eq!(
            facts.pointer("/networking/hostname"),
            Some(&json!(device.name())),
            "{facts:#}"
        );
        assert!(
            facts.pointer("/networking/interfaces/swp1/mac").is_some(),
            "{facts:#}"
        );
        assert_eq!(facts.get("ssh").is_some(), !is_telnet, "{facts:#}");
        let warned = run
            .stderr
            .contains("is not encrypted: anyone in between can read");
        assert_eq!(warned, is_telnet, "{}", run.stderr);
        let version = "session run -t router -- devgate session exec show version";
        project.devgate(version).succeeded().shows(&["FRRouting"]);
    }
}

#[test]
fn a_console_that_shows_nothing_is_woken_and_then_prompts() {
    let device = Device::lease();
    let [_, telnet] = variants(&device);
    let port = console(device.port("vty_port"));
    let project = Project::with_settings(&device, with(&telnet, "port", json!(port)));
    let run = project.devgate("facts -t router --format json").succeeded();
    assert_eq!(
        run.item().pointer("/value/networking/hostname"),
        Some(&json!(device.name())),
        "{run}"
    );
    // If the other end does not exist, the error says what was tried.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = nobody.local_addr().expect("it has an address").port();
    let mut settings = with(&telnet, "port", json!(port));
    settings["timeout"] = json!(6);
    let project = Project::with_settings(&device, settings);
    project
        .devgate("verify -t router")
        .failed()
        .shows(&["it showed nothing, even after Return", "the right port"]);
}

#[test]
fn telnet_is_named_by_a_uri_as_well() {
    let device = Device::lease();
    let mut project = Project::new();
    let uri = format!("telnet://127.0.0.1:{}", device.port("vty_port"));
    let remote = json!({ "remote-transport": "frr", "password": device.secret("vty_password") });
    project.add_entry(json!({
        "uri": uri,
        "name": "router",
        "config": { "transport": "remote", "remote": remote },
    }));
    project
        .devgate("verify -t router")
        .succeeded()
        .shows(&["not encrypted", "is reachable"]);
}

#[test]
fn pages_are_turned_and_leave_no_trace() {
    let device = Device::lease();
    let family = include_str!("../devices/families/frr/family.yaml");
    assert!(family.contains("on_open: [terminal length 0]"));
    let paged = family
        .replace(
            "on_open: [terminal length 0]",
            "on_open: [terminal length 7]",
        )
        .replace("name: frr\n", "name: paged\n");
    for settings in variants(&device) {
        let output_of = |transport: &str| {
            let mut project = Project::with_settings(
                &device,
                with(&settings, "remote-transport", json!(transport)),
            );
            project.write("modules/paged/devices/paged/family.yaml", &paged);
            let run =
                project.devgate("session run -t router -- devgate session exec show interface");
            run.succeeded().stdout
        };
        let full_output = output_of("frr");
        assert!(full_output.lines().count() > 20, "{full_output}");
        assert_eq!(output_of("paged"), full_output);
    }
}

#[test]
fn a_wrong_password_is_typed_once_and_reported_with_the_setting_to_check() {
    let device = Device::lease();
    for (settings, setting) in variants(&device).iter().zip(["line_password", "password"]) {
        let wrong = with(settings, setting, json!("canary-wrong"));
        let project = Project::with_settings(&device, wrong);
        let run = project.devgate("verify -t router --format json").failed();
        let expected = format!("check `user` and `{setting}`");
        assert!(
            !run.stderr.contains("could not open"),
            "it is not tried again:\n{run}"
        );
        run.shows(&[
            "refuses the login of",
            "password, at its command line",
            &expected,
        ]);
        let none = with(settings, setting, Value::Null);
        let run = Project::with_settings(&device, none)
            .devgate("verify -t router")
            .failed();
        run.shows(&[setting, "asks"]);
    }
}

#[test]
fn a_wrong_enable_password_is_reported_and_none_is_an_unprivileged_session() {
    let device = Device::lease();
    for settings in variants(&device) {
        let wrong = with(&settings, "enable_password", json!("canary-wrong"));
        let run = Project::with_settings(&device, wrong)
            .devgate("verify -t router")
            .failed();
        run.shows(&[
            "does not allow privileged mode with `enable`",
            "check `enable_password`",
        ]);
        let none = with(&settings, "enable_password", Value::Null);
        let project = Project::with_settings(&device, none);
        project.devgate("verify -t router").succeeded();
        let refused = "session run -t router -- devgate session exec show running-config";
        project
            .devgate(refused)
            .failed()
            .shows(&["Unknown command"]);
    }
}
