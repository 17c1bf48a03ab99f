//! Where the commands run: a project with an inventory of the documents, whose target is one of the lab.

use std::any::Any;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::PoisonError;

use serde_json::{Value, json};

use super::{NETCONF, PROTOCOLS, PROXIES, REST, SECRETS};
use crate::lab_hosts;
use crate::support::blocks;
use crate::support::http::Server;
use crate::support::lab::{Device, lab, lock_exclusively, powerdns, text};
use crate::support::ovsdb::vsctl;
use crate::support::project::Project;
use crate::support::run::Run;
use crate::support::vendors::{self, eapi, f5, nxapi, panos, restconf};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scene {
    Age,
    Caddy,
    CommandLine,
    Eapi,
    Empty,
    F5,
    Frr,
    Ietf,
    JetConf,
    Junos,
    Netconf,
    Nxapi,
    OpenVSwitch,
    Panos,
    PowerDns,
    Proxies,
    Pxp,
    Rest,
    Restconf,
    Snmp,
    Telnet,
}

pub(super) const ALL: [Scene; 21] = [
    Scene::Age,
    Scene::Caddy,
    Scene::CommandLine,
    Scene::Eapi,
    Scene::Empty,
    Scene::F5,
    Scene::Frr,
    Scene::Ietf,
    Scene::JetConf,
    Scene::Junos,
    Scene::Netconf,
    Scene::Nxapi,
    Scene::OpenVSwitch,
    Scene::Panos,
    Scene::PowerDns,
    Scene::Proxies,
    Scene::Pxp,
    Scene::Rest,
    Scene::Restconf,
    Scene::Snmp,
    Scene::Telnet,
];

/// What the documents name as a key and as an authority.
const KEY: &str = "/etc/devgate/id_ed25519";
const AUTHORITY: &str = "ssl_ca_file: /etc/devgate/ca.pem";

/// A folder in which commands run.
pub(super) struct Stage {
    project: Project,
    /// Whether its inventory is an entry of the page about protocols, which says what to do with each.
    pub(super) is_entry: bool,
    variables: Vec<(&'static str, String)>,
    /// What stands in the commands, and what it is here.
    words: Vec<(String, String)>,
    /// What must still succeed behind the commands: they have done what they should, or it is undone.
    last: Option<&'static str>,
    /// Kept for as long as it is used: leases and servers.
    resources: Vec<Box<dyn Any>>,
}

/// The inventory of a document that has this text.
fn entry(document: &str, mark: &str) -> String {
    let document = blocks::text(&blocks::root().join(document));
    let mut found = blocks::blocks(&document)
        .into_iter()
        .filter(|block| block.language == "yaml" && block.text.contains(mark));
    let block = found.next().expect("the document has such an entry");
    block.text
}

/// A text in which something stands that becomes something else; each line of that has the same indentation.
fn changed(text: &str, from: &str, to: &str) -> String {
    let begin = text
        .find(from)
        .unwrap_or_else(|| panic!("{from:?} is not in {text}"));
    let line = text[..begin].rfind('\n').map_or(0, |end| end + 1);
    let indentation: String = text[line..begin]
        .chars()
        .take_while(|c| *c == ' ')
        .collect();
    text.replace(from, &to.replace('\n', &format!("\n{indentation}")))
}

impl Stage {
    fn new() -> Self {
        Self {
            project: Project::new(),
            is_entry: false,
            variables: Vec::new(),
            words: Vec::new(),
            last: None,
            resources: Vec::new(),
        }
    }

    /// A project whose inventory is that of a document, but for these parts.
    fn of(document: &str, mark: &str, changes: &[(&str, &str)]) -> Self {
        let mut stage = Self::new();
        let mut inventory = entry(document, mark);
        for (from, to) in changes {
            inventory = changed(&inventory, from, to);
        }
        stage.project.write("inventory.yaml", &inventory);
        stage.is_entry = document == PROTOCOLS;
        stage
    }

    fn file(mut self, name: &str, text: &str) -> Self {
        self.project.write(name, text);
        self
    }

    fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    fn word(mut self, from: &str, to: &str) -> Self {
        self.words.push((from.to_owned(), to.to_owned()));
        self
    }

    /// The hosts that the user knows.
    fn with_known_hosts(self, file: &str) -> Self {
        let known_hosts = fs::read_to_string(file).expect("the lab has known hosts");
        self.file("home/.ssh/known_hosts", &known_hosts)
    }

    fn with_resource(mut self, resources: impl Any) -> Self {
        self.resources.push(Box::new(resources));
        self
    }

    /// Runs a command as it stands in a document.
    pub(super) fn run(&mut self, command: &str) -> Run {
        let mut command = command.to_owned();
        for (from, to) in &self.words {
            command = command.replace(from, to);
        }
        let variables = self.variables.iter();
        let script: String = variables
            .map(|(name, value)| format!("export {name}='{value}'\n"))
            .chain([command])
            .collect();
        self.project.write("command.sh", &format!("{script}\n"));
        self.project.run_program(&["bash", "command.sh"])
    }

    /// Takes what later commands need from what one has said.
    pub(super) fn record(&mut self, command: &str, run: &Run) {
        if command.contains("age-keygen") {
            let output = run.stdout.clone() + &run.stderr;
            let (_, key) = output.split_once("Public key: ").expect("a public key");
            let key = key.lines().next().expect("a line");
            self.words.push(("age1...".to_owned(), key.to_owned()));
        }
    }

    /// What is wrong behind the commands.
    pub(super) fn end(mut self) -> Option<String> {
        let last = self.last?;
        let run = self.run(last);
        (run.code() != Some(0)).then(|| format!("behind the commands: $ {last}\n{run}"))
    }
}

/// The settings that reach a server without TLS.
fn in_clear(port: &impl std::fmt::Display) -> String {
    format!("host: 127.0.0.1\nport: {port}\nprotocol: http")
}

/// The entry for a vendor's device, with a server of the tests in its place.
fn served(name: &str, host: &str, server: Server, tls: &str) -> Stage {
    let reached = in_clear(&server.port);
    let changes = [(&*format!("host: {host}"), &*reached), (tls, "")];
    Stage::of(PROTOCOLS, &format!("name: {name}\n"), &changes).with_resource(server)
}

/// A NETCONF server of the lab, for this scene alone.
fn netconf(document: &str, host: &str, name: &str, mark: &str) -> Stage {
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
fn command_line(document: &str, mark: &str, device: &Device) -> Stage {
    let reached = format!("host: 127.0.0.1\nport: {}", device.port("port"));
    Stage::of(document, mark, &[("host: 192.0.2.10", &reached)])
        .with_known_hosts(device.known_hosts())
}

/// A zone that the documents speak of, on a server that this scene has for itself.
fn with_zone(stage: Stage, lab: &Value) -> Stage {
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

fn proxies() -> Stage {
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
    let users = [
        ("user: netops", "user: runner"),
        ("run-as: tasks", "run-as: worker"),
    ];
    Stage::of(PROXIES, "name: proxies\n", &users)
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

fn pxp() -> Stage {
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

fn caddy() -> Stage {
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
fn junos() -> Stage {
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
fn netconf_page() -> Stage {
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

impl Scene {
    /// Sets it: the project, the inventory, the files that the commands name.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Empty => Stage::new(),
            Self::Caddy => caddy(),
            Self::Proxies => proxies(),
            Self::Pxp => pxp(),
            Self::Junos => junos(),
            Self::Netconf => netconf_page(),
            Self::Frr => {
                let device = Device::lease();
                let uri = format!("ssh://127.0.0.1:{}", device.port("port"));
                let changes = [("ssh://192.0.2.1", &*uri), (KEY, device.private_key())];
                Stage::of(PROTOCOLS, "name: r1\n", &changes)
                    .with_known_hosts(device.known_hosts())
                    .file(
                        "routes.yaml",
                        "frr_static_route: { 10.77.0.0/16 via Null0: {} }\n",
                    )
                    .with_resource(device)
            }
            Self::CommandLine => {
                let device = Device::lease();
                command_line(PROTOCOLS, "name: sw1\n", &device)
                    .variable("SW_PASSWORD", device.password())
                    .with_resource(device)
            }
            Self::Age => {
                let device = Device::lease();
                let mut stage = command_line(SECRETS, "_plugin: age", &device)
                    .word("the password", device.password())
                    .with_resource(device);
                stage.last = Some("devgate verify -t sw1");
                stage
            }
            Self::Telnet => {
                let device = Device::lease();
                let reached = format!("host: 127.0.0.1\nport: {}", device.port("vty_port"));
                Stage::of(PROTOCOLS, "name: old1\n", &[("host: 192.0.2.11", &reached)])
                    .variable("LINE_PASSWORD", device.secret("vty_password"))
                    .with_resource(device)
            }
            Self::Ietf => {
                let mut stage = netconf(PROTOCOLS, "192.0.2.20", "candidate", "name: r2\n")
                    .file(
                        "change.xml",
                        "<system xmlns=\"urn:ietf:params:xml:ns:yang:ietf-system\"><contact>noc@example.net</contact></system>\n",
                    )
                    .file(
                        "interfaces.yaml",
                        "ietf_interface: { docs0: { type: softwareLoopback, description: uplink } }\n",
                    )
                    .file("gone.yaml", "ietf_interface: { docs0: { ensure: absent } }\n");
                stage.last = Some("devgate device -t r2 --apply gone.yaml");
                stage
            }
            Self::JetConf => {
                let lab = lab("restconf");
                let pki = text(&lab, "pki");
                let reached = format!("host: 127.0.0.1\nport: {}", lab["tls_port"]);
                let output = format!(
                    "ssl_ca_file: {pki}/ca.pem\nssl_cert_file: {pki}/client.pem\nssl_key_file: {pki}/client.key"
                );
                let changes = [("host: r3.example.com", &*reached), (AUTHORITY, &*output)];
                Stage::of(PROTOCOLS, "name: r3\n", &changes).variable("R3_PASSWORD", "unused")
            }
            Self::Restconf => {
                let server = restconf::start(restconf::Speaks::Json);
                let interface = json!({ "name": "eth0", "description": "uplink" });
                let body = json!({ "ietf-interfaces:interfaces": { "interface": [interface] } });
                let mut stage = served("r3", "r3.example.com", server, AUTHORITY)
                    .variable("R3_PASSWORD", vendors::PASSWORD)
                    .file("interfaces.json", &body.to_string());
                stage.last =
                    Some("devgate session get -t r3 ietf-interfaces:interfaces | grep uplink");
                stage
            }
            Self::PowerDns => {
                let lab = lab("pdns");
                let reached = in_clear(&lab["port"]);
                let changes = [("host: dns1.example.com", &*reached)];
                with_zone(Stage::of(PROTOCOLS, "name: dns1\n", &changes), &lab)
            }
            Self::Rest => {
                let lab = lab("pdns");
                let settings = entry(REST, "remote-transport: rest\n");
                let settings =
                    changed(&settings, "host: dns1.example.com", &in_clear(&lab["port"]));
                let settings = settings.replace('\n', "\n        ");
                let inventory = format!(
                    "targets:\n  - name: dns1\n    config:\n      transport: remote\n      remote:\n        {settings}\n"
                );
                let mut stage = with_zone(Stage::new().file("inventory.yaml", &inventory), &lab);
                stage.last =
                    Some("devgate session get -t dns1 /zones/example.org. | grep 192.0.2.7");
                stage
            }
            Self::OpenVSwitch => {
                let lab = lab("ovs");
                vsctl(
                    text(&lab, "socket").as_ref(),
                    &[
                        "--may-exist",
                        "add-br",
                        "br0",
                        "--",
                        "--may-exist",
                        "add-port",
                        "br0",
                        "docs1",
                    ],
                );
                let pki = text(&lab, "pki");
                let port = format!("port: {}", lab["ssl_port"]);
                let changes = [
                    ("host: 192.0.2.30", "host: 127.0.0.1"),
                    ("port: 6640", &*port),
                    ("/etc/devgate", pki),
                ];
                Stage::of(PROTOCOLS, "name: ovs1\n", &changes)
            }
            Self::Snmp => {
                let lab = lab("snmpd");
                let reached = format!("host: 127.0.0.1\nport: {}", lab["port"]);
                let changes = [
                    ("host: 192.0.2.40", &*reached),
                    ("user: monitor", "user: privuser"),
                ];
                Stage::of(PROTOCOLS, "name: ups1\n", &changes)
                    .variable("SNMP_AUTH", text(&lab, "auth_password"))
                    .variable("SNMP_PRIV", text(&lab, "priv_password"))
            }
            Self::Eapi => served("leaf1", "leaf1.example.com", eapi::start(), AUTHORITY)
                .variable("LEAF_PASSWORD", vendors::PASSWORD)
                .variable("LEAF_ENABLE", eapi::ENABLE_PASSWORD),
            Self::Nxapi => {
                let entry = entry(PROTOCOLS, "name: n9k1\n");
                let lines = entry.lines().map(str::trim);
                let pinned = lines.filter(|line| line.starts_with("ssl_fingerprint: "));
                let pinned: Vec<&str> = pinned.collect();
                served("n9k1", "n9k1.example.com", nxapi::start(), pinned[0])
                    .variable("N9K_PASSWORD", vendors::PASSWORD)
            }
            Self::Panos => served("fw1", "fw1.example.com", panos::start(), AUTHORITY)
                .variable("PANOS_KEY", panos::KEY),
            Self::F5 => served("lb1", "lb1.example.com", f5::start(100), AUTHORITY)
                .variable("LB_PASSWORD", vendors::PASSWORD),
        }
    }
}
