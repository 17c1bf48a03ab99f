//! The lab as `tests/lab/frr.sh` describes it in `lab.json`, and its devices, which are leased to one test
//! at a time.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A device that is leased to this test alone, among all test processes. It is in the state in which the
/// lab started it, without traces of earlier tests. It is returned without faults when it is dropped.
pub(crate) struct Device {
    lab: Value,
    device: Value,
    /// Locked while the device is leased. Its content also marks the lease, and remains if a test is
    /// killed.
    lease: File,
}

impl Device {
    /// Waits for a device that no other test uses.
    pub(crate) fn lease() -> Self {
        Self::lease_one(|_| true)
    }

    /// Waits for the device of this name.
    pub(crate) fn lease_named(name: &str) -> Self {
        Self::lease_one(|device| text(device, "name") == name)
    }

    fn lease_one(is_wanted: impl Fn(&Value) -> bool) -> Self {
        let (root, lab) = read_description("frr");
        let devices = lab["devices"].as_array().expect("lab.json lists devices");
        loop {
            for device in devices.iter().filter(|device| is_wanted(device)) {
                let dir = text(device, "dir");
                // Its content is from an earlier test.
                let mut lease = File::options()
                    .create(true)
                    .append(true)
                    .open(Path::new(dir).join("lease"))
                    .expect("a lease can be made");
                if lease.try_lock().is_ok() {
                    output(command_for(text(&lab, "renew")).args(["renew", dir]));
                    lease.write_all(b"leased\n").expect("a lease can be noted");
                    record_use(&root, text(device, "name"));
                    return Self {
                        device: device.clone(),
                        lab,
                        lease,
                    };
                }
            }
            pause(Duration::from_millis(50));
        }
    }

    pub(crate) fn name(&self) -> &str {
        text(&self.device, "name")
    }

    /// Returns the device's number, counted from 1, which determines its addresses and its AS.
    pub(crate) fn number(&self) -> u32 {
        self.name()[1..]
            .parse()
            .expect("a device is d and its number")
    }

    /// Returns the path of the device's file on this machine.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        Path::new(text(&self.device, "dir")).join(file)
    }

    /// Returns a port of its servers: `port`, `keyboard_interactive_port` or `legacy_port` of SSH,
    /// `vty_port` of telnet.
    pub(crate) fn port(&self, which: &str) -> u16 {
        let port = self.device[which]
            .as_u64()
            .unwrap_or_else(|| panic!("lab.json has no {which}"));
        u16::try_from(port).expect("a port has 16 bits")
    }

    pub(crate) fn password(&self) -> &str {
        self.password_of("admin")
    }

    /// Returns the password of `oper`, a user with read access.
    pub(crate) fn readers_password(&self) -> &str {
        self.password_of("oper")
    }

    pub(crate) fn password_of(&self, user: &str) -> &str {
        text(&self.lab["users"][user], "password")
    }

    /// Returns a password of its own command line: `vty_password` or `enable_password`.
    pub(crate) fn secret(&self, which: &str) -> &str {
        text(&self.lab, which)
    }

    pub(crate) fn private_key(&self) -> &str {
        text(&self.lab, "private_key")
    }

    pub(crate) fn known_hosts(&self) -> &str {
        text(&self.lab, "known_hosts")
    }

    /// Returns the connection info of the device with the administrator's password.
    pub(crate) fn connection_info(&self) -> Value {
        json!({
            "remote-transport": "frr",
            "host": text(&self.device, "host"),
            "port": self.port("port"),
            "user": "admin",
            "password": self.password(),
            "known_hosts_file": self.known_hosts(),
        })
    }

    /// Returns the current log of its SSH server.
    pub(crate) fn ssh_log(&self) -> String {
        fs::read_to_string(self.path("log/ssh.log")).expect("the SSH server has a log")
    }

    /// Returns how often its SSH server has logged `mark`, once that is at least `least`: it may log after
    /// it answers.
    pub(crate) fn logged(&self, mark: &str, least: usize) -> usize {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let count = self.ssh_log().matches(mark).count();
            if count >= least || Instant::now() > until {
                return count;
            }
            pause(Duration::from_millis(20));
        }
    }

    /// Runs a command on the device without SSH and devgate.
    pub(crate) fn vtysh(&self, command: &str) -> String {
        let mut line = self.device["vtysh"]
            .as_array()
            .expect("vtysh is a list")
            .iter()
            .filter_map(Value::as_str);
        let program = line.next().expect("vtysh names its program");
        output(command_for(program).args(line).args(["-c", command]))
    }

    /// Causes a fault: see `tests/lab/fault.sh`.
    pub(crate) fn fault(&self, fault: &str) {
        output(&mut self.fault_command(fault));
    }

    fn fault_command(&self, fault: &str) -> Command {
        let mut command = command_for(text(&self.lab, "fault"));
        command.args([fault, text(&self.device, "dir")]);
        command
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // The test may already be failing: its error must stay visible.
        let cleared = self.fault_command("clear").status();
        // A failed test may have left a program running that changes the device later: the lease stays
        // marked.
        if !std::thread::panicking() && cleared.is_ok_and(|status| status.success()) {
            let _ = self.lease.set_len(0);
        }
    }
}

/// Returns what `tests/lab/NAME.sh` has started and described in its `lab.json`, and records that it was
/// used.
pub(crate) fn lab(name: &str) -> Value {
    let (root, lab) = read_description(name);
    record_use(&root, name);
    lab
}

/// Returns the lab's folder and the description by one of its scripts.
fn read_description(name: &str) -> (PathBuf, Value) {
    let root = std::env::var_os("DEVGATE_LAB").map(PathBuf::from).unwrap_or_else(|| {
        panic!("this test needs a real device, and DEVGATE_LAB does not say where the lab is: run tests/run")
    });
    let path = root.join(name).join("lab.json");
    let text = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}: run tests/run", path.display()));
    let lab = serde_json::from_str(&text).expect("lab.json is JSON");
    (root, lab)
}

/// Records that a test used a device, so that the end of the tests can report how many were used.
fn record_use(root: &Path, name: &str) {
    let used = root.join("met");
    fs::create_dir_all(&used).expect("a folder can be made");
    File::create(used.join(name)).expect("a file can be made");
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key]
        .as_str()
        .unwrap_or_else(|| panic!("lab.json has no {key}"))
}

#[expect(clippy::disallowed_methods, reason = "the lab is made of programs")]
pub(crate) fn command_for(program: &str) -> Command {
    Command::new(program)
}

/// Returns the output of a lab program, which must succeed.
pub(crate) fn output(command: &mut Command) -> String {
    let output = command
        .output()
        .expect("a program of the lab can be started");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "a program of the lab failed: {stdout}{stderr}"
    );
    stdout.into_owned()
}

/// Waits for exclusive use of a folder of the lab (`dir`), among the tests of all processes. Dropping the file ends it.
pub(crate) fn lock_exclusively(lab: &Value) -> File {
    let lease = File::create(Path::new(text(lab, "dir")).join("lease"));
    let lease = lease.expect("a lease can be made");
    lease.lock().expect("a lease can be waited for");
    lease
}

/// What a PowerDNS of the lab answers to its own client, with more options of it. Its key is in no process list.
pub(crate) fn powerdns(lab: &Value, path: &str, options: &[&str]) -> String {
    let port = &lab["port"];
    let url = format!("http://127.0.0.1:{port}/api/v1/servers/localhost{path}");
    let key = format!("@{}/key.header", text(lab, "dir"));
    let mut curl = command_for("curl");
    output(curl.args(["-s", "-H", &key]).args(options).arg(url))
}

/// Waits, where only time can help.
#[expect(
    clippy::disallowed_methods,
    reason = "a test may wait for the world outside"
)]
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
