//! Database servers of Open vSwitch that belong to a single test: it may freeze and end them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::lab::{command_for, lab, output, pause, text};
use super::run::Process;

/// A server with its own database, behind a socket.
pub(crate) struct Server {
    dir: TempDir,
    process: Process,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::some(1).remove(0)
    }

    /// Starts several servers, each with the one row that describes a switch.
    pub(crate) fn some(count: usize) -> Vec<Self> {
        let lab = lab("ovs");
        let template = folder();
        let database = template.path().join("conf.db");
        let row = r#"["Open_vSwitch", {"op": "insert", "table": "Open_vSwitch", "row": {}}]"#;
        for (verb, last) in [("create", text(&lab, "schema")), ("transact", row)] {
            output(command_for("ovsdb-tool").arg(verb).arg(&database).arg(last));
        }
        let start = |_| {
            let dir = folder();
            fs::copy(&database, dir.path().join("conf.db")).expect("it can be copied");
            let process = serve(dir.path());
            Self { dir, process }
        };
        let servers: Vec<Self> = (0..count).map(start).collect();
        let until = Instant::now() + Duration::from_secs(30);
        for server in &servers {
            while !server.socket().exists() {
                assert!(Instant::now() < until, "ovsdb-server does not listen");
                pause(Duration::from_millis(20));
            }
        }
        servers
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("db.sock")
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.process.0.id().try_into().expect("a process's number"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it is our child");
    }

    /// Kills the server in the middle of its work, and starts it again.
    pub(crate) fn restart(&mut self) {
        self.signal(Signal::SIGKILL);
        self.process.0.wait().expect("it ends");
        self.process = serve(self.dir.path());
    }

    /// Returns a column as its own client shows it.
    pub(crate) fn column(&self, table: &str, record: &str, column: &str) -> String {
        vsctl(&self.socket(), &["get", table, record, column])
    }
}

/// Returns the output of the switch's own client for the server behind a socket.
pub(crate) fn vsctl(socket: &Path, arguments: &[&str]) -> String {
    let database = format!("--db=unix:{}", socket.display());
    let mut command = command_for("ovs-vsctl");
    let command = command.args(["--timeout=30", "--no-wait", &database]);
    output(command.args(arguments))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder can be made")
}

fn serve(dir: &Path) -> Process {
    let server = command_for("ovsdb-server")
        .arg(dir.join("conf.db"))
        .arg(format!("--remote=punix:{}", dir.join("db.sock").display()))
        .arg(format!("--unixctl={}", dir.join("ctl").display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(server.expect("ovsdb-server can be started"))
}
