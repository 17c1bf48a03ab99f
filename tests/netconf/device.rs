//! The devices as `tests/lab/netconf.sh` describes them in `lab.json`, leased to one test at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use devgate_schemas::{Event, EventSink, Hash, RawConnectionInfo, Value};
use devgate_transports::netconf::NetconfSession;
use devgate_transports::{Context, DataRequest, DataStore, Document, ProtocolSession, RetryBudget};

/// The part of the configuration that the tests change.
pub(crate) const SYSTEM: &str = "<system xmlns=\"urn:ietf:params:xml:ns:yang:ietf-system\"/>";

/// A device that is leased to this test alone; it is returned without faults when it is dropped.
pub(crate) struct Device {
    lab: serde_json::Value,
    device: serde_json::Value,
    retry_budget: RetryBudget,
    _lease: File,
}

/// Discards events, which only matter when a test fails.
#[derive(Debug)]
struct IgnoreEvents;

impl EventSink for IgnoreEvents {
    fn emit(&self, _: Event) {}
}

impl Device {
    /// Waits until no other test uses the device.
    pub(crate) fn lease(name: &str) -> Self {
        let root = std::env::var_os("DEVGATE_LAB").map(PathBuf::from).expect(
            "this test needs real devices, and DEVGATE_LAB does not say where the lab is: run tests/run",
        );
        let text = fs::read_to_string(root.join("netconf/lab.json")).expect("it can be read");
        let lab: serde_json::Value = serde_json::from_str(&text).expect("lab.json is JSON");
        let devices = lab["devices"].as_array().expect("lab.json lists devices");
        let device = devices.iter().find(|device| device["name"] == name);
        let device = device.expect("the lab has it").clone();
        let dir = device["dir"].as_str().expect("a folder");
        let lease = File::create(Path::new(dir).join("lease")).expect("a lease can be made");
        lease.lock().expect("a lease can be waited for");
        let met = root.join("met");
        fs::create_dir_all(&met).expect("a folder can be made");
        File::create(met.join(format!("netconf-{name}"))).expect("a file can be made");
        Self {
            lab,
            device,
            retry_budget: RetryBudget::at_most(Duration::from_secs(10)),
            _lease: lease,
        }
    }

    pub(crate) fn ctx(&self) -> Context<'_> {
        Context::new("r1", &IgnoreEvents, &self.retry_budget)
    }

    /// Opens a session of a user with additional settings.
    pub(crate) async fn session_of(&self, user: &str, more: &[(&str, Value)]) -> NetconfSession {
        let text = |value: &serde_json::Value| Value::from(value.as_str().expect("a text"));
        let mut raw: Hash = [
            ("host", Value::from("127.0.0.1")),
            ("port", Value::from(self.device["port"].clone())),
            ("user", Value::from(user)),
            ("password", text(&self.lab["users"][user]["password"])),
            ("known_hosts_file", text(&self.lab["known_hosts"])),
            ("timeout", Value::from(60)),
        ]
        .into_iter()
        .collect();
        for (key, value) in more {
            raw.insert(*key, value.clone());
        }
        let info = NetconfSession::schema().read(RawConnectionInfo::new(raw), |_, message| {
            panic!("{message}")
        });
        let opened = NetconfSession::open(&self.ctx(), &info.expect("it fits")).await;
        opened.expect("a session")
    }

    pub(crate) async fn session(&self) -> NetconfSession {
        self.session_of("admin", &[]).await
    }

    /// Returns the contact in a datastore.
    pub(crate) async fn contact(&self, session: &NetconfSession, datastore: &str) -> String {
        let what = format!("{datastore} {SYSTEM}");
        let document = session.get(&self.ctx(), &what).await.expect("an answer");
        let Document::Text(text) = document else {
            panic!("NETCONF answers text")
        };
        let contact = text.split_once("contact>").map_or("", |(_, rest)| rest);
        let contact = contact.split('<').next().unwrap_or_default();
        contact.to_owned()
    }

    /// Causes a fault: see `tests/lab/netconf.sh`.
    pub(crate) fn fault(&self, fault: &str) {
        let script = self.lab["fault"].as_str().expect("a script");
        let device = self.device["dir"].as_str().expect("a folder");
        #[expect(clippy::disallowed_methods, reason = "the lab is made of programs")]
        let status = Command::new(script).args([fault, device]).status();
        assert!(status.expect("it can be started").success(), "{fault}");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.fault("resume");
    }
}

/// Returns a request that sets the contact.
pub(crate) fn contact(text: &str) -> DataRequest {
    let system = SYSTEM.replace("/>", &format!("><contact>{text}</contact></system>"));
    DataRequest {
        body: Some(Value::from(system)),
        ..DataRequest::default()
    }
}
