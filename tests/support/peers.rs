//! A real peer for each protocol, each with its own network path, for the tests of all protocols.

use std::any::Any;
use std::fs;

use serde_json::{Value, json};

use super::http::Server;
use super::lab::{Device, lab};
use super::link::{Carrier, Link};
use super::vendors;

/// A target of the lab.
pub(crate) struct Peer {
    /// The protocol of the peer.
    pub(crate) protocol: &'static str,
    /// The connection info that reaches the peer over `link`.
    pub(crate) info: Value,
    /// The arguments of a `devgate session` command that only reads.
    pub(crate) command: &'static str,
    /// The name of one of its facts, and a check of its JSON type.
    pub(crate) fact: (&'static str, fn(&Value) -> bool),
    pub(crate) link: Link,
    /// Resources that must live as long as the peer.
    _resources: Vec<Box<dyn Any + Send>>,
}

type Find = fn() -> Peer;

/// Every protocol, and the function that finds its peer.
pub(crate) const ALL: [(&str, Find); 10] = [
    ("ssh_cli", ssh_cli),
    ("netconf", netconf),
    ("rest", rest),
    ("ovsdb", ovsdb),
    ("snmp", snmp),
    ("restconf", restconf),
    ("eapi", eapi),
    ("nxapi", nxapi),
    ("panos", panos),
    ("f5", f5),
];

fn ssh_cli() -> Peer {
    let device = Device::lease();
    let mut info = device.connection_info();
    info["remote-transport"] = json!("ssh_cli");
    let mut peer = Peer::new("ssh_cli", info, "exec show version");
    peer.fact = ("/ssh/version", Value::is_string);
    peer._resources.push(Box::new(device));
    peer
}

fn rest() -> Peer {
    let lab = lab("pdns");
    let info = json!({
        "remote-transport": "rest", "protocol": "http", "host": lab["host"], "port": lab["port"],
        "apikey": lab["key"], "verify_path": "/api/v1/servers",
    });
    let mut peer = Peer::new("rest", info, "get /api/v1/servers");
    peer.fact = ("/http/version", Value::is_string);
    peer
}

fn netconf() -> Peer {
    let lab = lab("netconf");
    let devices = lab["devices"].as_array().expect("lab.json lists devices");
    let device = devices.iter().find(|device| device["name"] == "running");
    let device = device.expect("the lab has it");
    let info = json!({
        "remote-transport": "netconf", "host": device["host"], "port": device["port"], "user": "admin",
        "password": lab["users"]["admin"]["password"], "known_hosts_file": lab["known_hosts"],
    });
    let mut peer = Peer::new("netconf", info, "get running");
    peer.fact = ("/netconf/capabilities", Value::is_array);
    peer
}

fn ovsdb() -> Peer {
    let lab = lab("ovs");
    let pki = lab["pki"].as_str().expect("lab.json has pki");
    let info = json!({
        "remote-transport": "ovsdb", "host": "127.0.0.1", "port": lab["ssl_port"],
        "ssl_ca_file": format!("{pki}/ca.pem"), "ssl_cert_file": format!("{pki}/client.pem"),
        "ssl_key_file": format!("{pki}/client.key"),
    });
    let mut peer = Peer::new("ovsdb", info, "get Bridge/name=nobodys");
    peer.fact = ("/ovsdb/databases", Value::is_array);
    peer
}

fn snmp() -> Peer {
    let lab = lab("snmpd");
    let info = json!({
        "remote-transport": "snmp", "host": "127.0.0.1", "port": lab["port"], "user": "authuser",
        "auth_password": lab["auth_password"],
    });
    let mut peer = Peer::carried("snmp", Carrier::Udp, info, "get 1.3.6.1.2.1.1.5");
    peer.fact = ("/system_uptime/seconds", Value::is_u64);
    peer
}

fn restconf() -> Peer {
    let lab = lab("restconf");
    let pki = lab["pki"].as_str().expect("lab.json has pki");
    let info = json!({
        "remote-transport": "restconf", "host": lab["host"], "port": lab["tls_port"],
        "ssl_ca_file": format!("{pki}/ca.pem"), "ssl_cert_file": format!("{pki}/client.pem"),
        "ssl_key_file": format!("{pki}/client.key"),
    });
    let mut peer = Peer::new("restconf", info, "get ietf-system:system/hostname");
    peer.fact = ("/networking/hostname", Value::is_string);
    peer
}

fn eapi() -> Peer {
    let mut peer = Peer::served("eapi", vendors::eapi::start(), "exec show hostname");
    peer.info["enable_password"] = json!(vendors::eapi::ENABLE_PASSWORD);
    peer.fact = ("/networking/hostname", Value::is_string);
    peer
}

fn nxapi() -> Peer {
    let command = "get 'show version'";
    let mut peer = Peer::served("nxapi", vendors::nxapi::start(), command);
    peer.fact = ("/networking/hostname", Value::is_string);
    peer
}

fn panos() -> Peer {
    let command = "get '<show><system><info></info></system></show>'";
    let mut peer = Peer::served("panos", vendors::panos::start(), command);
    peer.fact = ("/networking/hostname", Value::is_string);
    peer
}

fn f5() -> Peer {
    let mut peer = Peer::served("f5", vendors::f5::start(100), "get tm/cm/device");
    peer.fact = ("/networking/hostname", Value::is_string);
    peer
}

impl Peer {
    /// Creates a peer from a server of the tests, which simulates a vendor's device.
    fn served(protocol: &'static str, server: Server, command: &'static str) -> Self {
        let info = json!({
            "remote-transport": protocol, "protocol": "http", "host": "127.0.0.1", "port": server.port,
            "user": vendors::USER, "password": vendors::PASSWORD,
        });
        let mut peer = Self::new(protocol, info, command);
        peer._resources.push(Box::new(server));
        peer
    }

    /// Sets shorter timeouts than usual.
    pub(crate) fn use_short_limits(&mut self) {
        self.limit([("timeout", 10), ("idle_timeout", 3), ("command_timeout", 5)]);
    }

    /// Sets timeouts that allow for slow answers. Over UDP, lost packets are requested again, the sooner
    /// the better.
    pub(crate) fn use_long_limits(&mut self) {
        if self.protocol == "snmp" {
            return;
        }
        self.limit([
            ("timeout", 60),
            ("idle_timeout", 60),
            ("command_timeout", 120),
        ]);
    }

    /// Sets those limits that the protocol has, in seconds.
    fn limit(&mut self, limits: [(&str, u64); 3]) {
        let transports = devgate_transports::all();
        let mut schemas = transports.iter().map(|transport| transport.schema());
        let schema = schemas.find(|schema| schema.name() == self.protocol);
        let schema = schema.expect("it is a transport");
        for (setting, seconds) in limits {
            if schema.connection_info().contains_key(setting) {
                self.info[setting] = json!(seconds);
            }
        }
    }

    /// Creates a peer from its connection info.
    fn new(protocol: &'static str, info: Value, command: &'static str) -> Self {
        Self::carried(protocol, Carrier::Tcp, info, command)
    }

    fn carried(
        protocol: &'static str,
        carrier: Carrier,
        mut info: Value,
        command: &'static str,
    ) -> Self {
        let port = info["port"]
            .as_u64()
            .and_then(|port| u16::try_from(port).ok());
        let port = port.expect("the lab says at which port it is");
        let link = Link::to(carrier, port);
        let mut resources: Vec<Box<dyn Any + Send>> = Vec::new();
        if let Some(file) = info["known_hosts_file"].as_str() {
            let known_hosts = fs::read_to_string(file).expect("the lab has known hosts");
            let [there, here] = [port, link.port()].map(|port| format!("[127.0.0.1]:{port} "));
            let folder = tempfile::tempdir().expect("a folder can be made");
            let file = folder.path().join("known_hosts");
            fs::write(&file, known_hosts.replace(&there, &here)).expect("a file can be written");
            info["known_hosts_file"] = json!(file);
            resources.push(Box::new(folder));
        }
        info["port"] = json!(link.port());
        Self {
            protocol,
            info,
            command,
            fact: ("", Value::is_object),
            link,
            _resources: resources,
        }
    }
}
