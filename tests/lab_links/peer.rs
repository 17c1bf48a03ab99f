//! The lab's peers, one for each protocol, each reached over a way of its own.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::thread::scope;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::lab::{Device, pause};
use crate::support::link::Link;
use crate::support::project::Project;
use crate::support::run::{Run, Running};

/// A target, `peer`, in a project of its own.
pub(super) struct Peer {
    pub(super) protocol: &'static str,
    pub(super) link: Link,
    /// What only reads, in a session.
    ask: &'static str,
    project: Project,
    /// Kept for as long as it is used.
    _device: Option<Device>,
}

/// How the lab's peer of each protocol is found.
const ALL: [fn() -> Peer; 1] = [ssh_cli];

/// Does the same to every peer at once. What comes of it is a row of the table that `DEVGATE_FAULTS` names, if it
/// names one.
pub(super) fn over_all(fault: &str, act: impl Fn(&mut Peer) -> Run + Sync) {
    scope(|scope| {
        for peer in ALL {
            let act = &act;
            scope.spawn(move || {
                let mut peer = peer();
                let started = Instant::now();
                let run = act(&mut peer);
                note(peer.protocol, fault, started.elapsed(), &run);
            });
        }
    });
}

fn ssh_cli() -> Peer {
    let device = Device::lease();
    let info = device.connection_info();
    Peer::new(
        "ssh_cli",
        "devgate session exec show version",
        info,
        Some(device),
    )
}

impl Peer {
    /// Whom this connection info reaches, over a way of its own.
    fn new(
        protocol: &'static str,
        ask: &'static str,
        mut info: Value,
        device: Option<Device>,
    ) -> Self {
        let port = info["port"]
            .as_u64()
            .and_then(|port| u16::try_from(port).ok());
        let port = port.expect("the lab says at which port it is");
        let link = Link::to(port);
        let mut project = Project::new();
        if let Some(file) = info["known_hosts_file"].as_str() {
            let known = fs::read_to_string(file).expect("the lab has known hosts");
            let known = known.replace(
                &format!("[127.0.0.1]:{port} "),
                &format!("[127.0.0.1]:{} ", link.port()),
            );
            info["known_hosts_file"] = json!(project.write("known_hosts", &known));
        }
        info["port"] = json!(link.port());
        project.add_target("peer", info);
        Self {
            protocol,
            link,
            ask,
            project,
            _device: device,
        }
    }

    /// Asks something three times in one session, whose way is spoilt for a time after the first. The second may
    /// fail, if what was asked cannot be asked again; the third may not.
    pub(super) fn in_a_session(&mut self, fault: &str, time: Duration) -> Run {
        let ask = self.ask;
        let script = format!(
            "{ask} >first || exit\nuntil [ -e spoilt ]; do sleep 0.1; done\n{ask} >second\n\
             {ask} >third && cmp first third\n"
        );
        self.project.write("ask.sh", &script);
        let running = self.project.start("session run -t peer -- sh ask.sh");
        let asked = self.project.path().join("first");
        while fs::read(&asked).is_ok_and(|answer| answer.is_empty()) || !asked.exists() {
            pause(Duration::from_millis(50));
        }
        self.link.fault(fault);
        self.project.write("spoilt", "");
        pause(time);
        self.link.fault("clear");
        running.finish().succeeded()
    }

    pub(super) fn start(&self, command: &str) -> Running {
        self.project
            .start(&format!("{command} -t peer --format json"))
    }
}

/// Adds a row to the table of faults.
fn note(protocol: &str, fault: &str, took: Duration, run: &Run) {
    let Some(table) = std::env::var_os("DEVGATE_FAULTS") else {
        return;
    };
    let retries = run.stderr.matches(" follows in ").count();
    let error = match run.code() {
        Some(0) => None,
        _ => Some(run.item()["value"]["_error"]["msg"].to_string()),
    };
    let outcome = error.as_deref().unwrap_or("success");
    let row = format!(
        "| {fault} | {protocol} | {:.1} s | {retries} | {outcome} |\n",
        took.as_secs_f64()
    );
    let file = OpenOptions::new().create(true).append(true).open(table);
    let written = file.and_then(|mut file| file.write_all(row.as_bytes()));
    written.expect("the table can be written");
}
