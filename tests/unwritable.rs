//! Practice switches managed from a node on which a cache or a log cannot be written.

use std::fs;

use serde_json::json;

use crate::folder::{document, messages_of};
use crate::switches;

#[test]
fn facts_are_printed_although_they_cannot_be_cached() {
    let (project, _switches) = switches::project();
    project.write("file", "");
    for option in [&["--cached", "1h"][..], &["--stale-ok"]] {
        let words = [&["facts", "-t", "up", "--format", "json"], option].concat();
        let mut command = project.command(&words);
        let output = command.env("XDG_CACHE_HOME", project.0.path().join("file"));
        let output = output.output().expect("the binary starts");
        let messages = messages_of(&output);
        assert!(output.status.success(), "{messages}");
        assert_eq!(
            messages.matches("set XDG_CACHE_HOME to a folder").count(),
            1,
            "{messages}"
        );
        let document = document(&output);
        assert_eq!(document["items"][0]["status"], "success", "{document}");
    }
}

#[test]
fn a_log_that_is_lost_is_reported_once_and_no_success() {
    let (project, _switches) = switches::project();
    let words = ["device", "-t", "up", "--facts", "--debug", "--logdest"];
    let output = project.devgate(&[&words[..], &["/dev/full"]].concat());
    let messages = messages_of(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    let lost = messages.matches("--logdest: cannot write to /dev/full: ");
    assert_eq!(lost.count(), 1, "{messages}");
    let output = project.devgate(&[&words[..], &["run.log"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", messages_of(&output));
    assert!(fs::metadata(project.0.path().join("run.log")).is_ok_and(|log| log.len() > 0));
}

#[test]
fn purging_the_vlans_of_a_switch_leaves_the_one_that_cannot_be_removed() {
    let (project, _switches) = switches::project();
    let purge = json!({ "resources": { "practice_vlan": { "purge": true } } });
    project.write("purge.yaml", &purge.to_string());
    let words = [
        "device",
        "-t",
        "s1",
        "--apply",
        "purge.yaml",
        "--format",
        "json",
    ];
    let output = project.devgate(&[&words[..], &["--noop"]].concat());
    assert!(output.status.success(), "{}", messages_of(&output));
    let output = project.devgate(&words);
    assert!(output.status.success(), "{}", document(&output));
    let left = project.devgate(&["session", "exec", "-t", "s1", "show", "vlan", "brief"]);
    let left = String::from_utf8_lossy(&left.stdout).into_owned();
    assert!(
        left.contains("default") && !left.contains("users"),
        "{left}"
    );
}
