//! A NETCONF server of the lab, leased to one test at a time, and queried without devgate.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::lab::{command_for, lab, lock_exclusively, output, pause, text};
use crate::support::project::Project;

pub(crate) const INTERFACES: &str = "urn:ietf:params:xml:ns:yang:ietf-interfaces";

/// How long the first request waits: netconfd may read a request directly after the hello as part of it,
/// and never answer.
const BEHIND_HELLO: Duration = Duration::from_millis(50);

/// A server that is leased to this test alone, among all test processes: one test's commit could be undone
/// by another test.
pub(crate) struct Server {
    lab: Value,
    device: Value,
    _lease: File,
}

impl Server {
    /// Waits until no other test uses the server.
    pub(crate) fn lease(name: &str) -> Self {
        let lab = lab("netconf");
        let mut devices = lab["devices"].as_array().expect("devices").iter();
        let device = devices.find(|device| device["name"] == name);
        let device = device.expect("it is in the lab").clone();
        let lease = lock_exclusively(&device);
        Self {
            lab,
            device,
            _lease: lease,
        }
    }

    /// Creates a project whose only target `it` is this server.
    pub(crate) fn project(&self) -> Project {
        let mut project = Project::new();
        project.add_target("it", self.connection_info());
        project
    }

    pub(crate) fn connection_info(&self) -> Value {
        json!({
            "remote-transport": "ietf", "host": "127.0.0.1", "port": self.device["port"], "user": "admin",
            "password": self.lab["users"]["admin"]["password"], "known_hosts_file": self.lab["known_hosts"],
        })
    }

    /// Sends operations with OpenSSH alone, and repeats them if the first request was not answered.
    pub(crate) fn send(&self, operations: &[&str]) -> String {
        let mut tries = (0..5).map(|_| self.dialogue(operations));
        let output = tries.find_map(|output| output);
        output.expect("it answers one of five times")
    }

    /// Returns the answers of one session; `None` if the first request is not answered.
    fn dialogue(&self, operations: &[&str]) -> Option<String> {
        let known_hosts = format!("UserKnownHostsFile={}", text(&self.lab, "known_hosts"));
        let mut ssh = command_for("timeout");
        ssh.args(["10", "ssh", "-F", "none"])
            .args(["-i", text(&self.lab, "private_key")])
            .args(["-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"])
            .args(["-o", &known_hosts, "-p", &self.device["port"].to_string()])
            .args(["admin@127.0.0.1", "-s", "netconf"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut ssh = ssh.spawn().expect("ssh can be started");
        let mut stdin = ssh.stdin.take().expect("it is a pipe");
        let mut stdout = BufReader::new(ssh.stdout.take().expect("it is a pipe"));
        let mut messages = vec![
            "<hello xmlns='urn:ietf:params:xml:ns:netconf:base:1.0'><capabilities><capability>\
             urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>"
                .to_owned(),
        ];
        for (number, operation) in operations.iter().chain([&"<close-session/>"]).enumerate() {
            messages.push(format!(
                "<rpc xmlns='urn:ietf:params:xml:ns:netconf:base:1.0' message-id='{number}'>{operation}</rpc>"
            ));
        }
        let mut output = String::new();
        for (number, message) in messages.iter().enumerate() {
            // yuma123 accepts a message only after it has answered the previous one.
            write!(stdin, "{message}]]>]]>").expect("ssh listens");
            let mut answer = Vec::new();
            while !answer.ends_with(b"]]>]]>") {
                let read = stdout.read_until(b'>', &mut answer);
                if read.expect("ssh speaks") == 0 {
                    assert_eq!(number, 1, "it ended after {output}");
                    ssh.wait().expect("ssh ends");
                    return None;
                }
            }
            output += &String::from_utf8(answer).expect("it is text");
            if number == 0 {
                pause(BEHIND_HELLO);
            }
        }
        drop(stdin);
        ssh.wait().expect("ssh ends");
        assert!(!output.contains("rpc-error"), "{output}");
        Some(output)
    }

    /// Cuts the server's sessions.
    pub(crate) fn sever(&self) {
        let mut fault = command_for(text(&self.lab, "fault"));
        output(fault.args(["sever", text(&self.device, "dir")]));
    }

    /// Returns the texts of an interface's configuration, as the server itself shows it.
    pub(crate) fn interface(&self, name: &str) -> String {
        let get = format!(
            "<get-config><source><running/></source><filter type='subtree'><interfaces xmlns='{INTERFACES}'>\
             <interface><name>{name}</name></interface></interfaces></filter></get-config>"
        );
        let answer = self.send(&[&get]);
        let Some((_, answer)) = answer.split_once("<interface>") else {
            return "nothing".to_owned();
        };
        let (config, _) = answer.split_once("</interface>").expect("it ends");
        let texts = config.split(['<', '>']).map(str::trim);
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
        texts.join(" ")
    }
}
