//! How long transactions are kept, and what in a spool is nobody's.

use std::fs;

use super::spool::Spool;
use crate::folder::{wait_for_the_end_of, words_of};

#[test]
fn transactions_that_ended_long_ago_are_removed_when_a_new_one_begins() {
    let spool = Spool::with("case $dir in */slow) await go;; esac; finish '{\"done\": 1}' '' 0");
    for id in ["old", "recent", "slow", "broken"] {
        spool.run(id);
    }
    for id in ["old", "recent", "broken"] {
        spool.end(id);
        wait_for_the_end_of(&spool.attendant(id));
    }
    fs::write(spool.folder("broken").join("metadata"), "{\"canary").expect("it is ours");
    fs::create_dir(spool.folder("foreign")).expect("a folder");
    fs::write(spool.folder("foreign").join("file"), "").expect("a file");
    fs::create_dir(spool.folder(".claim-left")).expect("a folder");
    std::os::unix::fs::symlink(spool.folder("recent"), spool.folder("link")).expect("a link");
    for id in ["old", "slow", "broken", "foreign", ".claim-left"] {
        spool.age(id, 15);
    }
    // Asking for one, or for one again, removes none.
    spool.status("recent");
    spool.run("recent");
    assert!(spool.folder("old").exists());

    let output = spool.0.devgate(&Spool::words("new", &[]));
    let words = words_of(&output);
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

    spool.age("recent", 2);
    spool.run_with("newer", &["--keep", "1d"]);
    assert!(!spool.folder("recent").exists());
    spool.go();
    assert_eq!(spool.end("slow")["status"], "success");
}
