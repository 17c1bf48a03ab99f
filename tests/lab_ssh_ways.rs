//! The ways to a device over SSH: OpenSSH's configuration, jump hosts, agents, certificates.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::lab::{Device, lab, pause, text};
use crate::support::project::Project;

/// Returns the lab's host of this name.
fn host<'l>(hosts: &'l Value, name: &str) -> &'l Value {
    let all = hosts["hosts"].as_array().expect("lab.json lists hosts");
    let found = all.iter().find(|host| host["name"] == name);
    found.expect("the lab has it")
}

/// Returns OpenSSH's configuration of the bastion; `key` is the identity file.
fn bastion(hosts: &Value, key: &str) -> String {
    format!(
        "Host bastion\nHostName 127.0.0.1\nPort {}\nUser runner\nIdentityFile {key}\nIdentityAgent none\n",
        host(hosts, "bastion")["port"],
    )
}

#[test]
fn what_the_inventory_does_not_say_openssh_s_configuration_says_of_a_device() {
    let device = Device::lease();
    let mut project = Project::new();
    let lines = format!(
        "Host core1\nHostName 127.0.0.1\nPort {}\nUser admin\nIdentityFile {}\nUserKnownHostsFile {}\n\
         Host *\nUser nobody\nPort 9\n",
        device.port("port"),
        device.private_key(),
        device.known_hosts(),
    );
    project.write("home/.ssh/config", &lines);
    let named = json!({ "remote-transport": "frr", "host": "core1" });
    project.add_target("router", named);
    project.devgate("verify -t router").succeeded();
    project.add_target(
        "without",
        json!({ "remote-transport": "frr", "host": "core1", "load_config": false }),
    );
    project
        .devgate("verify -t without")
        .failed()
        .shows(&["the name `core1` cannot be resolved"]);
    // The inventory takes precedence over the file.
    project.add_target(
        "closed",
        json!({ "remote-transport": "frr", "host": "core1", "user": "nobody-here" }),
    );
    project
        .devgate("verify -t closed")
        .failed()
        .shows(&["refuses the login of `nobody-here`"]);
}

#[test]
fn a_device_is_reached_through_a_jump_host_whose_refusal_names_its_own_settings() {
    let (device, hosts) = (Device::lease(), lab("hosts"));
    let mut project = Project::new();
    let known_hosts = [device.known_hosts(), text(&hosts, "known_hosts")]
        .map(|file| fs::read_to_string(file).expect("known hosts"));
    let known_hosts = project.write("known_hosts", &known_hosts.concat());
    project.write(
        "home/.ssh/config",
        &bastion(&hosts, text(&hosts, "private_key")),
    );
    let settings = json!({ "proxyjump": "bastion", "known_hosts_file": known_hosts });
    project.add("router", &device, settings);
    project.devgate("facts -t router").succeeded();
    let log = fs::read_to_string(text(host(&hosts, "bastion"), "log")).expect("a log");
    let request = format!("127.0.0.1 port {}", device.port("port"));
    assert!(
        log.contains(&request),
        "the bastion was not asked for {request}"
    );

    // The bastion is offered none of the device's credentials.
    project.write("home/.ssh/config", &bastion(&hosts, "/nowhere"));
    project.devgate("verify -t router").failed().shows(&[
        "refuses the login of `runner`",
        "a jump host needs a key",
        "`IdentityFile` under `Host bastion`",
    ]);
}

#[test]
fn a_device_behind_a_jump_host_is_reached_by_telnet_too_and_named_when_it_is_down() {
    let (device, hosts) = (Device::lease(), lab("hosts"));
    let known_hosts = [device.known_hosts(), text(&hosts, "known_hosts")]
        .map(|file| fs::read_to_string(file).expect("known hosts"));
    let project = |settings: Value| {
        let mut project = Project::new();
        let known_hosts = project.write("known_hosts", &known_hosts.concat());
        project.write(
            "home/.ssh/config",
            &format!(
                "{}UserKnownHostsFile {}\n",
                bastion(&hosts, text(&hosts, "private_key")),
                known_hosts.display()
            ),
        );
        let mut info = json!({ "proxyjump": "bastion", "known_hosts_file": known_hosts });
        for (key, value) in settings.as_object().expect("settings are an object") {
            info[key] = value.clone();
        }
        project.add("router", &device, info);
        project
    };
    let telnet = json!({
        "protocol": "telnet",
        "port": device.port("vty_port"),
        "password": device.secret("vty_password"),
    });
    let run = project(telnet)
        .devgate("facts -t router --format json")
        .succeeded()
        .shows(&["is not encrypted behind 127.0.0.1:"]);
    let facts = &run.item()["value"];
    assert_eq!(
        facts.pointer("/networking/hostname"),
        Some(&json!(device.name())),
        "{facts:#}"
    );
    assert!(facts.get("ssh").is_none(), "{facts:#}");

    // An unknown host name is reported at once; a device that is down is waited for.
    let nowhere = project(json!({ "host": "no-such-host.invalid" }));
    let run = nowhere.devgate("verify -t router").failed().shows(&[
        "no connection to no-such-host.invalid:",
        "through 127.0.0.1:",
        "check `host`",
    ]);
    assert!(!run.stderr.contains("try 2 follows"), "{run}");
    device.fault("refuse");
    let straight = project(json!({}));
    let mut running = straight.start("verify -t router");
    running.wait_for(" (Connection refused)");
    running.wait_for("try 2 follows");
    device.fault("accept");
    running.finish().succeeded();
}

#[test]
fn an_agent_signs_for_a_device() {
    let device = Device::lease();
    let project = Project::with_settings(&device, json!({ "password": null }));
    // ssh-agent ends with the program that it starts.
    let add = format!("ssh-add -q {} && exec \"$@\"", device.private_key());
    let wrapper = ["ssh-agent", "sh", "-c", &add, "sh"];
    let run = project.start_under(&wrapper, "verify -t router").finish();
    run.succeeded();
    project
        .devgate("verify -t router")
        .failed()
        .shows(&["start an agent"]);
}

#[test]
fn certificates_prove_a_device_and_its_user() {
    let hosts = lab("hosts");
    let mut project = Project::new();
    // Its known hosts contain only the authority, and it accepts only certificates.
    let info = |key: &str| {
        json!({
            "remote-transport": "ssh_cli",
            "host": "127.0.0.1",
            "port": host(&hosts, "h5")["port"],
            "user": "runner",
            "private_key": text(&hosts, key),
            "known_hosts_file": text(&hosts, "known_hosts"),
        })
    };
    project.add_target("certified", info("certified_key"));
    project.add_target("bare", info("private_key"));
    project.devgate("verify -t certified").succeeded();
    project
        .devgate("verify -t bare")
        .failed()
        .shows(&["refuses the login of `runner` (private key"]);
}

#[test]
fn a_session_that_died_while_it_was_idle_is_detected_and_opened_again() {
    let device = Device::lease();
    let settings = json!({ "keepalive_interval": 1, "keepalive_count_max": 2 });
    let mut project = Project::with_settings(&device, settings);
    let script = "devgate session exec show version >/dev/null && touch asked\n\
        while [ ! -e answer ]; do sleep 0.1; done\n\
        devgate session exec show version\n";
    project.write("idle.sh", script);
    let logins = |least| device.logged("Accepted password", least);
    let before = logins(0);
    let running = project.start("session run -t router -- sh idle.sh");
    let until = Instant::now() + Duration::from_secs(60);
    while !project.path().join("asked").exists() {
        assert!(Instant::now() < until, "the first command has no end");
        pause(Duration::from_millis(50));
    }
    device.fault("freeze");
    pause(Duration::from_secs(6));
    device.fault("thaw");
    project.write("answer", "");
    running.finish().succeeded().shows(&["FRRouting 8"]);
    assert_eq!(logins(before + 2) - before, 2);
}
