//! Nothing that other users can read contains values of the input or the configuration.

use std::fs;
use std::path::Path;

use super::spool::Spool;
use crate::folder::{messages_of, wait_for_end};

/// The common beginning of the secrets.
const SECRET: &str = "canary-in-the-spool";

#[test]
fn secrets_are_in_no_file_no_list_of_processes_and_no_message() {
    // The action repeats its request, as careless modules do.
    let spool =
        Spool::with("await go; finish \"{\\\"done\\\": $request}\" \"got $request\" 3; exit 3");
    spool.0.write(
        "input.json",
        &format!("{{\"password\": \"{SECRET}-1\", \"tokens\": [\"{SECRET}-2\"]}}"),
    );
    spool
        .0
        .write("conf/m.conf", &format!("{{\"token\": \"{SECRET}-3\"}}"));
    let more = [
        "--input",
        "@input.json",
        "--config-dir",
        "conf",
        "--log-level",
        "trace",
    ];
    let mut message = Vec::new();
    let mut ask = |words: &[&str]| {
        let output = spool.0.devgate(words);
        message.push(messages_of(&output) + &String::from_utf8_lossy(&output.stdout));
    };
    ask(&Spool::words("x", &more));
    spool.wait_for_start();
    let status = [
        "pxp",
        "status",
        "x",
        "--spool-dir",
        "spool",
        "--log-level",
        "trace",
    ];
    ask(&status);
    assert_eq!(
        command_line_and_environment(&spool.supervisor("x")).len(),
        2
    );
    for process in fs::read_dir("/proc").expect("/proc is there").flatten() {
        for text in command_line_and_environment(&process.file_name().to_string_lossy()) {
            assert!(!text.contains(SECRET), "{text}");
        }
    }
    assert!(all_file_texts(&spool.folder("x")).len() >= 3);
    spool.go();
    spool.end("x");
    wait_for_end(&spool.supervisor("x"));
    ask(&status);
    ask(&Spool::words("x", &more));
    ask(&[
        "pxp",
        "cancel",
        "x",
        "--spool-dir",
        "spool",
        "--log-level",
        "trace",
    ]);
    let report = spool.status("x");
    assert_eq!(
        report["results"]["done"]["output_files"]["stdout"],
        spool.folder("x").join("stdout").display().to_string()
    );
    assert!(
        report["stderr"]
            .as_str()
            .expect("a text")
            .starts_with("got {"),
        "{report}"
    );
    for text in message.iter().chain(&all_file_texts(&spool.folder("x"))) {
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// Returns what every user can read of a process.
fn command_line_and_environment(process: &str) -> Vec<String> {
    let files = ["cmdline", "environ"].into_iter();
    let texts = files.filter_map(|file| fs::read(format!("/proc/{process}/{file}")).ok());
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}

fn all_file_texts(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let texts = files.map(|file| fs::read(file.path()).expect("a file"));
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}
