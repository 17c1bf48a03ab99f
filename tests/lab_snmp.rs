//! SNMP through the binary, against net-snmp's agent. The expected values come from `snmpget` and the
//! kernel.

use std::fs;
use std::net::UdpSocket;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::lab::{command_for, lab, output};
use crate::support::project::Project;

/// Returns the users of the lab's agent, in the form of an inventory and in that of `snmpget`.
fn users(lab: &Value) -> Vec<(&'static str, Value, Vec<String>)> {
    let text = |key: &str| lab[key].as_str().expect("lab.json has it").to_owned();
    let (auth, privacy) = (text("auth_password"), text("priv_password"));
    let level =
        |level: &str, user: &str| ["-v3", "-l", level, "-u", user].map(str::to_owned).to_vec();
    let with = |mut words: Vec<String>, more: &[&str]| {
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words
    };
    vec![
        (
            "v2c",
            json!({ "version": "v2c", "community": text("community") }),
            with(
                vec!["-v2c".to_owned(), "-c".to_owned()],
                &[&text("community")],
            ),
        ),
        (
            "nouser",
            json!({ "user": "nouser" }),
            level("noAuthNoPriv", "nouser"),
        ),
        (
            "authuser",
            json!({ "user": "authuser", "auth_password": auth }),
            with(level("authNoPriv", "authuser"), &["-a", "SHA", "-A", &auth]),
        ),
        (
            "privuser",
            json!({
                "user": "privuser", "auth_protocol": "SHA-256", "auth_password": auth,
                "priv_password": privacy,
            }),
            with(
                level("authPriv", "privuser"),
                &["-a", "SHA-256", "-A", &auth, "-x", "AES", "-X", &privacy],
            ),
        ),
        (
            "longuser",
            json!({
                "user": "longuser", "auth_protocol": "SHA-512", "auth_password": auth,
                "priv_protocol": "AES-256", "priv_password": privacy,
            }),
            with(
                level("authPriv", "longuser"),
                &[
                    "-a", "SHA-512", "-A", &auth, "-x", "AES-256", "-X", &privacy,
                ],
            ),
        ),
        (
            "olduser",
            json!({
                "user": "olduser", "auth_protocol": "MD5", "auth_password": auth,
                "priv_protocol": "DES", "priv_password": privacy,
            }),
            with(
                level("authPriv", "olduser"),
                &["-a", "MD5", "-A", &auth, "-x", "DES", "-X", &privacy],
            ),
        ),
    ]
}

/// Adds the lab's agent as a target with one of its users and with additional settings.
fn add(project: &mut Project, lab: &Value, name: &str, user: &Value, settings: Value) {
    let mut info = json!({
        "remote-transport": "snmp", "host": "127.0.0.1", "port": lab["port"], "timeout": 1,
    });
    for settings in [user, &settings] {
        for (key, value) in settings.as_object().expect("settings are an object") {
            info[key] = value.clone();
        }
    }
    project.add_target(name, info);
}

/// Returns the output of a net-snmp program about the lab's agent.
fn expected_output(lab: &Value, program: &str, words: &[String], oid: &str) -> String {
    let agent = format!("127.0.0.1:{}", lab["port"]);
    output(
        command_for(program)
            .args(["-On", "-Oq", "-t", "5"])
            .args(words)
            .args([&agent, oid]),
    )
}

#[test]
fn every_version_and_level_reads_what_snmpget_reads() {
    let lab = lab("snmpd");
    let mut project = Project::new();
    for (name, user, _) in users(&lab) {
        add(&mut project, &lab, name, &user, json!({}));
    }
    for (name, _, words) in users(&lab) {
        project.devgate(&format!("verify -t {name}")).succeeded();
        for oid in ["1.3.6.1.2.1.1.5.0", "1.3.6.1.2.1.1.6.0"] {
            let get = project.devgate(&format!("session get -t {name} {oid} --format json"));
            let got = get.succeeded().json()["data"].clone();
            let expected = expected_output(&lab, "snmpget", &words, oid);
            let (_, expected) = expected.trim().split_once(' ').expect("name and value");
            assert_eq!(
                got[0]["value"],
                expected.trim_matches('"'),
                "{name}: {got:#}"
            );
            assert_eq!(
                (&got[0]["oid"], &got[0]["type"]),
                (&json!(oid), &json!("OCTET STRING"))
            );
        }
    }
}

#[test]
fn a_subtree_is_walked_to_its_end() {
    let lab = lab("snmpd");
    let mut project = Project::new();
    let users = users(&lab);
    for (name, user, words) in [&users[0], &users[3]] {
        add(&mut project, &lab, name, user, json!({}));
        // The tables of the agent's capabilities and of the interfaces are larger than one answer.
        for oid in ["1.3.6.1.2.1.1.9", "1.3.6.1.2.1.2.2.1.2"] {
            let get = project.devgate(&format!("session get -t {name} {oid} --format json"));
            let got = get.succeeded().json()["data"].clone();
            let got: Vec<&str> = got
                .as_array()
                .expect("a list")
                .iter()
                .filter_map(|object| object["oid"].as_str())
                .collect();
            let expected = expected_output(&lab, "snmpwalk", words, oid);
            let expected: Vec<&str> = expected
                .lines()
                .filter_map(|line| line.strip_prefix('.')?.split(' ').next())
                .collect();
            assert!(got.len() > 1, "{got:?}");
            assert_eq!(got, expected);
        }
        // Neither this object nor one below it exists.
        for (oid, status) in [
            ("1.3.6.1.4.1.99999", "noSuchObject"),
            ("1.3.6.1.2.1.1.5.7", "noSuchInstance"),
        ] {
            let get = format!("session get -t {name} {oid} --format json");
            let refused = project.devgate(&get).failed();
            assert_eq!(
                refused.json()["_error"]["details"]["status"],
                status,
                "{refused}"
            );
            refused.shows(&[&format!("get {oid}")]);
        }
    }
}

#[test]
fn facts_are_typed_and_true() {
    let lab = lab("snmpd");
    let mut project = Project::new();
    let users = users(&lab);
    add(&mut project, &lab, "device", &users[3].1, json!({}));
    let facts = project
        .devgate("facts -t device --format json")
        .succeeded()
        .item()["value"]
        .clone();
    for (path, expected) in [
        ("/networking/hostname", "agent1"),
        ("/networking/domain", "lab.example"),
        ("/networking/fqdn", "agent1.lab.example"),
        ("/snmp/description", "a lab's agent"),
        ("/snmp/object_id", "1.3.6.1.4.1.8072.3.2.10"),
        ("/snmp/contact", "noc@lab.example"),
        ("/snmp/location", "rack 7"),
    ] {
        assert_eq!(facts.pointer(path), Some(&json!(expected)), "{facts:#}");
    }
    assert!(facts["system_uptime"]["seconds"].is_u64(), "{facts:#}");
    let interfaces = facts["networking"]["interfaces"]
        .as_object()
        .expect("interfaces");
    assert!(interfaces.contains_key("lo"), "{facts:#}");
    for (name, interface) in interfaces {
        let kernel = |file: &str| {
            let path = format!("/sys/class/net/{name}/{file}");
            fs::read_to_string(path)
                .expect("it is an interface")
                .trim()
                .to_owned()
        };
        assert_eq!(interface["mtu"].to_string(), kernel("mtu"), "{name}");
        let addresses =
            output(command_for("ip").args(["-4", "-json", "address", "show", "dev", name]));
        let addresses: Value = serde_json::from_str(&addresses).expect("ip tells JSON");
        let addresses = &addresses[0]["addr_info"];
        let message = interface["bindings"].as_array().map_or(0, Vec::len);
        assert_eq!(
            message,
            addresses.as_array().map_or(0, Vec::len),
            "{name}: {interface}"
        );
        if message == 1 {
            assert_eq!(interface["ip"], addresses[0]["local"], "{name}");
            let prefix = addresses[0]["prefixlen"].as_u64().expect("a length");
            let mask = u32::MAX << (32 - prefix);
            let mask = std::net::Ipv4Addr::from_bits(mask).to_string();
            assert_eq!(interface["netmask"], mask, "{name}");
        }
        let mac = interface["mac"].as_str().unwrap_or("00:00:00:00:00:00");
        assert_eq!(mac, kernel("address"), "{name}");
        assert!(
            interface["operational_state"].is_string(),
            "{name}: {interface}"
        );
    }
}

#[test]
fn wrong_credentials_are_reported_with_their_cause() {
    let lab = lab("snmpd");
    let users = users(&lab);
    let (plain, secured) = (&users[1].1, &users[3].1);
    for (user, settings, expected) in [
        (
            plain,
            json!({ "user": "stranger" }),
            "usmStatsUnknownUserNames",
        ),
        (
            secured,
            json!({ "auth_password": "wrong-canary-auth" }),
            "usmStatsWrongDigests",
        ),
        (
            secured,
            json!({ "auth_protocol": "SHA-512" }),
            "usmStatsWrongDigests",
        ),
        (plain, json!({ "user": "privuser" }), "authorizationError"),
    ] {
        let mut project = Project::new();
        add(&mut project, &lab, "device", user, settings);
        let run = project
            .devgate("session get -t device 1.3.6.1.2.1.1.5.0")
            .failed();
        run.shows(&[expected]);
    }
    let mut project = Project::new();
    add(&mut project, &lab, "device", &users[0].1, json!({}));
    project
        .devgate("session set -t device 1.3.6.1.2.1.1.5.0 x")
        .failed()
        .shows(&["only reads"]);
    project
        .devgate("session get -t device sysName.0")
        .failed()
        .shows(&["no object identifier"]);
}

#[test]
fn silence_is_bounded_and_says_what_it_may_mean() {
    let lab = lab("snmpd");
    let users = users(&lab);
    let mut project = Project::new();
    let wrong = json!({ "community": "wrong-canary-community" });
    add(&mut project, &lab, "community", &users[0].1, wrong);
    let wrong = json!({ "priv_password": "wrong-canary-priv" });
    add(&mut project, &lab, "privacy", &users[3].1, wrong);
    // Nothing listens at port 9 of the loopback interface, which the system reports.
    add(
        &mut project,
        &lab,
        "nobody",
        &users[3].1,
        json!({ "port": 9 }),
    );
    let expected = [
        (
            "community",
            "and `community`: an agent is silent where that does not fit",
        ),
        ("privacy", "check `priv_password`"),
        ("nobody", "connection refused"),
    ];
    // The runs are concurrent, because each uses its whole retry budget.
    let runs = expected.map(|(name, _)| project.start(&format!("verify -t {name}")));
    for (run, (_, expected)) in runs.into_iter().zip(expected) {
        run.finish().failed().shows(&["given up after", expected]);
    }
}

/// An agent that a test may freeze and end.
struct Agent {
    child: Child,
    port: u16,
    _state: TempDir,
}

impl Agent {
    fn start() -> Self {
        let state = tempfile::tempdir().expect("a folder can be made");
        let free = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let configuration = state.path().join("snmpd.conf");
        fs::write(&configuration, "rocommunity canary\n").expect("it can be written");
        let child = command_for("snmpd")
            .args(["-f", "-Ln", "-C", "-I", "-smux", "-c"])
            .arg(&configuration)
            .arg(format!("udp:127.0.0.1:{port}"))
            .env("SNMP_PERSISTENT_DIR", state.path())
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("snmpd can be started");
        Self {
            child,
            port,
            _state: state,
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = self.child.id().try_into().expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("it runs");
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_agent_that_freezes_is_waited_for_and_one_that_ends_is_given_up() {
    let mut agent = Agent::start();
    let mut project = Project::new();
    let info = json!({
        "remote-transport": "snmp", "host": "127.0.0.1", "port": agent.port, "timeout": 1,
        "version": "v2c", "community": "canary",
    });
    project.add_target("device", info);
    project.devgate("verify -t device").succeeded();
    agent.signal(Signal::SIGSTOP);
    let mut run = project.start("verify -t device");
    run.wait_for("did not answer within 1 s");
    agent.signal(Signal::SIGCONT);
    run.finish().succeeded();
    agent.child.kill().expect("it runs");
    agent.child.wait().expect("it ends");
    project
        .devgate("verify -t device")
        .failed()
        .shows(&["connection refused"]);
}
