//! An action that the agent runs, on its streams or in files, and the agent's reading of the output.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jsonschema::Validator;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::command;
use super::watch::Watch;
use crate::support::lab::pause;

/// The agent has no limit, but a test needs one.
const LIMIT: Duration = Duration::from_secs(75);

/// The result of an action.
#[derive(Debug)]
pub(crate) struct Response {
    /// The exit code; `None` if a signal ended the action.
    pub(crate) exitcode: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The results, or the reason why they are invalid.
    pub(crate) results: Result<Value, String>,
    /// The events of the files, in order; empty for a blocking action.
    pub(crate) written: Vec<String>,
}

impl Response {
    fn new(exitcode: Option<i32>, stdout: &[u8], stderr: &[u8], schema: &Validator) -> Self {
        let text = if stdout.is_empty() { b"null" } else { stdout };
        let results = serde_json::from_slice(text)
            .map_err(|error| format!("returned invalid JSON on stdout: {error}"))
            // The agent's JSON library treats null as an empty container.
            .map(|results| match results {
                Value::Null => json!({}),
                results => results,
            })
            .and_then(|results: Value| match schema.validate(&results) {
                Ok(()) => Ok(results),
                Err(error) => Err(format!("returned invalid results: {error}")),
            });
        Self {
            exitcode,
            stdout: String::from_utf8_lossy(stdout).into_owned(),
            stderr: String::from_utf8_lossy(stderr).into_owned(),
            results,
            written: Vec::new(),
        }
    }

    /// Success means an exit code of 0 and results that match their schema.
    pub(crate) fn is_success(&self) -> bool {
        self.exitcode == Some(0) && self.results.is_ok()
    }

    /// Returns the results of an action that has succeeded.
    #[track_caller]
    pub(crate) fn succeeded(&self) -> &Value {
        assert!(
            self.is_success(),
            "the action should have succeeded: {self:#?}"
        );
        self.results.as_ref().expect("it was checked")
    }

    /// Returns the results of an action that has failed properly: valid results and a non-zero exit code.
    #[track_caller]
    pub(crate) fn failed(&self) -> &Value {
        assert!(
            !matches!(self.exitcode, None | Some(0 | 5)),
            "the action should have failed: {self:#?}"
        );
        let results = self.results.as_ref();
        results.unwrap_or_else(|_| panic!("a failure has results, too: {self:#?}"))
    }

    /// Asserts that the files appeared complete, by a rename, and the exit code last.
    #[track_caller]
    pub(crate) fn assert_file_order(&self) {
        let is_output = |event: &&String| {
            let name = event.rsplit(' ').next();
            name.is_some_and(|name| ["stdout", "stderr", "exitcode"].contains(&name))
        };
        let mut events: Vec<_> = self.written.iter().filter(is_output).collect();
        assert_eq!(
            events.pop().map(String::as_str),
            Some("rename exitcode"),
            "{self:#?}"
        );
        events.sort();
        assert_eq!(events, ["rename stderr", "rename stdout"], "{self:#?}");
    }
}

pub(super) fn blocking(path: &Path, action: &str, request: &Value, schema: &Validator) -> Response {
    let (status, stdout, stderr) = Process::start(path, action, request).wait();
    Response::new(status.code(), &stdout, &stderr, schema)
}

/// A non-blocking action that may still be running.
pub(crate) struct RunningAction<'a> {
    process: Process,
    dir: PathBuf,
    watch: Watch,
    schema: &'a Validator,
}

impl<'a> RunningAction<'a> {
    pub(super) fn start(
        path: &Path,
        action: &str,
        mut request: Value,
        dir: &Path,
        schema: &'a Validator,
    ) -> Self {
        fs::create_dir_all(dir).expect("a folder can be made");
        let watch = Watch::new(dir);
        let file = |name: &str| dir.join(name);
        request["output_files"] = json!({
            "stdout": file("stdout"), "stderr": file("stderr"), "exitcode": file("exitcode"),
        });
        let process = Process::start(path, action, &request);
        fs::write(file("pid.part"), format!("{}\n", process.child.id())).expect("it is ours");
        fs::rename(file("pid.part"), file("pid")).expect("it is ours");
        Self {
            process,
            dir: dir.to_owned(),
            watch,
            schema,
        }
    }

    /// Sends a signal to the process group of the pid file, as an operator would.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = fs::read_to_string(self.dir.join("pid")).expect("the pid file is there");
        let group = Pid::from_raw(pid.trim().parse().expect("it is a number"));
        killpg(group, signal).expect("it has not been waited for");
    }

    /// Waits for the process, and reads its results from the files.
    pub(crate) fn finish(self) -> Result<Response, String> {
        let (status, ..) = self.process.wait();
        if status.code() == Some(5) {
            return Err("failed to write output on file".to_owned());
        }
        pause(Duration::from_millis(100));
        let read = |name: &str| fs::read(self.dir.join(name)).unwrap_or_default();
        let code = String::from_utf8_lossy(&read("exitcode")).trim().parse();
        let mut response =
            Response::new(status.code(), &read("stdout"), &read("stderr"), self.schema);
        response.written = self.watch.events();
        // After a restart, the agent knows the code only from the file.
        assert_eq!(
            code.ok(),
            status.code(),
            "the file has another code: {response:#?}"
        );
        Ok(response)
    }
}

/// A process in its own process group, with its request on stdin.
struct Process {
    child: Child,
    streams: [JoinHandle<Vec<u8>>; 2],
}

impl Process {
    fn start(path: &Path, action: &str, request: &Value) -> Self {
        let mut child = command(path, action)
            .stdin(Stdio::piped())
            .spawn()
            .expect("it has told its metadata");
        let mut stdin = child.stdin.take().expect("it is a pipe");
        let request = request.to_string();
        // A process may leave its stdin unread.
        std::thread::spawn(move || stdin.write_all(request.as_bytes()));
        let streams = [
            reader(child.stdout.take().expect("it is a pipe")),
            reader(child.stderr.take().expect("it is a pipe")),
        ];
        Self { child, streams }
    }

    /// Reads both streams to their ends, which is when no process holds them any more, and waits for the
    /// process.
    fn wait(mut self) -> (ExitStatus, Vec<u8>, Vec<u8>) {
        let (sender, ended) = channel();
        let group = Pid::from_raw(self.child.id().try_into().expect("a process's number"));
        let guard = std::thread::spawn(move || {
            if ended.recv_timeout(LIMIT).is_err() {
                let _ = killpg(group, Signal::SIGKILL);
            }
        });
        let began = Instant::now();
        let [stdout, stderr] = self
            .streams
            .map(|stream| stream.join().expect("a reader does not panic"));
        let status = self.child.wait().expect("a child can be waited for");
        let _ = sender.send(());
        guard.join().expect("the guard does not panic");
        assert!(
            began.elapsed() < LIMIT,
            "the module did not end within {LIMIT:?}"
        );
        (status, stdout, stderr)
    }
}

fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}
