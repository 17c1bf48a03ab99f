//! The hosts as `tests/lab/hosts.sh` describes them in `lab.json`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use devgate_schemas::{Event, EventSink, Hash, RawConnectionInfo, Value};
use devgate_transports::ssh_host::{Exit, Piece};
use devgate_transports::{Context, Environment, Error, HostSettings, RetryBudget, SshHost};

/// A host of the lab.
pub(crate) struct Host {
    lab: serde_json::Value,
    host: serde_json::Value,
}

/// Discards events, which only matter when a test fails.
#[derive(Debug)]
struct IgnoreEvents;

impl EventSink for IgnoreEvents {
    fn emit(&self, _: Event) {}
}

impl Host {
    pub(crate) fn named(name: &str) -> Self {
        let root = std::env::var_os("DEVGATE_LAB").map(PathBuf::from).expect(
            "this test needs real hosts, and DEVGATE_LAB does not say where the lab is: run tests/run",
        );
        let text = fs::read_to_string(root.join("hosts/lab.json")).expect("it can be read");
        let lab: serde_json::Value = serde_json::from_str(&text).expect("lab.json is JSON");
        let hosts = lab["hosts"].as_array().expect("lab.json lists hosts");
        let host = hosts.iter().find(|host| host["name"] == name);
        let host = host.expect("the lab has it").clone();
        Self { lab, host }
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        let found = self.host[key].as_str().or_else(|| self.lab[key].as_str());
        found.expect("lab.json has it")
    }

    pub(crate) fn port(&self) -> i64 {
        self.host["port"].as_i64().expect("a port")
    }

    /// Returns the path of a file in the host's `/tmp` on this machine.
    pub(crate) fn tmp(&self, file: &str) -> PathBuf {
        Path::new(self.text("tmp")).join(file)
    }

    /// Returns settings with the plain key and the known hosts, independent of the user who runs the tests.
    pub(crate) fn settings(&self, more: &[(&str, Value)]) -> HostSettings {
        self.settings_with(&Environment::default(), more)
    }

    pub(crate) fn settings_with(
        &self,
        environment: &Environment,
        more: &[(&str, Value)],
    ) -> HostSettings {
        let mut raw: Hash = [
            ("host", Value::from("127.0.0.1")),
            ("port", Value::from(self.port())),
            ("user", Value::from("runner")),
            ("private-key", Value::from(self.text("private_key"))),
            ("known-hosts-file", Value::from(self.text("known_hosts"))),
            ("connect-timeout", Value::from(60)),
        ]
        .into_iter()
        .collect();
        for (key, value) in more {
            raw.insert(*key, value.clone());
        }
        let arguments = raw.into_iter().filter(|(_, value)| !value.is_undef());
        let info = HostSettings::schema()
            .read(RawConnectionInfo::new(arguments.collect()), |_, message| {
                panic!("{message}")
            })
            .expect("it fits");
        HostSettings::read(&info, environment, |_, message| panic!("{message}")).expect("settings")
    }

    pub(crate) async fn connect(&self, more: &[(&str, Value)]) -> SshHost {
        connect(&self.settings(more)).await.expect("a connection")
    }
}

pub(crate) async fn connect(settings: &HostSettings) -> Result<SshHost, Error> {
    let retry_budget = RetryBudget::at_most(Duration::from_secs(5));
    SshHost::connect(&Context::new("h", &IgnoreEvents, &retry_budget), settings).await
}

pub(crate) async fn run(host: &SshHost, command: &str) -> Result<(String, String, Exit), Error> {
    let mut exec = host.exec(command).await?;
    drop(exec.stdin);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match exec.output.next().await? {
            Piece::Stdout(bytes) => stdout.extend_from_slice(&bytes),
            Piece::Stderr(bytes) => stderr.extend_from_slice(&bytes),
            Piece::Ended(_) => {}
            Piece::Exit(exit) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                return Ok((text(&stdout), text(&stderr), exit));
            }
        }
    }
}

pub(crate) fn ok(stdout: &str) -> (String, String, Exit) {
    (stdout.to_owned(), String::new(), Exit::Code(0))
}
