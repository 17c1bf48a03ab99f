//! Commits: commands that activate a candidate configuration.
//!
//! This engine treats each configuration line as effective at once. If a device collects the lines in a
//! candidate until a commit, a refused line leaves half a change there, and the next commit activates it.

use std::sync::LazyLock;

use super::dialect::{Dialect, Pattern, Save};

impl Dialect {
    /// Returns the keys of this dialect with which a session would commit a candidate configuration.
    pub fn keys_that_commit(&self) -> Vec<&'static str> {
        // A device may ask whether to commit before it leaves the mode.
        let asks = |line: &str| {
            let mut questions = self.confirmations(line);
            questions.any(|one| consents(&one.pattern, &one.answer))
        };
        let saves = |save: &Save| {
            let mut questions = save.confirm().iter();
            questions.any(|one| consents(&one.pattern, &one.answer))
        };
        let (leave, save) = (self.leave_config.as_deref(), self.save.as_ref());
        let command = save.map(Save::command);
        let keys = [
            ("leave_config", leave.is_some_and(commits)),
            (
                "save",
                command.is_some_and(commits) || save.is_some_and(saves),
            ),
            ("confirm", [leave, command].into_iter().flatten().any(asks)),
        ];
        let keys_that_commit = keys.into_iter().filter(|(_, commits)| *commits);
        keys_that_commit.map(|(key, _)| key).collect()
    }
}

/// Returns whether a configuration line is a commit.
pub fn is_commit(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    let word = word.to_lowercase();
    word == "commit" || word.starts_with("commit-")
}

/// Returns whether a command commits, judged by the vendors' words for it, also abbreviated.
fn commits(command: &str) -> bool {
    static COMMIT: LazyLock<Pattern> = LazyLock::new(|| {
        let words = r"com|comm|commi|commit[\w-]*|apply|activate";
        Pattern::built_in(&format!(r"(?i)(?:\A|[\s;|&])(?:{words})(?:\z|[\s;|&])"))
    });
    COMMIT.is_found_in(command)
}

/// Returns whether a question is about a commit and its answer does not refuse.
fn consents(question: &Pattern, answer: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    let refuses = ["n", "no", "c", "cancel", "abort"].contains(&answer.as_str());
    question.source().to_lowercase().contains("commit") && !refuses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_that_commit(dialect: serde_json::Value) -> Vec<&'static str> {
        let dialect: Dialect = serde_json::from_value(dialect).expect("a dialect");
        dialect.keys_that_commit()
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
        assert!(
            is_commit(" commit") && is_commit("commit confirmed 5") && is_commit("commit-config")
        );
        assert!(!is_commit("neighbor x activate") && !is_commit("description commit"));
    }
}
