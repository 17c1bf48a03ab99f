//! Where the commands run: a project with an inventory of the documents, whose target is one of the lab.

use serde_json::json;

use super::devices::{
    AUTHORITY, KEY, caddy, command_line, in_clear, junos, netconf, netconf_page, proxies, pxp,
    served, with_zone,
};
use super::rows::{PROTOCOLS, REST, SECRETS};
use super::stage::{Stage, changed, entry};
use crate::support::lab::{Device, lab, text};
use crate::support::ovsdb::vsctl;
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
    Proxy,
    Pxp,
    Rest,
    Restconf,
    Snmp,
    Telnet,
}

pub(super) const ALL: [Scene; 22] = [
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
    Scene::Proxy,
    Scene::Pxp,
    Scene::Rest,
    Scene::Restconf,
    Scene::Snmp,
    Scene::Telnet,
];

impl Scene {
    /// Sets it: the project, the inventory, the files that the commands name.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Empty => Stage::new(),
            Self::Caddy => caddy(),
            Self::Proxies => proxies("name: proxies\n", &[("run-as: tasks", "run-as: worker")]),
            Self::Proxy => proxies("name: jump1\n", &[("host: 192.0.2.10", "host: sw1")]),
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
                let tls = format!(
                    "ssl_ca_file: {pki}/ca.pem\nssl_cert_file: {pki}/client.pem\nssl_key_file: {pki}/client.key"
                );
                let changes = [("host: r3.example.com", &*reached), (AUTHORITY, &*tls)];
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
