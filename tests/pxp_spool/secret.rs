//! Nothing that other users can read contains values of the input or the configuration.

use std::fs;
use std::path::Path;

use super::spool::Spool;
use crate::folder::{wait_for_the_end_of, words_of};

/// The common beginning of the secrets.
const SECRET: &str = "canary-in-the-spool";

#[test]
fn secrets_are_in_no_file_no_list_of_processes_and_no_word() {
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
    let mut said = Vec::new();
    let mut ask = |words: &[&str]| {
        let output = spool.0.devgate(words);
        said.push(words_of(&output) + &String::from_utf8_lossy(&output.stdout));
    };
    ask(&Spool::words("x", &more));
    spool.begun();
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
    assert_eq!(shown(&spool.attendant("x")).len(), 2);
    for process in fs::read_dir("/proc").expect("/proc is there").flatten() {
        for text in shown(&process.file_name().to_string_lossy()) {
            assert!(!text.contains(SECRET), "{text}");
        }
    }
    assert!(all_texts(&spool.folder("x")).len() >= 3);
    spool.go();
    spool.end("x");
    wait_for_the_end_of(&spool.attendant("x"));
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
    let told = spool.status("x");
    assert_eq!(
        told["results"]["done"]["output_files"]["stdout"],
        spool.folder("x").join("stdout").display().to_string()
    );
    assert!(
        told["stderr"]
            .as_str()
            .expect("a text")
            .starts_with("got {"),
        "{told}"
    );
    for text in said.iter().chain(&all_texts(&spool.folder("x"))) {
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// Returns what every user can read of a process.
fn shown(process: &str) -> Vec<String> {
    let files = ["cmdline", "environ"].into_iter();
    let texts = files.filter_map(|file| fs::read(format!("/proc/{process}/{file}")).ok());
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}

fn all_texts(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("a folder").flatten();
    let texts = files.map(|file| fs::read(file.path()).expect("a file"));
    texts
        .map(|text| String::from_utf8_lossy(&text).into_owned())
        .collect()
}
