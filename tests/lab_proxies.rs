//! Sessions through proxies: devices that only a proxy reaches, from a network namespace of its own.

mod faults;
mod protocols;
mod secrets;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use self::protocols::kinds;
use crate::lab_declared::netconfd::Server;
use crate::lab_hosts::EXCLUSIVE;
use crate::support::lab::{Device, command_for, lab, output, pause, text};
use crate::support::project::Project;
use crate::support::run::{Run, Running};
use crate::support::silent_proxy::{Habit, SilentProxy};

/// A project at a site from which only the SSH servers of the lab's hosts can be reached.
struct Site {
    project: Project,
    hosts: Value,
    site: Value,
    folder: TempDir,
    known_hosts: PathBuf,
    _exclusive: MutexGuard<'static, ()>,
}

impl Site {
    fn new() -> Self {
        let exclusive = EXCLUSIVE.lock().unwrap_or_else(PoisonError::into_inner);
        let (hosts, folder) = (lab("hosts"), tempfile::tempdir().expect("a folder"));
        let all = hosts["hosts"].as_array().expect("lab.json lists hosts");
        let ports: Vec<String> = all.iter().map(|host| host["port"].to_string()).collect();
        output(script(&["start"], folder.path()).args(ports));
        let site = fs::read_to_string(folder.path().join("lab.json")).expect("it is written");
        let site: Value = serde_json::from_str(&site).expect("it is JSON");
        let project = Project::new();
        let known_hosts = PathBuf::from(text(&hosts, "known_hosts"));
        Self {
            project,
            hosts,
            site,
            folder,
            known_hosts,
            _exclusive: exclusive,
        }
    }

    fn host(&self, name: &str) -> &Value {
        let hosts = self.hosts["hosts"]
            .as_array()
            .expect("lab.json lists hosts");
        let found = hosts.iter().find(|host| host["name"] == name);
        found.expect("the lab has it")
    }

    /// Adds a host of the lab to the inventory.
    fn proxy(&mut self, name: &str, options: Value) {
        self.proxy_named(name, name, options);
    }

    /// Adds a host of the lab to the inventory under another name.
    fn proxy_named(&mut self, name: &str, host: &str, options: Value) {
        let mut ssh = json!({
            "host": "127.0.0.1", "port": self.host(host)["port"], "user": self.hosts["user"],
            "private-key": self.hosts["private_key"], "known-hosts-file": self.known_hosts,
            "load-config": false,
        });
        for (key, value) in options.as_object().expect("options are an object") {
            ssh[key] = value.clone();
        }
        let config = json!({"transport": "ssh", "ssh": ssh});
        self.project
            .add_entry(json!({"name": name, "config": config}));
    }

    /// Names hosts of the lab in the SSH configuration.
    fn jumps(&mut self, hosts: &[(&str, &str)]) {
        let config = |(name, host): &(&str, &str)| {
            format!(
                "Host {name}\nHostName 127.0.0.1\nPort {}\nUser runner\nIdentityFile {}\nIdentityAgent none\n\
                 UserKnownHostsFile {}\n",
                self.host(host)["port"],
                text(&self.hosts, "private_key"),
                self.known_hosts.display()
            )
        };
        let config: String = hosts.iter().map(config).collect();
        self.project.write("home/.ssh/config", &config);
    }

    /// Adds a device behind a proxy.
    fn device(&mut self, name: &str, device: &Device, run_on: Value) {
        self.project.add(name, device, json!({ "run-on": run_on }));
    }

    fn start(&self, arguments: &str) -> Running {
        let netns = text(&self.site, "netns");
        self.project
            .start_under(&["ip", "netns", "exec", netns], arguments)
    }

    fn devgate(&self, arguments: &str) -> Run {
        self.start(arguments).finish()
    }

    /// Ends everything on a host. Its SSH server is there again a second later.
    fn reboot(&self, host: &str) {
        let mut reboot = command_for(text(&self.hosts, "fault"));
        output(reboot.arg("reboot").arg(self.folder_of(host)));
    }

    /// Returns how often a text occurs in a host's log.
    fn logged(&self, host: &str, mark: &str) -> usize {
        let log = fs::read_to_string(text(self.host(host), "log")).expect("it has a log");
        log.matches(mark).count()
    }

    /// Returns the folder with all files of a host.
    fn folder_of(&self, host: &str) -> PathBuf {
        let home = Path::new(text(self.host(host), "tmp"));
        home.parent().expect("it is in a folder").to_owned()
    }

    /// Returns the processes of a host, by their pids on this machine.
    fn processes(&self, host: &str) -> Vec<String> {
        let process = fs::read_to_string(text(self.host(host), "process")).expect("it is noted");
        let unshare = process.split(' ').next().expect("a pid").to_owned();
        let (mut all, mut at) = (vec![unshare], 0);
        while at < all.len() {
            let children = format!("/proc/{0}/task/{0}/children", all[at]);
            let children = fs::read_to_string(children).unwrap_or_default();
            all.extend(children.split_whitespace().map(str::to_owned));
            at += 1;
        }
        all
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = script(&["stop"], self.folder.path()).status();
    }
}

fn script(words: &[&str], folder: &Path) -> std::process::Command {
    let mut command = command_for(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/lab/site.sh"));
    command.args(words).arg(folder);
    command
}

#[test]
fn every_command_reaches_a_router_that_only_the_proxy_reaches() {
    let mut site = Site::new();
    let device = Device::lease();
    site.proxy("h1", json!({}));
    site.device("router", &device, json!("h1"));
    site.devgate("verify -t router --direct --patience 1")
        .failed()
        .shows(&["refused"]);
    site.devgate("verify -t router").succeeded();
    let facts = site.devgate("facts -t router --format json").succeeded();
    assert_eq!(facts.item()["value"]["os"]["name"], "FRRouting", "{facts}");
    let network = format!("10.98.{}.0/24 via 10.0.{0}.254", device.number());
    let manifest = site
        .project
        .manifest(json!({ "frr_static_route": { &network: { "distance": 20 } } }));
    site.devgate(&format!("device -t router --apply {manifest} --noop"))
        .succeeded()
        .shows(&["would"]);
    site.devgate(&format!("device -t router --apply {manifest}"))
        .succeeded()
        .shows(&["1 changed"]);
    assert!(device.vtysh("show running-config").contains("10.98."));
    site.devgate("device -t router --resource frr_static_route")
        .succeeded()
        .shows(&[&network]);
    site.devgate("session exec -t router show version")
        .succeeded()
        .shows(&["FRRouting"]);
    // A rollback goes through the proxy, too.
    let broken = site.project.manifest(json!({
        "frr_static_route": { &network: { "ensure": "absent" } },
        // The router refuses it: it allows shorter lengths than its own.
        "frr_prefix_list": { "BAD 5": {
            "action": "permit", "prefix": "10.82.0.0/16", "le": 8,
            "require": format!("Frr_static_route[{network}]"),
        } },
    }));
    let run = site.devgate(&format!(
        "device -t router --apply {broken} --rollback on-error"
    ));
    run.failed().shows(&["rolled back"]);
    assert!(device.vtysh("show running-config").contains("10.98."));
}

#[test]
fn eight_devices_share_one_connection_to_a_proxy_however_few_sessions_it_allows() {
    let mut site = Site::new();
    let device = Device::lease();
    let (netconf, ovs) = (Server::lease("candidate"), lab("ovs"));
    let mut devices = vec![("router".to_owned(), device.connection_info())];
    devices.extend(kinds(&netconf).map(|kind| (kind.name.to_owned(), kind.info)));
    let plain = json!({
        "remote-transport": "openvswitch", "host": "127.0.0.1", "protocol": "tcp", "port": ovs["tcp_port"],
    });
    devices.push(("plain".to_owned(), plain));
    for server in lab("netconf")["devices"]
        .as_array()
        .expect("lab.json lists devices")
        .iter()
        .skip(1)
    {
        let mut info = netconf.connection_info();
        info["port"] = server["port"].clone();
        devices.push((text(server, "name").to_owned(), info));
    }
    for (host, has_sessions) in [("narrow", false), ("single", true), ("h1", true)] {
        site.proxy(host, json!({}));
        for (name, info) in &devices {
            // Datagrams need a program on the proxy.
            if has_sessions || name != "agent" {
                let mut info = info.clone();
                info["run-on"] = host.into();
                site.project.add_target(&format!("{name}-{host}"), info);
            }
        }
        let before = site.logged(host, "Accepted publickey");
        let facts = site.devgate(&format!("facts -t *-{host} --format json"));
        let count = facts.succeeded().json()["target_count"].clone();
        assert_eq!(count, 8 + u64::from(has_sessions));
        assert_eq!(
            site.logged(host, "Accepted publickey") - before,
            1,
            "{host}"
        );
    }
    // A task needs a program there.
    site.project
        .write("bolt-project.yaml", "modulepath: modules\n");
    site.project.write("modules/t/tasks/a.sh", "#!/bin/sh\n:\n");
    site.project
        .write("modules/t/tasks/a.json", r#"{"remote": true}"#);
    site.devgate("task run t::a -t router-narrow").failed();
}

#[test]
fn of_a_pool_those_proxies_are_used_that_reach_the_device() {
    let mut site = Site::new();
    let device = Device::lease();
    for name in ["closed", "h1", "h2"] {
        site.proxy(name, json!({}));
    }
    site.device("router", &device, json!(["closed", "h1"]));
    site.device("alone", &device, json!("closed"));
    for _ in 0..4 {
        site.devgate("verify -t router").succeeded();
    }
    site.devgate("verify -t alone")
        .failed()
        .shows(&["AllowTcpForwarding", "closed"]);
    // A program on the proxy needs no forwarding, and ends with its connection.
    let processes = |site: &Site| site.processes("closed").len();
    let before = processes(&site);
    site.proxy_named("program", "closed", json!({ "forwarding": "program" }));
    site.device("behind", &device, json!("program"));
    site.devgate("session exec -t behind show version")
        .succeeded()
        .shows(&["FRRouting"]);
    let ended = std::time::Instant::now();
    while processes(&site) > before && ended.elapsed() < Duration::from_secs(10) {
        pause(Duration::from_millis(50));
    }
    assert!(processes(&site) <= before, "a program is left on the proxy");
    // A proxy that cannot be reached is reported, and the others are used.
    let (_held, port) = crate::support::line::closed_port();
    site.proxy("h3", json!({ "port": port }));
    site.device("far", &device, json!(["h3", "h2"]));
    site.devgate("verify -t far --patience 1").succeeded();
    site.device("nowhere", &device, json!("h3"));
    site.devgate("verify -t nowhere --patience 1")
        .failed()
        .shows(&["h3: "]);
}

/// A proxy that lets everybody in, and then carries nothing, costs a part of the time, and its pool the rest.
#[test]
fn a_proxy_that_carries_nothing_is_replaced_by_another_of_its_pool() {
    for habit in [Habit::Unanswered, Habit::Silent] {
        let (mut site, device) = (Site::new(), Device::lease());
        let silent = SilentProxy::start(habit);
        site.project.add_entry(
            json!({"name": "silent", "config": {"transport": "ssh", "ssh": {
                "host": "127.0.0.1", "port": silent.port, "user": "any", "password": "any",
                "host-key-check": false, "load-config": false, "connect-timeout": 3,
            }}}),
        );
        site.proxy("h1", json!({}));
        site.project.add(
            "router",
            &device,
            json!({ "run-on": ["silent", "h1"], "timeout": 3 }),
        );
        site.project.add(
            "alone",
            &device,
            json!({ "run-on": "silent", "timeout": 2 }),
        );
        // From this machine, which reaches both.
        site.project.devgate("facts -t router").succeeded();
        let hops = site
            .project
            .devgate("verify -t router --hops --format json")
            .succeeded();
        let hops = hops.item()["value"]["hops"].clone();
        let state = |name: &str| {
            let hops = hops.as_array().expect("hops");
            hops.iter().find(|hop| hop["proxy"] == name).expect("a hop")["state"].clone()
        };
        assert_eq!(
            (state("silent"), state("h1")),
            (json!("failed"), json!("reached")),
            "{hops}"
        );
        site.project
            .devgate("verify -t alone --patience 3")
            .failed()
            .shows(&["did not answer", "silent"]);
    }
}

/// Targets that leave a proxy wait for room at the other one, as if it were the only one. Several targets are one device
/// here, so that those that wait for room and those that have it also wait for each other's sessions.
#[test]
fn a_proxy_with_room_for_one_session_serves_all_that_leave_another() {
    let (mut site, device) = (Site::new(), Device::lease());
    let silent = SilentProxy::start(Habit::Silent);
    site.project.add_entry(
        json!({"name": "silent", "config": {"transport": "ssh", "ssh": {
            "host": "127.0.0.1", "port": silent.port, "user": "any", "password": "any",
            "host-key-check": false, "load-config": false,
        }}}),
    );
    site.proxy("h1", json!({ "concurrency": 1 }));
    let names: Vec<String> = (0..8).map(|number| format!("r{number}")).collect();
    for name in &names {
        let settings = json!({ "run-on": ["silent", "h1"], "timeout": 3 });
        site.project.add(name, &device, settings);
    }
    site.project.devgate("verify -t r*").succeeded();
}

#[test]
fn a_device_behind_a_proxy_and_jump_hosts_on_both_sides_is_reached() {
    let mut site = Site::new();
    let device = Device::lease();
    // The first is reached from the site, the second from the proxy.
    site.jumps(&[("first", "bastion"), ("second", "h2")]);
    site.proxy("h1", json!({ "proxyjump": "first", "load-config": true }));
    let devices = fs::read_to_string(device.known_hosts()).expect("the lab has it");
    let hosts = fs::read_to_string(&site.known_hosts).expect("it is written");
    let both = site.project.write("both", &(devices + &hosts));
    site.project.add(
        "router",
        &device,
        json!({ "run-on": "h1", "proxyjump": "second", "known_hosts_file": both }),
    );
    site.devgate("verify -t router").succeeded();
    site.devgate("session exec -t router show version")
        .succeeded()
        .shows(&["FRRouting"]);
}

#[test]
fn a_proxy_that_dies_is_named_and_another_one_serves_reads() {
    let mut site = Site::new();
    let device = Device::lease();
    site.proxy("h1", json!({}));
    site.proxy("h2", json!({}));
    site.device("router", &device, json!("h1"));
    let exec = "devgate session exec 'show version'";
    site.project.write(
        "program.sh",
        &format!(
            "{exec} >/dev/null; : >open; until [ -e go ]; do sleep 0.05; done; {exec} || {exec}\n"
        ),
    );
    let running = site.start("session run -t router -- sh program.sh");
    while !site.project.path().join("open").exists() {
        pause(Duration::from_millis(20));
    }
    // The connections to the proxy are cut; the proxy itself stays.
    let port = site.host("h1")["port"].to_string();
    let filter = format!("( sport = :{port} or dport = :{port} )");
    output(command_for("ss").args(["-HK", "state", "established", &filter]));
    site.project.write("go", "");
    // Whether the first command has arrived is not known, so that it is not sent again. The next one goes through a new
    // connection.
    running.finish().succeeded().shows(&[
        "closed the connection",
        "h1: the connection was lost",
        "FRRouting",
    ]);
}
