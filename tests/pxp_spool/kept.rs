//! The retention of transactions, and foreign files in a spool.

use std::fs;

use serde_json::Value;

use super::spool::Spool;
use crate::folder::{document, messages_of, wait_for_end};

#[test]
fn transactions_that_ended_long_ago_are_removed_when_a_new_one_begins() {
    let spool = Spool::with("case $dir in */slow) await go;; esac; finish '{\"done\": 1}' '' 0");
    for id in ["old", "recent", "slow", "broken"] {
        spool.run(id);
    }
    for id in ["old", "recent", "broken"] {
        spool.end(id);
        wait_for_end(&spool.supervisor(id));
    }
    fs::write(spool.folder("broken").join("metadata"), "{\"canary").expect("it is ours");
    fs::create_dir(spool.folder("foreign")).expect("a folder");
    fs::write(spool.folder("foreign").join("file"), "").expect("a file");
    fs::create_dir(spool.folder(".claim-left")).expect("a folder");
    std::os::unix::fs::symlink(spool.folder("recent"), spool.folder("link")).expect("a link");
    for id in ["old", "slow", "broken", "foreign", ".claim-left"] {
        spool.age(id, 15);
    }
    // Querying or repeating a transaction removes none.
    spool.status("recent");
    spool.run("recent");
    assert!(spool.folder("old").exists());

    let begin = |id: &str, more: &[&str]| messages_of(&spool.0.devgate(&Spool::words(id, more)));
    let words = begin("new", &["--log-level", "info"]);
    spool.end("new");
    assert!(
        words.contains("invalid JSON in metadata file of the transaction broken"),
        "{words}"
    );
    assert!(
        !words.contains("canary") && !words.contains("foreign"),
        "{words}"
    );
    let there = [
        "old",
        ".claim-left",
        "recent",
        "slow",
        "broken",
        "foreign",
        "link",
        "new",
    ];
    let there: Vec<&str> = there
        .into_iter()
        .filter(|id| spool.folder(id).exists())
        .collect();
    assert_eq!(
        there,
        ["recent", "slow", "broken", "foreign", "link", "new"]
    );
    assert_eq!(fs::read_dir(spool.path()).expect("a spool").count(), 6);

    // All transactions are listed, including the broken one; foreign files are not.
    let all = ["pxp", "status", "--spool-dir", "spool"];
    let report = document(&spool.0.devgate(&[&all[..], &["--format", "json"]].concat()));
    let report = report["transactions"].as_array().expect("a list");
    let mut report: Vec<_> = report
        .iter()
        .map(|one| (&one["transaction_id"], &one["status"]))
        .collect();
    report.sort_by_key(|(id, _)| id.to_string());
    let expected = [
        ("broken", "unknown"),
        ("link", "unknown"),
        ("new", "success"),
        ("recent", "success"),
        ("slow", "running"),
    ];
    let expected = expected.map(|(id, status)| (Value::from(id), Value::from(status)));
    let expected: Vec<_> = expected.iter().map(|(id, status)| (id, status)).collect();
    assert_eq!(report, expected);
    let human = spool.0.devgate(&all);
    let human = String::from_utf8_lossy(&human.stdout).into_owned();
    assert!(human.contains("slow    running  m  act  20"), "{human}");

    // Not every new transaction removes old ones.
    assert_eq!(begin("another", &[]), "");
    spool.end("another");
    spool.age("recent", 2);
    spool.run_with("newer", &["--keep", "1d"]);
    assert!(!spool.folder("recent").exists());
    spool.go();
    assert_eq!(spool.end("slow")["status"], "success");
}
