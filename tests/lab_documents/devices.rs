//! Stages with a device, a server or hosts of the lab in place of those that the documents name.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::rows::{NETCONF, PROTOCOLS, PROXIES};
use super::stage::Stage;
use crate::lab_hosts;
use crate::support::blocks;
use crate::support::http::Server;
use crate::support::lab::{Device, lab, lock_exclusively, powerdns, text};

/// What the documents name as a key and as an authority.
pub(super) const KEY: &str = "/etc/devgate/id_ed25519";
pub(super) const AUTHORITY: &str = "ssl_ca_file: /etc/devgate/ca.pem";

/// The settings that reach a server without TLS.
pub(super) fn in_clear(port: &impl std::fmt::Display) -> String {
    format!("host: 127.0.0.1\nport: {port}\nprotocol: http")
}

/// The entry for a vendor's device, with a server of the tests in its place.
pub(super) fn served(name: &str, host: &str, server: Server, tls: &str) -> Stage {
    let reached = in_clear(&server.port);
    let changes = [(&*format!("host: {host}"), &*reached), (tls, "")];
    Stage::of(PROTOCOLS, &format!("name: {name}\n"), &changes).with_resource(server)
}

/// A NETCONF server of the lab, for this scene alone.
pub(super) fn netconf(document: &str, host: &str, name: &str, mark: &str) -> Stage {
    let lab = lab("netconf");
    let mut devices = lab["devices"].as_array().expect("devices").iter();
    let device = devices.find(|device| device["name"] == name);
    let device = device.expect("it is in the lab");
    let port = format!("port: {}", device["port"]);
    let changes = [
        (&*format!("host: {host}"), "host: 127.0.0.1"),
        ("port: 830", &port),
        (KEY, text(&lab, "private_key")),
    ];
    Stage::of(document, mark, &changes)
        .with_known_hosts(text(&lab, "known_hosts"))
        .with_resource(lock_exclusively(device))
}

/// A command line behind SSH: the document's address becomes the device's.
pub(super) fn command_line(document: &str, mark: &str, device: &Device) -> Stage {
    let reached = format!("host: 127.0.0.1\nport: {}", device.port("port"));
    Stage::of(document, mark, &[("host: 192.0.2.10", &reached)])
        .with_known_hosts(device.known_hosts())
}

/// A zone that the documents speak of, on a server that this scene has for itself.
pub(super) fn with_zone(stage: Stage, lab: &Value) -> Stage {
    let stage = stage
        .with_resource(lock_exclusively(lab))
        .variable("DNS_KEY", text(lab, "key"))
        .file(
            "rrsets.json",
            &json!({ "rrsets": [{ "name": "www.example.org.", "type": "A", "ttl": 60, "changetype": "REPLACE",
                "records": [{ "content": "192.0.2.7", "disabled": false }] }] })
            .to_string(),
        );
    let zone =
        json!({ "name": "example.org.", "kind": "Native", "nameservers": ["ns1.example.org."] });
    powerdns(lab, "/zones/example.org.", &["-X", "DELETE"]);
    powerdns(lab, "/zones", &["-X", "POST", "-d", &zone.to_string()]);
    stage
}

/// The lines of OpenSSH's configuration for a host of the lab under a name of the documents.
fn ssh_host(name: &str, port: &impl std::fmt::Display, key: &str, known: &str) -> String {
    format!(
        "Host {name}\nHostName 127.0.0.1\nPort {port}\nIdentityFile {key}\nIdentityAgent none\n\
         UserKnownHostsFile {known}\n"
    )
}

/// The project of the page about proxies with one of its inventories.
pub(super) fn proxies(mark: &str, changes: &[(&str, &str)]) -> Stage {
    let guard = lab_hosts::EXCLUSIVE
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let (lab, device) = (lab("hosts"), Device::lease());
    let port = |name: &str| {
        let mut hosts = lab["hosts"].as_array().expect("hosts").iter();
        hosts
            .find(|host| host["name"] == name)
            .expect("it is there")["port"]
            .clone()
    };
    let of_lab = |name: &str, host: &str| {
        ssh_host(
            name,
            &port(host),
            text(&lab, "private_key"),
            text(&lab, "known_hosts"),
        )
    };
    let settings = [
        of_lab("jump1.example.com", "h1"),
        of_lab("jump2.example.com", "h2"),
        of_lab("bastion.example.com", "bastion") + "User runner\n",
        ssh_host(
            "sw1",
            &device.port("port"),
            device.private_key(),
            device.known_hosts(),
        ),
    ];
    let user = ("user: netops", "user: runner");
    Stage::of(PROXIES, mark, &[&[user], changes].concat())
        .file("home/.ssh/config", &settings.concat())
        .file(
            "modules/net/tasks/ports.json",
            r#"{"remote": true, "input_method": "stdin"}"#,
        )
        .file(
            "modules/net/tasks/ports.sh",
            "#!/bin/sh\nname=$(sed -n 's/.*\"_target\":{[^}]*\"name\":\"\\([^\"]*\\)\".*/\\1/p')\n\
             printf '{\"done\": \"ran for %s\"}\\n' \"$name\"\n",
        )
        .with_resource(device)
        .with_resource(guard)
}

pub(super) fn pxp() -> Stage {
    let device = Device::lease();
    let mut stage = Stage::new();
    stage.project.add("r1", &device, json!({}));
    let folder = stage.project.path().to_owned();
    let (folder_text, devgate) = (folder.display().to_string(), env!("CARGO_BIN_EXE_devgate"));
    for made in ["agent/modules", "agent/config"] {
        fs::create_dir_all(folder.join(made)).expect("a folder can be made");
    }
    let tests = blocks::root().join("tests");
    symlink(tests, folder.join("tests")).expect("a link can be made");
    let module = format!("#!/bin/sh\nexec {devgate} --project {folder_text} pxp serve \"$@\"\n");
    let module = stage.project.write("modules/frr", &module);
    fs::set_permissions(module, fs::Permissions::from_mode(0o755)).expect("it is ours");
    stage
        .file("input.json", r#"{"targets": "r1"}"#)
        .word("/usr/bin/devgate", devgate)
        .word("/srv/net", &folder_text)
        .word("/opt/puppetlabs/pxp-agent/modules", "agent/modules")
        .word("/etc/puppetlabs/pxp-agent/modules", "agent/config")
        .with_resource(device)
}

pub(super) fn caddy() -> Stage {
    let lab = lab("caddy");
    let mut stage = Stage::new().with_resource(lock_exclusively(&lab));
    stage.project.add_target(
        "proxy",
        json!({ "remote-transport": "rest", "protocol": "http", "host": text(&lab, "host"), "port": lab["port"],
            "user": lab["user"], "password": lab["password"] }),
    );
    let logging = json!({ "logs": { "default": { "level": "ERROR" } } });
    let mut stage = stage.file("logging.json", &logging.to_string());
    // A PUT makes what is not there.
    stage.run("devgate session set -t proxy /config/logging --method DELETE");
    let read = stage
        .run("devgate session get -t proxy /config/logging --log-level info")
        .succeeded();
    let (_, etag) = read
        .stderr
        .split_once("the ETag of `GET /config/logging` is ")
        .expect("an ETag");
    let etag = etag.lines().next().expect("a line").to_owned();
    stage.word("\"1a2b\"", &etag)
}

/// The simulator of a Junos switch.
pub(super) fn junos() -> Stage {
    let lab = lab("fakes");
    let mut switches = lab["switches"].as_array().expect("switches").iter();
    let switch = switches.find(|switch| text(switch, "name").starts_with("juniper"));
    let port = format!("port: {}", switch.expect("it is in the lab")["port"]);
    let user = format!("user: {}", text(&lab, "user"));
    let password = format!("password: {}", text(&lab, "password"));
    let changes = [
        ("host: 192.0.2.1", "host: 127.0.0.1"),
        ("port: 830", &*port),
        ("user: admin", &*user),
        (&*format!("private_key: {KEY}"), &*password),
    ];
    Stage::of(NETCONF, "name: r1\n", &changes).with_known_hosts(text(&lab, "known_hosts"))
}

/// A server with what the page changes and asks for.
pub(super) fn netconf_page() -> Stage {
    let mut stage = netconf(NETCONF, "192.0.2.1", "startup", "name: r1\n");
    for there in [
        "<system xmlns=\"urn:ietf:params:xml:ns:yang:ietf-system\"><location>here</location></system>",
        "<interfaces xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\"><interface><name>eth0</name>\
         <type xmlns:ianaift=\"urn:ietf:params:xml:ns:yang:iana-if-type\">ianaift:ethernetCsmacd</type>\
         </interface></interfaces>",
    ] {
        stage
            .run(&format!("devgate session set -t r1 '{there}'"))
            .succeeded();
    }
    stage.last = Some(
        "devgate session set -t r1 '<interfaces xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\">\
         <interface nc:operation=\"delete\"><name>eth0</name></interface></interfaces>'",
    );
    stage
}
