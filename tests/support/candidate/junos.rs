//! Junos: a candidate that all users share, or a private one; lines as `set` and `delete`.
//!
//! Leaving `configure exclusive` discards what is not committed; a lost session does so, too. Plain `configure` leaves
//! it in the candidate of all.

use std::fmt::Write;
use std::time::Duration;

use super::USER;
use super::config::{Edit, Statements};
use super::device::{Device, Draft, Holder, Violation};
use super::terminal::{Mode, Question, Reply, Session};

/// The statements that this device knows: words, `<…>` for any name, and at the end what the value may be.
const KNOWN: [(&[&str], Value); 6] = [
    (&["interfaces", "<>", "description"], Value::Text),
    (&["interfaces", "<>", "mtu"], Value::Number(256, 9216)),
    (&["interfaces", "<>", "disable"], Value::None),
    (
        &["routing-options", "static", "route", "<>", "next-hop", "<>"],
        Value::None,
    ),
    (&["system", "host-name"], Value::Text),
    (&["system", "login", "message"], Value::Text),
];

#[derive(Clone, Copy)]
enum Value {
    None,
    Text,
    Number(u32, u32),
}

/// Returns the configuration of a device that someone uses already.
pub(super) fn factory() -> Statements {
    let mut config = Statements::default();
    for line in [
        "system host-name edge",
        "interfaces ge-0/0/0 description uplink",
        "interfaces ge-0/0/0 mtu 1500",
        "routing-options static route 10.0.0.0/8 next-hop 192.0.2.1",
    ] {
        config.apply(statement(line).expect("it is known"));
    }
    config
}

pub(super) fn prompt(session: &Session, device: &mut Device) -> String {
    let name = device.running.iter().find_map(|(path, text)| {
        let name = text.strip_prefix("system host-name ")?;
        (path.len() == 2).then_some(name)
    });
    let name = name.unwrap_or("Amnesiac");
    match (session.mode, &device.trial) {
        (Mode::Exec, _) => format!("\n{USER}@{name}> "),
        (Mode::Config, None) => format!("\n[edit]\n{USER}@{name}# "),
        (Mode::Config, Some(trial)) => format!(
            "\n# commit confirmed will be rolled back in {} minutes\n[edit]\n{USER}@{name}# ",
            trial.minutes
        ),
    }
}

pub(super) fn refusal(session: &Session, device: &mut Device, column: usize) -> String {
    let prompt = prompt(session, device);
    let indent = prompt.lines().last().unwrap_or_default().len() + column;
    format!("{:indent$}^\nsyntax error.\n", "")
}

pub(super) fn answer(session: &mut Session, device: &mut Device, line: &str) -> Reply {
    if let Some(question) = session.question.take() {
        return answer_question(session, device, &question, line);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let wrong = |session: &Session, device: &mut Device| {
        let column = line.trim_end().rfind(' ').map_or(0, |at| at + 1);
        Reply::Text(refusal(session, device, column))
    };
    if session.mode == Mode::Exec {
        return match words[..] {
            ["set", "cli", ..] => Reply::none(),
            ["exit" | "quit"] => Reply::Close,
            ["configure", ..] => enter(session, device, words.get(1).copied()),
            ["show", "configuration", "|", "display", "set"]
            | [
                "show",
                "configuration",
                "|",
                "display",
                "set",
                "|",
                "no-more",
            ] => Reply::Text(as_set(&device.running)),
            ["show", "system", "commit"] => Reply::Text(commits(device)),
            _ => wrong(session, device),
        };
    }
    match words[..] {
        ["set", ..] | ["delete", ..] => match statement(words_behind(line)) {
            Some(edit) => change(session, device, words[0], edit),
            None => wrong(session, device),
        },
        ["run", "show", "system", "commit"] => Reply::Text(commits(device)),
        ["show", "|", "compare"] => {
            Reply::Text(compare(&device.running, candidate(session, device)))
        }
        ["rollback"] | ["rollback", "0"] => {
            *candidate_mut(session, device) = device.running.clone();
            Reply::lines("load complete")
        }
        ["commit", ref options @ ..] => commit(session, device, options),
        ["exit" | "quit"] | ["exit", "configuration-mode"] => leave(session, device),
        _ => wrong(session, device),
    }
}

fn words_behind(line: &str) -> &str {
    let line = line.trim();
    line.split_once(' ').map_or("", |(_, rest)| rest)
}

fn enter(session: &mut Session, device: &mut Device, how: Option<&str>) -> Reply {
    let modified = device.shared != device.running;
    let locked = device.is_locked_for(session.connection);
    let greeting = match how {
        Some("exclusive") => {
            if locked {
                return Reply::lines(LOCKED);
            }
            if modified {
                return Reply::lines("error: configuration database modified");
            }
            device.lock = Some(Holder::Connection(session.connection));
            "warning: uncommitted changes will be discarded on exit\nEntering configuration mode"
        }
        Some("private") => {
            if locked {
                return Reply::lines(LOCKED);
            }
            session.draft = Some(Draft {
                base: device.running.clone(),
                edited: device.running.clone(),
            });
            "warning: uncommitted changes will be discarded on exit\nEntering configuration mode"
        }
        Some(_) => return Reply::lines("error: unknown command"),
        None if modified => {
            "Entering configuration mode\nCurrent configuration users:\n  anna terminal p0 (pid 4711) on since \
             2026-01-02 03:04:05 UTC\n      [edit]\nThe configuration has been changed but not committed"
        }
        None => "Entering configuration mode",
    };
    session.mode = Mode::Config;
    Reply::lines(greeting)
}

const LOCKED: &str = "error: configuration database locked by:\n  anna terminal p0 (pid 4711) on since 2026-01-02 \
                      03:04:05 UTC, idle 00:00:10\n      exclusive [edit]";

fn candidate<'c>(session: &'c Session, device: &'c Device) -> &'c Statements {
    match &session.draft {
        Some(draft) => &draft.edited,
        None => &device.shared,
    }
}

fn candidate_mut<'c>(session: &'c mut Session, device: &'c mut Device) -> &'c mut Statements {
    match &mut session.draft {
        Some(draft) => &mut draft.edited,
        None => &mut device.shared,
    }
}

fn change(session: &mut Session, device: &mut Device, verb: &str, edit: Edit) -> Reply {
    if session.draft.is_none() && device.is_locked_for(session.connection) {
        return Reply::lines(LOCKED);
    }
    let edit = match (verb, edit) {
        ("delete", Edit::Set(path, _)) => Edit::Delete(path),
        (_, edit) => edit,
    };
    let is_deleted = matches!(edit, Edit::Delete(_));
    if verb == "set" && is_deleted {
        return Reply::lines("error: missing argument");
    }
    let changed = candidate_mut(session, device).apply(edit);
    match changed {
        false if is_deleted => Reply::lines("warning: statement not found"),
        _ => Reply::none(),
    }
}

fn commit(session: &mut Session, device: &mut Device, options: &[&str]) -> Reply {
    if device.is_locked_for(session.connection) {
        return Reply::lines(LOCKED);
    }
    let minutes = match options {
        [] | ["and-quit" | "check"] => None,
        ["confirmed"] => Some(10),
        ["confirmed", minutes] => match minutes.parse() {
            Ok(minutes @ 1..=65535) => Some(minutes),
            _ => return Reply::lines("error: Value out of range (1..65535)"),
        },
        _ => return Reply::lines("syntax error."),
    };
    if session.draft.is_some() && device.shared != device.running {
        return Reply::lines("error: shared configuration database modified");
    }
    let after = match &session.draft {
        Some(draft) => {
            let mut after = device.running.clone();
            after.merge(&draft.base, &draft.edited);
            after
        }
        None => device.shared.clone(),
    };
    if let Some(violation) = device.violation(&after) {
        return Reply::Text(failure(&violation));
    }
    // A check, too, confirms a commit.
    let before = device.running.clone();
    if options == ["check"] {
        confirm(device);
        return Reply::lines("configuration check succeeds");
    }
    device.running = after.clone();
    device.shared = after.clone();
    if let Some(draft) = &mut session.draft {
        draft.base = after.clone();
        draft.edited = after;
    }
    if let Some(minutes) = minutes {
        device.begin_trial(before, Duration::from_secs(60 * minutes), "");
        return Reply::Text(format!(
            "commit confirmed will be automatically rolled back in {minutes} minutes unless confirmed\ncommit complete\n"
        ));
    }
    device.trial = None;
    device.startup = device.running.clone();
    if options == ["and-quit"] {
        quit(session, device);
        return Reply::lines("commit complete\nExiting configuration mode");
    }
    Reply::lines("commit complete")
}

fn confirm(device: &mut Device) {
    if device.trial.take().is_some() {
        device.startup = device.running.clone();
    }
}

/// Returns the latest commits, as `show system commit` does.
fn commits(device: &Device) -> String {
    let trial = device.trial.as_ref();
    let trial = trial.map_or_else(String::new, |trial| {
        format!(" commit confirmed, rollback in {}mins", trial.minutes)
    });
    format!(
        "0   2026-01-02 03:04:05 UTC by {USER} via cli{trial}\n1   2026-01-01 00:00:00 UTC by root via other\n"
    )
}

fn failure(violation: &Violation) -> String {
    let (last, around) = violation.path.split_last().expect("no path is empty");
    format!(
        "[edit {}]\n  '{last}'\n    {}\nerror: configuration check-out failed\n",
        around.join(" "),
        violation.why
    )
}

fn leave(session: &mut Session, device: &mut Device) -> Reply {
    let modified = candidate(session, device) != &device.running;
    if !modified {
        quit(session, device);
        return Reply::lines("Exiting configuration mode");
    }
    let mut text = "The configuration has been changed but not committed\n".to_owned();
    let own =
        session.draft.is_some() || device.lock == Some(Holder::Connection(session.connection));
    text += if own {
        "warning: Auto rollback on exiting\nDiscard uncommitted changes? [yes,no] (yes) "
    } else {
        "Exit with uncommitted changes? [yes,no] (yes) "
    };
    Reply::Ask(text, Question::Leave)
}

fn answer_question(
    session: &mut Session,
    device: &mut Device,
    question: &Question,
    line: &str,
) -> Reply {
    match (question, line.trim()) {
        (Question::Leave, "" | "yes" | "y") => {
            quit(session, device);
            Reply::lines("Exiting configuration mode")
        }
        _ => Reply::none(),
    }
}

fn quit(session: &mut Session, device: &mut Device) {
    device.unlock(session.connection);
    session.draft = None;
    session.mode = Mode::Exec;
}

/// Returns what the words behind `set` or `delete` set, or what is below them. `None` if they are wrong.
fn statement(line: &str) -> Option<Edit> {
    let words = words(line)?;
    let fits = |pattern: &[&str], words: &[String]| {
        let mut pairs = pattern.iter().zip(words);
        pairs.all(|(known, word)| *known == "<>" || known == word)
    };
    let whole = KNOWN.iter().find_map(|(pattern, value)| {
        let rest = words.get(pattern.len()..)?;
        let is_value = match (value, rest) {
            (Value::None, []) => true,
            (Value::Text, [_]) => true,
            (Value::Number(least, most), [number]) => {
                (*least..=*most).contains(&number.parse().ok()?)
            }
            _ => false,
        };
        (is_value && fits(pattern, &words)).then(|| words[..pattern.len()].to_vec())
    });
    if let Some(path) = whole {
        return Some(Edit::Set(path, quoted(&words)));
    }
    let is_part =
        |(pattern, _): &(&[&str], Value)| words.len() <= pattern.len() && fits(pattern, &words);
    let is_known = !words.is_empty() && KNOWN.iter().any(is_part);
    is_known.then_some(Edit::Delete(words))
}

fn words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut rest = line.trim();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(rest) => rest.split_once('"')?,
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = behind.trim_start();
    }
    Some(words)
}

fn quoted(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        if word.contains(' ') || word.is_empty() {
            format!("\"{word}\"")
        } else {
            word.clone()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn as_set(config: &Statements) -> String {
    config
        .iter()
        .map(|(_, text)| format!("set {text}\n"))
        .collect()
}

fn compare(before: &Statements, after: &Statements) -> String {
    let mut text = String::new();
    for (path, old, new) in before.difference(after) {
        let around = &path[..path.len() - 1];
        writeln!(text, "[edit {}]", around.join(" ")).expect("a text can be written");
        let statement = |whole: &str| {
            let words = words(whole).unwrap_or_default();
            quoted(&words[around.len()..])
        };
        for (sign, whole) in [('-', old), ('+', new)] {
            if let Some(whole) = whole {
                writeln!(text, "{sign}   {};", statement(whole)).expect("a text can be written");
            }
        }
    }
    text
}
