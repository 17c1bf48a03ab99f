//! The actions on a device: the practice switch.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::module::{BINARY, Module};
use crate::support::run::Process;

/// A practice switch, and a module with the switch as a target.
struct Switch {
    module: Module,
    _process: Process,
}

impl Switch {
    fn new() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
        let child = Command::new(BINARY)
            .args(["practice", "--port", "0", "--privileged"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = Process(child.expect("the binary starts"));
        let port = port(&mut process.0);
        let mut module = Module::new();
        module.project.add_target("switch", json!({
            "remote-transport": "practice", "host": "127.0.0.1", "port": port, "user": "admin",
            "password": "let-me-in", "enable_password": "let-me-configure", "verify_hosts": false,
        }));
        Self {
            module,
            _process: process,
        }
    }

    /// Returns the result of a successful action on the switch.
    fn value(&mut self, action: &str, mut input: Value) -> Value {
        input["targets"] = json!("switch");
        let request = self.module.request(input);
        self.module.call(action, &request).succeeded().item()["value"].clone()
    }
}

/// Returns the port on which the switch reports to listen.
fn port(switch: &mut Child) -> u16 {
    let mut line = String::new();
    let stdout = switch.stdout.take().expect("a pipe");
    BufReader::new(stdout)
        .read_line(&mut line)
        .expect("it speaks");
    let words = line.split_whitespace();
    let mut addresses = words.filter_map(|word| word.parse::<std::net::SocketAddr>().ok());
    addresses
        .next()
        .unwrap_or_else(|| panic!("no address in {line}"))
        .port()
}

#[test]
fn each_action_answers_as_the_metadata_say() {
    let mut switch = Switch::new();
    assert_eq!(switch.value("verify", json!({})), json!({}));
    for input in [json!({}), json!({"cached": 60, "stale_ok": true})] {
        let facts = switch.value("facts", input);
        assert_eq!(facts["networking"]["hostname"], "practice", "{facts}");
    }
    let manifest = json!({"practice_vlan": {"30": {"name": "guests"}}});
    let noop = switch.value("device_run", json!({"manifest": manifest, "noop": true}));
    assert_eq!(
        (&noop["noop"], &noop["summary"]["out_of_sync"]),
        (&json!(true), &json!(1)),
        "{noop}"
    );
    let made = switch.value(
        "device_run",
        json!({"manifest": manifest, "busy": "wait=9", "tags": []}),
    );
    assert_eq!(made["status"], "changed", "{made}");
    assert_eq!(made["resources"][0]["file"], "input.manifest", "{made}");
    let text = "practice_vlan:\n  30: {name: guests}\n";
    switch.module.project.write("vlans.yaml", text);
    let same = switch.value(
        "device_run",
        json!({"manifest_file": "vlans.yaml", "rollback": "never"}),
    );
    assert_eq!(same["status"], "unchanged", "{same}");
    let vlan = switch.value(
        "resource_get",
        json!({"type": "practice_vlan", "title": "30"}),
    );
    assert_eq!(vlan["resources"][0]["name"], "guests", "{vlan}");
    let all = switch.value("resource_get", json!({"type": "practice_vlan"}));
    assert!(
        all["resources"].as_array().is_some_and(|all| all.len() > 1),
        "{all}"
    );
    let kept = switch.module.project.remaining_files();
    assert!(
        kept.values().all(|text| !text.contains("guests")),
        "a manifest goes to no disk: {kept:?}"
    );
}

#[test]
fn an_inline_manifest_that_is_wrong_is_reported_with_its_location() {
    let mut switch = Switch::new();
    for (manifest, expected) in [
        (json!({"practice_vlann": {"30": {}}}), "input.manifest:1:"),
        (json!({"practice_vlan": 1}), "input.manifest:1:"),
        (json!({"resources": [{"type": 1}]}), "input.manifest:"),
    ] {
        let request = json!({"targets": "switch", "manifest": manifest});
        let request = switch.module.request(request);
        let run = switch.module.call("device_run", &request).failed();
        let error = &run.json()["_error"];
        assert!(
            error["msg"]
                .as_str()
                .is_some_and(|msg| msg.contains(expected)),
            "{run}"
        );
    }
}
