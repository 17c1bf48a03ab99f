//! A run of devgate: its output as it arrives, its end within a limit, and the check that it shows no
//! secret.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// The maximum duration of a run, whatever its device does: timeouts and retries together never exceed a
/// minute.
const LIMIT: Duration = Duration::from_secs(75);

/// The word that every secret of the tests contains.
pub(crate) const CANARY: &str = "canary";

/// A run that has not ended yet.
pub(crate) struct Running {
    process: Process,
    stdout: JoinHandle<String>,
    stderr: Receiver<String>,
    messages: String,
    deadline: Instant,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut process = Process(child.expect("the binary can be started"));
        let mut stdout = process.0.stdout.take().expect("standard output is a pipe");
        let stderr = process.0.stderr.take().expect("standard error is a pipe");
        Self {
            process,
            stdout: std::thread::spawn(move || {
                let mut bytes = Vec::new();
                stdout.read_to_end(&mut bytes).expect("a pipe can be read");
                String::from_utf8_lossy(&bytes).into_owned()
            }),
            stderr: lines_of(stderr),
            messages: String::new(),
            deadline: Instant::now() + LIMIT,
        }
    }

    /// Waits until standard error has a line that contains `text`.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut from = 0;
        while !self.messages[from..].contains(text) {
            from = self.messages.len();
            assert!(
                self.read_line(),
                "the run ended without saying {text:?}:\n{}",
                self.messages
            );
        }
    }

    /// Waits until the process has installed a handler for a signal.
    pub(crate) fn wait_for_handler(&self, signal: Signal) {
        let status = format!("/proc/{}/status", self.process.0.id());
        let caught = || {
            let status = std::fs::read_to_string(&status).expect("it is our child");
            let (_, mask) = status.split_once("SigCgt:").expect("Linux tells it");
            let mask = mask.split_whitespace().next().unwrap_or_default();
            u64::from_str_radix(mask, 16).expect("it is a number") & (1 << (signal as i32 - 1)) != 0
        };
        while !caught() {
            assert!(Instant::now() < self.deadline, "it does not hear {signal}");
            std::thread::yield_now();
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(self.process.0.id().try_into().expect("a process's number"));
        kill(process, signal).expect("it is our child");
    }

    /// Reads one more line; returns false at the end.
    fn read_line(&mut self) -> bool {
        match self
            .stderr
            .recv_timeout(self.deadline.saturating_duration_since(Instant::now()))
        {
            Ok(line) => self.messages.push_str(&line),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                panic!(
                    "the run has not ended after {LIMIT:?}; so far:\n{}",
                    self.messages
                );
            }
        }
        true
    }

    /// Waits for the end, and checks that the run has shown no secret.
    pub(crate) fn finish(mut self) -> Run {
        while self.read_line() {}
        let status = self.process.0.wait().expect("a child can be waited for");
        let run = Run {
            status,
            stdout: self.stdout.join().expect("the reader does not panic"),
            stderr: self.messages,
        };
        assert!(
            !run.stdout.contains(CANARY) && !run.stderr.contains(CANARY),
            "the run shows a secret:\n{run}"
        );
        run
    }
}

/// A child process that does not outlive the test that started it.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines_of(stderr: ChildStderr) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let mut line = Vec::new();
        while stderr
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            if sender
                .send(String::from_utf8_lossy(&line).into_owned())
                .is_err()
            {
                return;
            }
            line.clear();
        }
    });
    receiver
}

/// A run that has ended. A failed check shows it in full.
pub(crate) struct Run {
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Returns its exit code; `None` if a signal ended it.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(
            self.status.code(),
            Some(0),
            "the run should have succeeded:\n{self}"
        );
        self
    }

    /// Asserts that it ended with status 1, and not by a panic or a signal.
    #[track_caller]
    pub(crate) fn failed(self) -> Self {
        assert_eq!(
            self.status.code(),
            Some(1),
            "the run should have failed:\n{self}"
        );
        assert!(
            !self.stderr.contains("panicked"),
            "the run panicked:\n{self}"
        );
        self
    }

    /// Asserts that one of its two outputs contains each of the texts.
    #[track_caller]
    pub(crate) fn shows(self, texts: &[&str]) -> Self {
        for text in texts {
            assert!(
                self.stdout.contains(text) || self.stderr.contains(text),
                "the run should say {text:?}:\n{self}"
            );
        }
        self
    }

    /// Returns the only target's item of the JSON output.
    #[track_caller]
    pub(crate) fn item(&self) -> Value {
        let document = self.json();
        let items = document["items"]
            .as_array()
            .unwrap_or_else(|| panic!("items is no list:\n{self}"));
        assert_eq!(items.len(), 1, "one target was asked for:\n{self}");
        items[0].clone()
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("standard output is not JSON: {error}\n{self}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}\n--- standard output\n{}\n--- standard error\n{}",
            self.status, self.stdout, self.stderr
        )
    }
}
