//! IOS XR: each session has a target configuration of its own; a commit merges it into the running one.

use std::fmt::Write;
use std::time::Duration;

use super::config::Statements;
use super::device::{Device, Draft, Holder};
use super::nested::{self, Mode as Submode, Value};
use super::terminal::{Mode, Question, Reply, Session};

const MODES: [Submode; 4] = [
    Submode {
        opened_by: &[],
        is_named: false,
        name: "",
        lines: &[("hostname", Value::Text), ("banner motd", Value::Text)],
        modes: &[1, 2],
    },
    Submode {
        opened_by: &["interface"],
        is_named: true,
        name: "-if",
        lines: &[
            ("description", Value::Text),
            ("mtu", Value::Number(64, 9216)),
            ("shutdown", Value::None),
        ],
        modes: &[],
    },
    Submode {
        opened_by: &["router", "static"],
        is_named: false,
        name: "-static",
        lines: &[],
        modes: &[3],
    },
    Submode {
        opened_by: &["address-family", "ipv4", "unicast"],
        is_named: false,
        name: "-static-afi",
        lines: &[("", Value::Item)],
        modes: &[],
    },
];

/// What precedes the output of most commands.
const TIME: &str = "Fri Jan  2 03:04:05.678 UTC\n";

const HEADER: &str = "Building configuration...\n!! IOS XR Configuration 7.3.2\n";

const UNCOMMITTED: &str =
    "Uncommitted changes found, commit them before exiting(yes/no/cancel)? [cancel]:";

const OTHERS_COMMITTED: &str = "One or more commits have occurred from other\nconfiguration sessions since this session \
     started\nor since the last commit was made from this session.\nYou can use the 'show configuration commit \
     changes'\ncommand to browse the changes.\nDo you wish to proceed with this commit anyway? [no]: ";

const FAILED: &str = "% Failed to commit one or more configuration items during a pseudo-atomic operation. All changes \
     made have been reverted. Please issue 'show configuration failed [inheritance]' from this session to view the \
     errors";

/// Returns the configuration of a device that someone uses already.
pub(super) fn factory() -> Statements {
    let mut config = Statements::default();
    let mut context = vec![];
    for line in [
        "hostname edge",
        "interface GigabitEthernet0/0/0/0",
        "description uplink",
        "mtu 1514",
        "router static",
        "address-family ipv4 unicast",
        "10.0.0.0/8 192.0.2.1",
    ] {
        assert!(nested::apply(&MODES, &mut context, &mut config, line));
    }
    config
}

pub(super) fn prompt(session: &Session, device: &mut Device) -> String {
    let name = nested::hostname(&device.running);
    let mode = match session.mode {
        Mode::Exec => String::new(),
        Mode::Config => format!("(config{})", nested::mode_of(&MODES, &session.context).name),
    };
    format!("RP/0/RP0/CPU0:{name}{mode}#")
}

pub(super) fn refusal(session: &Session, device: &mut Device, column: usize) -> String {
    let indent = prompt(session, device).len() + column;
    format!("{:indent$}^\n% Invalid input detected at '^' marker.\n", "")
}

pub(super) fn answer(session: &mut Session, device: &mut Device, line: &str) -> Reply {
    if let Some(question) = session.question.take() {
        return answer_question(session, device, &question, line);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match (session.mode, &words[..]) {
        (Mode::Exec, ["terminal", ..]) => Reply::lines(TIME.trim_end()),
        (Mode::Exec, ["exit" | "quit"]) => Reply::Close,
        (Mode::Exec, ["configure", options @ ..]) => enter(session, device, options),
        (_, ["show", "running-config"]) => {
            let shown = nested::shown(&device.running, " ");
            Reply::Text(format!("{TIME}{HEADER}{shown}end\n\n"))
        }
        (Mode::Exec, _) => wrong(session, device, line),
        (Mode::Config, ["show", "commit", "changes", "diff"]) => {
            let draft = session.draft.clone().unwrap_or_default();
            let difference = nested::difference(&draft.base, &draft.edited, " ");
            Reply::Text(format!("{TIME}{HEADER}{difference}end\n\n"))
        }
        (Mode::Config, ["show", "configuration", "failed"]) => {
            Reply::Text(format!("{TIME}{}", session.failed))
        }
        (Mode::Config, ["commit", ..]) => commit(session, device, line, false),
        (Mode::Config, ["clear"]) => {
            if let Some(draft) = &mut session.draft {
                draft.edited = draft.base.clone();
            }
            session.context.clear();
            Reply::none()
        }
        (Mode::Config, ["abort"]) => leave(session, device),
        (Mode::Config, ["root"]) => {
            session.context.clear();
            Reply::none()
        }
        (Mode::Config, ["exit"]) if !session.context.is_empty() => {
            session.context.pop();
            Reply::none()
        }
        (Mode::Config, ["end" | "exit"]) if is_changed(session) => {
            Reply::Ask(UNCOMMITTED.to_owned(), Question::Leave)
        }
        (Mode::Config, ["end" | "exit"]) => leave(session, device),
        (Mode::Config, _) => {
            let draft = session.draft.as_mut().expect("the mode has one");
            if nested::apply(&MODES, &mut session.context, &mut draft.edited, line) {
                Reply::none()
            } else {
                wrong(session, device, line)
            }
        }
    }
}

fn wrong(session: &Session, device: &mut Device, line: &str) -> Reply {
    let column = line.trim_end().rfind(' ').map_or(0, |at| at + 1);
    Reply::Text(refusal(session, device, column))
}

fn is_changed(session: &Session) -> bool {
    let draft = session.draft.as_ref();
    draft.is_some_and(|draft| draft.base != draft.edited)
}

fn enter(session: &mut Session, device: &mut Device, options: &[&str]) -> Reply {
    match options {
        [] | ["terminal"] => {}
        ["exclusive"] if device.is_locked_for(session.connection) => {
            return Reply::Text(format!(
                "{TIME}% Cannot enter exclusive mode. The Configuration Namespace is locked by another agent.\n"
            ));
        }
        ["exclusive"] => device.lock = Some(Holder::Connection(session.connection)),
        _ => return Reply::lines("% Invalid input detected at '^' marker."),
    }
    session.mode = Mode::Config;
    session.draft = Some(Draft {
        base: device.running.clone(),
        edited: device.running.clone(),
    });
    session.seen = Some(device.running.clone());
    Reply::lines(TIME.trim_end())
}

fn leave(session: &mut Session, device: &mut Device) -> Reply {
    session.mode = Mode::Exec;
    session.draft = None;
    session.context.clear();
    device.unlock(session.connection);
    Reply::none()
}

fn answer_question(
    session: &mut Session,
    device: &mut Device,
    question: &Question,
    line: &str,
) -> Reply {
    let answer = line.trim();
    match question {
        Question::CommitAnyway(command) if answer.starts_with('y') => {
            commit(session, device, command, true)
        }
        Question::CommitAnyway(_) => Reply::none(),
        Question::Leave if answer.starts_with('n') => leave(session, device),
        Question::Leave if answer.starts_with('y') => {
            match commit(session, device, "commit", false) {
                Reply::Text(text) if text == TIME => leave(session, device),
                other => other,
            }
        }
        Question::Leave => Reply::none(),
    }
}

fn commit(session: &mut Session, device: &mut Device, command: &str, anyway: bool) -> Reply {
    let time = match command.split_whitespace().collect::<Vec<_>>()[..] {
        ["commit"] => None,
        ["commit", "confirmed", seconds] => match seconds.parse() {
            Ok(seconds @ 30..=65535) => Some(Duration::from_secs(seconds)),
            _ => return wrong(session, device, command),
        },
        _ => return wrong(session, device, command),
    };
    let refused = |why: &str| Reply::Text(format!("{TIME}{why}\n"));
    let own = session.connection.to_string();
    if device.is_locked_for(session.connection) {
        return refused(
            "% Failed to commit. The Configuration Namespace is locked by another agent.",
        );
    }
    if device
        .trial
        .as_ref()
        .is_some_and(|trial| trial.session != own)
    {
        return refused("% Failed to commit. A trial configuration of another session is active.");
    }
    if !is_changed(session) {
        if time.is_none() && device.trial.take().is_some() {
            device.startup = device.running.clone();
            return Reply::lines(TIME.trim_end());
        }
        return refused("% No configuration changes to commit.");
    }
    if session.seen.as_ref() != Some(&device.running) && !anyway {
        let text = format!("{TIME}{OTHERS_COMMITTED}");
        return Reply::Ask(text, Question::CommitAnyway(command.to_owned()));
    }
    let draft = session.draft.clone().unwrap_or_default();
    let before = device.running.clone();
    let mut after = before.clone();
    after.merge(&draft.base, &draft.edited);
    if let Some(violation) = device.violation(&after) {
        session.failed = failure(&violation.path, &violation.text, &violation.why);
        return refused(FAILED);
    }
    device.running = after.clone();
    session.seen = Some(after.clone());
    session.draft = Some(Draft {
        base: after.clone(),
        edited: after,
    });
    match time {
        Some(time) => device.begin_trial(before, time, &own),
        None => {
            device.trial = None;
            device.startup = device.running.clone();
        }
    }
    Reply::lines(TIME.trim_end())
}

fn failure(path: &[String], line: &str, why: &str) -> String {
    let mut text = "!! SEMANTIC ERRORS: This configuration was rejected by\n!! the system due to semantic errors. The \
                    individual\n!! errors with each failed configuration command can be\n!! found below.\n\n\n"
        .to_owned();
    let around = &path[..path.len() - 1];
    for (depth, opened) in around.iter().enumerate() {
        writeln!(text, "{:depth$}{opened}", "").expect("a text can be written");
    }
    let indent = around.len();
    writeln!(text, "{:indent$}{line}\n!!% {why}\n!\nend\n", "").expect("a text can be written");
    text
}
