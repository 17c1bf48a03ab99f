//! Many devices of one vendor, each with its own fault, and runs on all of them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::candidate::{Candidate, Fault, PASSWORD, Planned, USER, Vendor};
use crate::dice::Dice;
use crate::folder::{Project, document, messages_of, pause};
use crate::wishes::{Wish, family, manifest};

/// The number of devices that a run works on at the same time: they wait more than they compute.
const AT_ONCE: usize = 24;

/// Few runs at a time, so that no device is taken for a silent one. They mostly wait.
static TURNS: [Mutex<()>; 4] = [const { Mutex::new(()) }; 4];

/// Waits until a run may begin. The result ends its turn.
fn turn() -> MutexGuard<'static, ()> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len();
    TURNS[next].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the seed of what is drawn: `DEVGATE_SEED`, or one of this process. It is shown when a test fails.
pub(crate) fn seed() -> u64 {
    static SEED: LazyLock<u64> = LazyLock::new(|| {
        let given = std::env::var("DEVGATE_SEED").ok();
        let seed = given.map(|seed| seed.parse().expect("a number"));
        seed.unwrap_or_else(|| u64::from(std::process::id()))
    });
    *SEED
}

/// Returns whether every fault is tried at every step, which takes minutes.
fn tries_all() -> bool {
    std::env::var("DEVGATE_FAULTS").is_ok_and(|faults| faults == "all")
}

/// What a fleet is for.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) vendor: Vendor,
    pub(crate) wishes: Vec<Wish>,
    /// What is replaced in the family, and by what.
    pub(crate) family: Vec<[&'static str; 2]>,
    /// Further settings of each target.
    pub(crate) settings: Value,
    /// Options of the runs.
    pub(crate) options: &'static str,
    /// What goes wrong on every device: at the first line that contains the text.
    pub(crate) trouble: Option<(&'static str, Fault)>,
    /// How many of all the plans are tried, drawn by the seed, unless `DEVGATE_FAULTS=all`.
    pub(crate) most: usize,
}

impl Setup {
    pub(crate) fn new(vendor: Vendor, wishes: Vec<Wish>) -> Self {
        Self {
            vendor,
            wishes,
            family: Vec::new(),
            // A run waits for it before it saves anything. The others count in minutes, or no less than half of one.
            settings: match vendor {
                Vendor::Eos => json!({ "confirm_timeout": 20 }),
                Vendor::Junos | Vendor::IosXr => json!({}),
            },
            options: "",
            trouble: None,
            most: 10,
        }
    }

    /// Starts a device without a fault.
    pub(crate) fn one(&self) -> Fleet {
        Fleet::start(self, [vec![]])
    }

    /// Starts a device with the trouble that all have.
    pub(crate) fn troubled(&self) -> Fleet {
        let Some((text, fault)) = self.trouble else {
            return self.one();
        };
        let clean = self.one();
        clean.apply();
        let received = clean.received(0);
        let at = received.iter().position(|line| line.contains(text));
        let step = at.unwrap_or_else(|| panic!("no {text:?} in {received:#?}")) + 1;
        Fleet::start(self, [vec![Planned { step, fault }]])
    }

    /// Starts a device for every fault at every step of a run, after the trouble that all have.
    pub(crate) fn with_every_fault(&self) -> Fleet {
        let fleet = self.troubled();
        fleet.apply();
        let common = fleet.plans[0].clone();
        let first = common.first().map_or(1, |planned| planned.step + 1);
        let steps = first..=fleet.received(0).len();
        let with = |planned: Planned| [&common[..], &[planned]].concat();
        let at = |step| Fault::ALL.map(|fault| with(Planned { step, fault }));
        let mut all: Vec<Vec<Planned>> = steps.flat_map(at).collect();
        let mut dice = Dice::of(seed(), "plans");
        while all.len() > self.most && !tries_all() {
            all.swap_remove(dice.between(0, all.len() - 1));
        }
        Fleet::start(self, all)
    }

    /// Starts a device that hangs for each step of a run: before the line takes effect, and after it.
    pub(crate) fn hanging(&self) -> Fleet {
        let clean = self.one();
        clean.apply();
        let steps = 1..=clean.received(0).len();
        let at =
            |step| [Fault::HangBefore, Fault::HangAfter].map(|fault| vec![Planned { step, fault }]);
        Fleet::start(self, steps.flat_map(at))
    }
}

/// The devices, and the project that knows them.
pub(crate) struct Fleet {
    pub(crate) setup: Setup,
    pub(crate) devices: Vec<Candidate>,
    pub(crate) plans: Vec<Vec<Planned>>,
    project: Project,
}

/// What a run says.
pub(crate) struct Report {
    /// Whether its exit code is 0.
    pub(crate) succeeded: bool,
    /// What it says of each target.
    pub(crate) items: BTreeMap<String, Value>,
    pub(crate) messages: String,
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
    pub(crate) fn start(setup: &Setup, plans: impl IntoIterator<Item = Vec<Planned>>) -> Self {
        let plans: Vec<Vec<Planned>> = plans.into_iter().collect();
        let start = |_| Candidate::start(setup.vendor);
        let fleet = Self {
            setup: setup.clone(),
            devices: plans.iter().map(start).collect(),
            plans,
            project: Project::new(),
        };
        fleet.write_family();
        fleet.write_inventory();
        fleet.wish(&setup.wishes);
        fleet
    }

    /// Replaces what a run is to do.
    pub(crate) fn wish(&self, wishes: &[Wish]) {
        let manifest = manifest(wishes).to_string();
        self.project.write("wishes.yaml", &manifest);
    }

    fn write_family(&self) {
        let name = family(self.setup.vendor);
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/support/candidate/devices");
        let folder = folder.join(name);
        let types = fs::read_dir(folder.join("types")).expect("it has types");
        let types = types.map(|entry| entry.expect("a file").path());
        for file in types.chain([folder.join("family.yaml")]) {
            let mut text = fs::read_to_string(&file).expect("a file can be read");
            if file.ends_with("family.yaml") {
                for [from, to] in &self.setup.family {
                    assert!(text.contains(from), "no {from:?} in:\n{text}");
                    text = text.replace(from, to);
                }
            }
            let path = file.strip_prefix(&folder).expect("it is in it");
            let path = format!("modules/candidate/devices/{name}/{}", path.display());
            self.project.write(&path, &text);
        }
    }

    fn write_inventory(&self) {
        let known_hosts: String = self.devices.iter().map(Candidate::known_hosts).collect();
        self.project.write("known_hosts", &known_hosts);
        let target = |(number, device): (usize, &Candidate)| {
            let mut info = json!({
                "remote-transport": family(self.setup.vendor),
                "host": "127.0.0.1",
                "port": device.port(),
                "user": USER,
                "password": PASSWORD,
                "known_hosts_file": self.project.0.path().join("known_hosts"),
                "idle_timeout": 3,
            });
            for (key, value) in self.setup.settings.as_object().expect("an object") {
                info[key] = value.clone();
            }
            json!({ "name": name(number), "config": { "transport": "remote", "remote": info } })
        };
        let targets: Vec<Value> = self.devices.iter().enumerate().map(target).collect();
        let inventory = json!({ "version": 2, "targets": targets });
        self.project.write("inventory.yaml", &inventory.to_string());
    }

    /// Plans the faults, and runs on all devices.
    pub(crate) fn apply(&self) -> Report {
        for (device, plan) in self.devices.iter().zip(&self.plans) {
            device.device().plan(plan);
        }
        self.run(self.setup.options)
    }

    /// Runs on all devices.
    pub(crate) fn run(&self, options: &str) -> Report {
        let turn = turn();
        let output = self.command(AT_ONCE, options).output();
        drop(turn);
        self.report(&output.expect("the binary starts"))
    }

    /// Plans the faults, runs on all devices at once, and interrupts the run twice when each has received the line at
    /// which it hangs.
    pub(crate) fn interrupt(&self) -> Report {
        let turn = turn();
        for (device, plan) in self.devices.iter().zip(&self.plans) {
            device.device().plan(plan);
        }
        let mut command = self.command(self.devices.len(), self.setup.options);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the binary starts");
        let hangs = |number: usize| {
            let step = self.plans[number].first().map_or(0, |planned| planned.step);
            self.devices[number].device().received().len() >= step
        };
        for _ in 0..3000 {
            if (0..self.devices.len()).all(hangs) {
                break;
            }
            pause();
        }
        let process = Pid::from_raw(child.id().try_into().expect("a process's number"));
        for _ in 0..2 {
            kill(process, Signal::SIGINT).expect("it is our child");
            (0..50).for_each(|_| pause());
        }
        let output = child.wait_with_output().expect("a child can be waited for");
        drop(turn);
        self.report(&output)
    }

    /// Runs another command. Returns whether it succeeded, and all that it prints.
    pub(crate) fn ask(&self, words: &[&str]) -> (bool, String) {
        let output = self.project.command(words).output();
        let output = output.expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &messages_of(&output);
        self.wait_until_left();
        (output.status.success(), text)
    }

    fn command(&self, at_once: usize, options: &str) -> Command {
        let words = format!(
            "device -t all --apply wishes.yaml --format json --patience 10 -c {at_once} {options}"
        );
        let words: Vec<&str> = words.split_whitespace().collect();
        self.project.command(&words)
    }

    fn report(&self, output: &Output) -> Report {
        let messages = messages_of(output);
        assert!(!messages.contains("panicked"), "{messages}");
        let document = document(output);
        let items = document["items"].as_array().cloned().unwrap_or_default();
        let target = |item: &Value| item["target"].as_str().unwrap_or_default().to_owned();
        let items = items.into_iter().map(|item| (target(&item), item));
        let items: BTreeMap<String, Value> = items.collect();
        assert_eq!(items.len(), self.devices.len(), "{document:#}\n{messages}");
        assert!(
            !format!("{document}{messages}").contains(PASSWORD),
            "a secret"
        );
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
