//! Commits: commands that activate a candidate configuration, and how a dialect declares them.
//!
//! Without a [`Commit`], each configuration line counts as effective at once. Then nothing that devgate types by
//! itself may commit: a refused line would leave half a change in the candidate, and the commit would activate it.

#[cfg(test)]
mod tests;

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use super::dialect::{Dialect, Pattern, Save};
use crate::error::PendingCommit;

/// How the lines that were typed in configuration mode take effect: all at once, or not at all.
///
/// In its commands and in those that enter and leave the mode, `{session}` is a name that is new for each change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// Shows what the candidate changes. An empty answer means that it changes nothing.
    #[serde(default)]
    pub diff: Option<String>,
    /// Lines of that answer that are no change.
    #[serde(default)]
    pub no_diff: Option<Pattern>,
    /// Checks the candidate, without changing anything.
    #[serde(default)]
    pub check: Option<String>,
    /// Makes the candidate the running configuration. The device may leave configuration mode.
    pub commit: String,
    /// Commits until a time has passed, unless `confirm` follows. The time is `{minutes}`, `{seconds}` or `{time}`
    /// (`hh:mm:ss`).
    #[serde(default)]
    pub confirmed: Option<String>,
    /// Makes such a commit permanent. It is typed in the mode in which `confirmed` left the session.
    #[serde(default)]
    pub confirm: Option<String>,
    /// Takes such a commit back at once. It is typed in the same mode.
    #[serde(default)]
    pub cancel: Option<String>,
    /// How the device shows a commit, of any session, that waits for its confirmation.
    #[serde(default)]
    pub pending: Option<PendingDisplay>,
    /// Empties the candidate. The device may leave configuration mode.
    pub discard: String,
    /// Shows why a commit has failed.
    #[serde(default)]
    pub reason: Option<String>,
    /// Whether a commit survives a restart. Otherwise the dialect's `save` is needed.
    #[serde(default = "saves")]
    pub saves: bool,
}

/// How a device shows that a commit waits for its confirmation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingDisplay {
    /// The command, typed at the prompt for commands.
    pub command: String,
    /// The same command in configuration mode, if it is another one there.
    #[serde(default)]
    pub in_config: Option<String>,
    /// Lines of its answer that are there only as long as a commit waits.
    pub pattern: Pattern,
}

/// What commands may contain for the time until an unconfirmed commit is taken back.
const TIMES: [&str; 3] = ["{minutes}", "{seconds}", "{time}"];

/// What every command may contain for the name of the configuration session.
const SESSION: &str = "{session}";

impl PendingDisplay {
    /// Returns the commit that an answer shows, if one waits.
    pub(crate) fn commit_in(&self, output: &str, peer: &str) -> Option<PendingCommit> {
        let mut lines = output.lines();
        let shown = lines.find(|line| self.pattern.is_found_in(line))?;
        Some(PendingCommit {
            peer: peer.to_owned(),
            command: self.command.clone(),
            shown: shown.to_owned(),
        })
    }

    /// Returns the command in configuration mode.
    pub(super) fn in_config(&self) -> &str {
        self.in_config.as_ref().unwrap_or(&self.command)
    }
}

impl Commit {
    /// Returns the time that the device waits for a confirmation, which may be a bit longer than desired.
    pub(crate) fn waits(&self, desired: Duration) -> Duration {
        let confirmed = self.confirmed.as_deref().unwrap_or_default();
        let unit = if confirmed.contains(TIMES[0]) { 60 } else { 1 };
        Duration::from_secs(desired.as_secs().max(1).div_ceil(unit) * unit)
    }

    /// Returns each command with its key.
    fn commands(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let own = [
            ("diff", self.diff.as_deref()),
            ("check", self.check.as_deref()),
            ("commit", Some(&*self.commit)),
            ("confirmed", self.confirmed.as_deref()),
            ("confirm", self.confirm.as_deref()),
            ("cancel", self.cancel.as_deref()),
            ("discard", Some(&*self.discard)),
            ("reason", self.reason.as_deref()),
        ];
        own.into_iter()
            .filter_map(|(key, command)| Some((key, command?)))
    }
}

/// Returns a command with the name of the configuration session, and the time that the device waits.
pub(crate) fn filled(command: &str, session: &str, waits: Duration) -> String {
    let seconds = waits.as_secs();
    let time = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    let minutes = seconds.div_ceil(60).to_string();
    command
        .replace(SESSION, session)
        .replace(TIMES[0], &minutes)
        .replace(TIMES[1], &seconds.to_string())
        .replace(TIMES[2], &time)
}

/// Returns a name for a configuration session that no other one has.
pub(crate) fn session_name() -> String {
    let session = RandomState::new().hash_one(()) >> 32;
    format!("devgate-{session:08x}")
}

impl Dialect {
    /// Returns whether the device can tell what lines would change, without changing anything.
    pub fn previews(&self) -> bool {
        let commit = self.commit.as_ref();
        commit.is_some_and(|commit| commit.diff.is_some())
    }

    /// Returns the mistakes in its `commit`: for each, the path of the key and the message.
    pub fn commit_mistakes(&self) -> Vec<(Vec<&'static str>, String)> {
        let Some(commit) = &self.commit else {
            return Vec::new();
        };
        let mut mistakes = Vec::new();
        let mut add = |path: &[&'static str], message: &str| {
            mistakes.push((path.to_vec(), message.to_owned()));
        };
        let Self {
            enter_config,
            leave_config,
            prompt,
            ..
        } = self;
        if enter_config.is_none() || leave_config.is_none() || prompt.config.is_none() {
            add(
                &["commit"],
                "needs configuration mode: expected `enter_config`, `leave_config` and `prompt.config` beside it",
            );
        }
        if commit.no_diff.is_some() && commit.diff.is_none() {
            add(
                &["commit", "no_diff"],
                "belongs to `diff`, which is missing",
            );
        }
        match (&commit.confirmed, &commit.confirm, &commit.cancel) {
            (Some(_), None, _) => add(
                &["commit", "confirmed"],
                "needs the command that confirms it: expected `confirm`",
            ),
            (Some(confirmed), ..) if !TIMES.iter().any(|time| confirmed.contains(time)) => add(
                &["commit", "confirmed"],
                "does not say for how long: expected `{minutes}`, `{seconds}` or `{time}` (`hh:mm:ss`) in it",
            ),
            (None, Some(_), _) => add(
                &["commit", "confirm"],
                "belongs to `confirmed`, which is missing",
            ),
            (None, _, Some(_)) => add(
                &["commit", "cancel"],
                "belongs to `confirmed`, which is missing",
            ),
            _ => {}
        }
        if commit.saves && self.save.is_some() {
            add(
                &["save"],
                "is never typed, because a commit is permanent: leave it out, or set `commit.saves: false`",
            );
        }
        for (key, command) in commit.commands() {
            let times: &[&str] = if key == "confirmed" { &TIMES } else { &[] };
            if let Some(unknown) = unknown_placeholder(command, times) {
                let message = match key {
                    "confirmed" => format!(
                        "`{unknown}` is unknown: expected `{SESSION}`, `{{minutes}}`, `{{seconds}}` or `{{time}}`"
                    ),
                    _ => format!("`{unknown}` is unknown here: expected `{SESSION}`"),
                };
                add(&["commit", key], &message);
            }
        }
        mistakes
    }

    /// Returns the keys of this dialect with which a session would commit by the way.
    pub fn keys_that_commit(&self) -> Vec<Vec<&'static str>> {
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
        let discard = self.commit.as_ref().map(|commit| &*commit.discard);
        let command = save.map(Save::command);
        let keys = [
            (vec!["leave_config"], leave.is_some_and(commits)),
            (
                vec!["save"],
                command.is_some_and(commits) || save.is_some_and(saves),
            ),
            (
                vec!["confirm"],
                [leave, discard, command].into_iter().flatten().any(asks),
            ),
            (vec!["commit", "discard"], discard.is_some_and(commits)),
        ];
        let keys_that_commit = keys.into_iter().filter(|(_, commits)| *commits);
        keys_that_commit.map(|(key, _)| key).collect()
    }
}

/// Returns the first word in braces that stands for nothing.
fn unknown_placeholder<'c>(command: &'c str, times: &[&str]) -> Option<&'c str> {
    let starts = command.match_indices('{').map(|(at, _)| &command[at..]);
    let mut words = starts.filter_map(|rest| Some(&rest[..=rest.find('}')?]));
    words.find(|word| *word != SESSION && !times.contains(word))
}

fn saves() -> bool {
    true
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
