//! EOS: lines are collected in sessions with names. A session stays until it is committed or aborted, whoever leaves it,
//! and only a few may wait. A commit is lost with a restart unless it is saved.

use std::fmt::Write;
use std::time::Duration;

use super::config::{Edit, Statements};
use super::device::{Device, Draft};
use super::nested::{self, Mode as Submode, Value};
use super::terminal::{Mode, Reply, Session};

const MODES: [Submode; 2] = [
    Submode {
        opened_by: &[],
        is_named: false,
        name: "",
        lines: &[("hostname", Value::Text), ("ip route", Value::Item)],
        modes: &[1],
    },
    Submode {
        opened_by: &["interface"],
        is_named: true,
        name: "-if",
        lines: &[
            ("description", Value::Text),
            ("mtu", Value::Number(68, 9216)),
            ("shutdown", Value::None),
        ],
        modes: &[],
    },
];

pub(super) const REFUSAL: &str = "% Invalid input\n";

/// The number of sessions that may wait.
const MOST_PENDING: usize = 5;

const TOO_MANY: &str = "% Maximum number of pending sessions has been reached. Please commit or abort previous sessions \
                        before creating a new one.";

/// Returns the configuration of a device that someone uses already.
pub(super) fn factory() -> Statements {
    let mut config = Statements::default();
    let mut context = vec![];
    for line in [
        "hostname edge",
        "ip route 10.0.0.0/8 192.0.2.1",
        "interface Ethernet1",
        "description uplink",
        "mtu 1500",
    ] {
        assert!(nested::apply(&MODES, &mut context, &mut config, line));
    }
    config
}

pub(super) fn prompt(session: &Session, device: &mut Device) -> String {
    let name = nested::hostname(&device.running);
    if session.mode == Mode::Exec {
        return format!("{name}#");
    }
    let shown: String = session.name.chars().take(6).collect();
    let submode = nested::mode_of(&MODES, &session.context).name;
    let interface = session.context.first();
    let interface = interface.and_then(|line| line.strip_prefix("interface Ethernet"));
    let interface = interface.map_or_else(String::new, |number| format!("-Et{number}"));
    format!("{name}(config-s-{shown}{submode}{interface})#")
}

pub(super) fn answer(session: &mut Session, device: &mut Device, line: &str) -> Reply {
    if let Some(lines) = &mut session.text {
        if line == "EOF" {
            let text = format!("banner motd\n{}\nEOF", lines.join("\n"));
            session.text = None;
            return edit(
                session,
                device,
                Edit::Set(vec!["banner motd".to_owned()], text),
            );
        }
        lines.push(line.to_owned());
        return Reply::none();
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match (session.mode, &words[..]) {
        (Mode::Exec, ["enable"] | ["terminal", ..]) => Reply::none(),
        (Mode::Exec, ["exit" | "quit"]) => Reply::Close,
        (_, ["show", "running-config"]) => Reply::Text(format!(
            "! Command: show running-config\n! device: edge (vEOS-lab, EOS-4.30.1F)\n!\n{}end\n",
            nested::shown(&device.running, "   ")
        )),
        (_, ["show", "configuration", "sessions"]) => Reply::Text(sessions(device)),
        (Mode::Exec, ["write", "memory"] | ["copy", "running-config", "startup-config"]) => {
            device.startup = device.running.clone();
            Reply::lines("Copy completed successfully.")
        }
        (Mode::Exec, ["configure", "session", name]) => enter(session, device, name),
        (Mode::Exec, ["configure", "session", name, "commit"]) => {
            commit(session, device, name, None)
        }
        (Mode::Exec, ["configure", "session", name, "abort"]) => abort(session, device, name),
        (Mode::Exec, _) => Reply::Text(REFUSAL.to_owned()),
        (Mode::Config, ["show", "session-config", "diffs"]) => {
            match device.sessions.get(&session.name) {
                Some(draft) => Reply::Text(diffs(&session.name, draft)),
                None => Reply::lines("% Session does not exist"),
            }
        }
        (Mode::Config, ["commit"]) => {
            let name = session.name.clone();
            commit(session, device, &name, None)
        }
        (Mode::Config, ["commit", "timer", time]) => match seconds(time) {
            Some(time) => {
                let name = session.name.clone();
                commit(session, device, &name, Some(time))
            }
            None => Reply::Text(REFUSAL.to_owned()),
        },
        (Mode::Config, ["abort"]) => {
            let name = session.name.clone();
            abort(session, device, &name)
        }
        (Mode::Config, ["exit"]) if !session.context.is_empty() => {
            session.context.pop();
            Reply::none()
        }
        (Mode::Config, ["end" | "exit"]) => {
            leave(session);
            Reply::none()
        }
        (Mode::Config, ["banner", "motd"]) => {
            session.text = Some(vec![]);
            Reply::lines("Enter TEXT message. Type 'EOF' on its own line to end.")
        }
        (Mode::Config, ["no", "banner", "motd"]) => edit(
            session,
            device,
            Edit::Delete(vec!["banner motd".to_owned()]),
        ),
        (Mode::Config, _) => match device.sessions.get_mut(&session.name) {
            None => Reply::lines("% Session does not exist"),
            Some(draft) => {
                if nested::apply(&MODES, &mut session.context, &mut draft.edited, line) {
                    Reply::none()
                } else {
                    Reply::Text(REFUSAL.to_owned())
                }
            }
        },
    }
}

fn edit(session: &mut Session, device: &mut Device, edit: Edit) -> Reply {
    session.context.clear();
    if let Some(draft) = device.sessions.get_mut(&session.name) {
        draft.edited.apply(edit);
    }
    Reply::none()
}

fn enter(session: &mut Session, device: &mut Device, name: &str) -> Reply {
    if !device.sessions.contains_key(name) {
        if device.sessions.len() >= MOST_PENDING {
            return Reply::lines(TOO_MANY);
        }
        let draft = Draft {
            base: device.running.clone(),
            edited: device.running.clone(),
        };
        device.sessions.insert(name.to_owned(), draft);
    }
    session.mode = Mode::Config;
    session.name = name.to_owned();
    session.context.clear();
    Reply::none()
}

fn leave(session: &mut Session) {
    session.mode = Mode::Exec;
    session.context.clear();
    session.name.clear();
}

fn abort(session: &mut Session, device: &mut Device, name: &str) -> Reply {
    if let Some(trial) = device.trial.take_if(|trial| trial.session == name) {
        device.roll_back(trial);
    } else if device.sessions.remove(name).is_none() {
        return Reply::lines("% Session does not exist");
    }
    leave(session);
    Reply::none()
}

fn commit(session: &mut Session, device: &mut Device, name: &str, time: Option<Duration>) -> Reply {
    let waiting = device.trial.as_ref().map(|trial| trial.session.clone());
    match waiting {
        Some(waiting) if waiting == name && time.is_none() => {
            device.trial = None;
            leave(session);
            return Reply::none();
        }
        Some(_) => {
            return Reply::lines("% Cannot commit: a session with a commit timer is pending");
        }
        None => {}
    }
    let Some(draft) = device.sessions.get(name).cloned() else {
        return Reply::lines("% Session does not exist");
    };
    let before = device.running.clone();
    let mut after = before.clone();
    after.merge(&draft.base, &draft.edited);
    if let Some(violation) = device.violation(&after) {
        return Reply::Text(format!(
            "% Commit failed: {}\n% The session was not applied\n   {}\n",
            violation.why, violation.text
        ));
    }
    device.running = after;
    device.sessions.remove(name);
    if let Some(time) = time {
        device.begin_trial(before, time, name);
    }
    leave(session);
    Reply::none()
}

fn seconds(time: &str) -> Option<Duration> {
    let parts: Vec<u64> = time
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    match parts[..] {
        [hours, minutes @ 0..60, seconds @ 0..60] => {
            Some(Duration::from_secs(hours * 3600 + minutes * 60 + seconds))
        }
        _ => None,
    }
}

fn diffs(name: &str, draft: &Draft) -> String {
    let difference = nested::difference(&draft.base, &draft.edited, "   ");
    if difference.is_empty() {
        return difference;
    }
    format!(
        "--- system:/running-config\n+++ session:/{name}-session-config\n@@ -1,9 +1,9 @@\n{difference}"
    )
}

fn sessions(device: &Device) -> String {
    let mut text = format!(
        "Maximum number of completed sessions: 1\nMaximum number of pending sessions: {MOST_PENDING}\n\n  Name \
         State         User       Terminal\n  -------------------- ------------- ---------- --------\n"
    );
    for name in device.sessions.keys() {
        writeln!(text, "  {name:20} pending       netops     vty3").expect("a text can be written");
    }
    if let Some(trial) = &device.trial {
        let name = &trial.session;
        writeln!(text, "  {name:20} pendingCommitTimer netops vty3")
            .expect("a text can be written");
    }
    text
}
