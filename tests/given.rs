//! Limits of user input: files that never end, and pipes without a writer.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use serde_json::json;

use super::folder::{Project, messages_of};

/// A file that never ends.
const ENDLESS: &str = "/dev/zero";

#[test]
fn what_never_ends_is_read_up_to_a_limit_that_is_named() {
    let project = Project::new();
    project.task("t", "#!/bin/sh\n");
    for words in [
        &["inventory", "show", "-i", ENDLESS][..],
        &["inventory", "show", "--deviceconfig", ENDLESS],
        &["inventory", "show", "-t", "@/dev/zero"],
        &["inventory", "show", "-t", "-"],
        &["task", "run", "m::t", "-t", "r1", "--params", "@/dev/zero"],
        &["task", "run", "m::t", "-t", "r1", "--params", "-"],
        &["device", "-t", "r1", "--apply", ENDLESS],
        &["session", "exec", "-t", "r1", "--config", "-"],
        &["session", "set", "-t", "r1", "/x", "-"],
        &["schema", "check"],
    ] {
        let stdin = fs::File::open(ENDLESS).expect("there is one");
        let output = project.command(words).stdin(stdin).output();
        let output = output.expect("the binary starts");
        let message = messages_of(&output);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {message}");
        assert!(
            message.contains("larger than 64 MiB"),
            "{words:?}: {message}"
        );
        let name = if words.contains(&"-") || words[0] == "schema" {
            "std"
        } else {
            ENDLESS
        };
        let is_named = message.contains(name) || message.contains("standard input");
        assert!(is_named, "{words:?}: {message}");
    }
}

#[test]
fn a_pipe_without_a_writer_is_waited_for_with_a_message_until_somebody_writes_or_stops_it() {
    let project = Project::new();
    let pipe = project.0.path().join("pipe");
    mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a folder takes pipes");
    let inventory = json!({ "targets": ["r7"] }).to_string();
    for is_stopped in [false, true] {
        let mut command = project.command(&["inventory", "show", "-i", "pipe"]);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("the binary starts");
        let mut words = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut message = String::new();
        while !message.contains("waiting for somebody to write into pipe") {
            let read = words.read_line(&mut message).expect("a pipe can be read");
            assert!(read > 0, "{message}");
        }
        if is_stopped {
            let pid = Pid::from_raw(child.id().try_into().expect("a process's number"));
            kill(pid, Signal::SIGTERM).expect("it is our child");
        } else {
            fs::write(&pipe, &inventory).expect("somebody reads");
        }
        let output = child.wait_with_output().expect("it is our child");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.success(), !is_stopped, "{message}");
        assert_eq!(text.contains("r7"), !is_stopped, "{text}");
    }
}

#[test]
fn what_a_shell_passes_instead_of_a_file_is_read_as_one() {
    let project = Project::new();
    let line = format!(
        "{} inventory show -i <(echo '{{targets: [r8]}}')",
        env!("CARGO_BIN_EXE_devgate")
    );
    let output = project.command_under(&["bash", "-c", &line], &[]).output();
    let output = output.expect("a shell starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("r8"), "{text}{}", messages_of(&output));
}
