//! Many devices of one vendor, each with its own fault, and runs on all of them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::candidate::{Candidate, PASSWORD, Planned, USER, Vendor};
use crate::folder::{Project, document, messages_of, pause};
use crate::wishes::{Wish, family, manifest};

/// The number of devices that a run works on at the same time: they wait more than they compute.
const AT_ONCE: usize = 16;

/// The devices, and the project that knows them.
pub(crate) struct Fleet {
    pub(crate) vendor: Vendor,
    pub(crate) devices: Vec<Candidate>,
    pub(crate) plans: Vec<Option<Planned>>,
    project: Project,
}

/// What a run says.
pub(crate) struct Report {
    /// Whether its exit code is 0.
    pub(crate) succeeded: bool,
    /// What it says of each target.
    pub(crate) items: BTreeMap<String, Value>,
    messages: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (target, item) in &self.items {
            writeln!(f, "{target}: {item:#}")?;
        }
        f.write_str(&self.messages)
    }
}

impl Fleet {
    /// Starts a device for each plan.
    pub(crate) fn start(
        vendor: Vendor,
        wishes: &[Wish],
        plans: impl IntoIterator<Item = Option<Planned>>,
    ) -> Self {
        let plans: Vec<Option<Planned>> = plans.into_iter().collect();
        let devices: Vec<Candidate> = plans.iter().map(|_| Candidate::start(vendor)).collect();
        let project = Project::new();
        let fleet = Self {
            vendor,
            devices,
            plans,
            project,
        };
        fleet.write_family();
        fleet.write_inventory();
        fleet.wish(wishes);
        fleet
    }

    fn write_family(&self) {
        let name = family(self.vendor);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/support/candidate/devices");
        let folder = folder.join(name);
        let types = fs::read_dir(folder.join("types")).expect("it has types");
        let types = types.map(|entry| entry.expect("a file").path());
        for file in types.chain([folder.join("family.yaml")]) {
            let text = fs::read_to_string(&file).expect("a file can be read");
            let path = file.strip_prefix(&folder).expect("it is in it");
            let path = format!("modules/candidate/devices/{name}/{}", path.display());
            self.project.write(&path, &text);
        }
    }

    fn write_inventory(&self) {
        let known_hosts: String = self.devices.iter().map(Candidate::known_hosts).collect();
        self.project.write("known_hosts", &known_hosts);
        let targets: Vec<Value> = self.devices.iter().enumerate().map(|(number, device)| {
            let info = json!({
                "remote-transport": family(self.vendor),
                "host": "127.0.0.1",
                "port": device.port(),
                "user": USER,
                "password": PASSWORD,
                "known_hosts_file": self.project.0.path().join("known_hosts"),
                "idle_timeout": 6,
            });
            json!({ "name": name(number), "config": { "transport": "remote", "remote": info } })
        }).collect();
        let inventory = json!({ "version": 2, "targets": targets });
        self.project.write("inventory.yaml", &inventory.to_string());
    }

    /// Replaces what the next run wants.
    pub(crate) fn wish(&self, wishes: &[Wish]) {
        self.project
            .write("wishes.yaml", &manifest(wishes).to_string());
    }

    /// Replaces a part of the family.
    pub(crate) fn change_family(&self, from: &str, to: &str) {
        let path = format!("modules/candidate/devices/{}/family.yaml", family(self.vendor));
        let text = fs::read_to_string(self.project.0.path().join(&path)).expect("it is written");
        assert!(text.contains(from), "no {from:?} in:\n{text}");
        self.project.write(&path, &text.replace(from, to));
    }

    /// Plans the faults, and applies what is wished on all devices.
    pub(crate) fn apply(&self, options: &str) -> Report {
        for (device, plan) in self.devices.iter().zip(&self.plans) {
            device.device().plan(*plan);
        }
        self.run(options)
    }

    /// Applies what is wished on all devices.
    pub(crate) fn run(&self, options: &str) -> Report {
        let words = format!(
            "device -t all --apply wishes.yaml --format json --quiet --patience 4 -c {AT_ONCE} {options}"
        );
        let output = self
            .project
            .devgate(&words.split_whitespace().collect::<Vec<_>>());
        let messages = messages_of(&output);
        assert!(!messages.contains("panicked"), "{messages}");
        let document = document(&output);
        let items = document["items"].as_array().cloned().unwrap_or_default();
        let text = |item: &Value| item["target"].as_str().unwrap_or_default().to_owned();
        let items: BTreeMap<String, Value> =
            items.into_iter().map(|item| (text(&item), item)).collect();
        assert_eq!(items.len(), self.devices.len(), "{document:#}\n{messages}");
        self.wait_until_left();
        Report {
            succeeded: output.status.success(),
            items,
            messages,
        }
    }

    /// Waits until the devices know that the run has ended.
    fn wait_until_left(&self) {
        for device in &self.devices {
            for _ in 0..1000 {
                if device.device().connections() == 0 {
                    break;
                }
                pause();
            }
            assert_eq!(device.device().connections(), 0, "a connection stays");
        }
    }

    /// Returns the lines that a device has received.
    pub(crate) fn received(&self, number: usize) -> Vec<String> {
        let device = self.devices[number].device();
        let received = device.received().iter();
        received
            .map(|received| format!("{}: {}", received.connection, received.line))
            .collect()
    }
}

/// Returns the name of a target.
pub(crate) fn name(number: usize) -> String {
    format!("t{number:04}")
}
