//! Tests of what commits, and of mistakes in a dialect's `commit`.

use super::*;

fn keys_that_commit(dialect: serde_json::Value) -> Vec<&'static str> {
    let dialect: Dialect = serde_json::from_value(dialect).expect("a dialect");
    let keys = dialect.keys_that_commit();
    keys.into_iter().flatten().collect()
}

fn mistakes(commit: serde_json::Value, others: serde_json::Value) -> Vec<String> {
    let mut dialect = serde_json::json!({
        "prompt": { "config": "#" }, "enter_config": "configure", "leave_config": "exit", "commit": commit,
    });
    let others = others.as_object().expect("an object").clone();
    dialect.as_object_mut().expect("an object").extend(others);
    let dialect: Dialect = serde_json::from_value(dialect).expect("a dialect");
    let mistakes = dialect.commit_mistakes().into_iter();
    mistakes
        .map(|(path, message)| format!("{}: {message}", path.join(".")))
        .collect()
}

#[test]
fn mistakes_in_a_commit_are_found() {
    let none = serde_json::json!({});
    let whole = serde_json::json!({
        "diff": "show | compare", "no_diff": "^$", "check": "commit check", "commit": "commit",
        "confirmed": "commit confirmed {minutes}", "confirm": "commit", "discard": "rollback 0",
    });
    assert_eq!(mistakes(whole, none.clone()), [""; 0]);
    for (commit, others, expected) in [
        (
            serde_json::json!({ "no_diff": "x" }),
            none.clone(),
            "commit.no_diff: belongs to `diff`",
        ),
        (
            serde_json::json!({ "confirmed": "commit confirmed {minutes}" }),
            none.clone(),
            "commit.confirmed: needs the command",
        ),
        (
            serde_json::json!({ "confirmed": "commit confirmed 5", "confirm": "commit" }),
            none.clone(),
            "commit.confirmed: does not say for how long",
        ),
        (
            serde_json::json!({ "confirm": "commit" }),
            none.clone(),
            "commit.confirm: belongs to",
        ),
        (
            serde_json::json!({ "cancel": "abort" }),
            none.clone(),
            "commit.cancel: belongs to",
        ),
        (
            serde_json::json!({ "check": "commit check {name}" }),
            none.clone(),
            "commit.check: `{name}` is unknown here: expected `{session}`",
        ),
        (
            serde_json::json!({}),
            serde_json::json!({ "save": "write" }),
            "save: is never typed",
        ),
        (
            serde_json::json!({}),
            serde_json::json!({ "leave_config": null }),
            "commit: needs configuration mode",
        ),
    ] {
        let mut given = serde_json::json!({ "commit": "commit", "discard": "abort" });
        let commit = commit.as_object().expect("an object").clone();
        given.as_object_mut().expect("an object").extend(commit);
        let found = mistakes(given, others);
        assert!(
            found.len() == 1 && found[0].starts_with(expected),
            "{found:?}"
        );
    }
}

#[test]
fn the_time_of_a_commit_is_in_the_words_of_the_device() {
    let confirmed = |confirmed: &str, seconds: u64| {
        let commit: Commit = serde_json::from_value(serde_json::json!({
            "commit": "commit", "discard": "abort", "confirmed": confirmed,
        }))
        .expect("a commit");
        let waits = commit.waits(Duration::from_secs(seconds));
        (filled(confirmed, "devgate-1", waits), waits.as_secs())
    };
    for (command, seconds, typed, waits) in [
        ("commit confirmed {minutes}", 60, "commit confirmed 1", 60),
        ("commit confirmed {minutes}", 61, "commit confirmed 2", 120),
        ("commit confirmed {seconds}", 61, "commit confirmed 61", 61),
        ("commit timer {time}", 3725, "commit timer 01:02:05", 3725),
        (
            "configure {session} {time}",
            9,
            "configure devgate-1 00:00:09",
            9,
        ),
    ] {
        assert_eq!(confirmed(command, seconds), (typed.to_owned(), waits));
    }
}

#[test]
fn what_leaves_the_mode_or_saves_may_not_commit() {
    for leave in [
        "commit and-quit",
        "commit",
        "comm and-quit",
        "Commit; exit",
        "commit-and-quit",
        "nv config apply",
    ] {
        let found = keys_that_commit(serde_json::json!({ "leave_config": leave }));
        assert_eq!(found, ["leave_config"], "{leave}");
        let found = keys_that_commit(serde_json::json!({ "save": leave }));
        assert_eq!(found, ["save"], "{leave}");
    }
    let others = [
        "end",
        "exit",
        "exit configuration-mode",
        "return",
        "quit",
        "community",
    ];
    for leave in others {
        let found = keys_that_commit(serde_json::json!({ "leave_config": leave }));
        assert!(found.is_empty(), "{leave}");
    }
    let save = "copy running-config startup-config";
    assert!(keys_that_commit(serde_json::json!({ "save": save })).is_empty());
}

#[test]
fn a_question_whether_to_commit_may_only_be_declined() {
    let asked = |answer: &str, command: &str| {
        keys_that_commit(serde_json::json!({
            "leave_config": "end",
            "confirm": [{
                "command": command, "pattern": "Uncommitted changes found", "answer": answer,
            }],
        }))
    };
    assert_eq!(asked("yes", "^(end|exit)"), ["confirm"]);
    assert_eq!(asked("", "^end"), ["confirm"]);
    assert!(asked("no", "^end").is_empty());
    assert!(asked("yes", "^commit").is_empty(), "who types it wants it");
    let save = serde_json::json!({
        "command": "write memory", "confirm": [{ "pattern": "Commit now", "answer": "y" }],
    });
    assert_eq!(
        keys_that_commit(serde_json::json!({ "save": save })),
        ["save"]
    );
}

#[test]
fn a_line_is_a_commit_by_its_first_word() {
    assert!(is_commit(" commit") && is_commit("commit confirmed 5") && is_commit("commit-config"));
    assert!(!is_commit("neighbor x activate") && !is_commit("description commit"));
}
