//! What a device holds: its configurations, its lock, a commit that waits for its confirmation, and what it received.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::config::{Edit, Statements};
use super::fault::{Fault, Planned};
use super::{Vendor, eos, iosxr, junos};

/// What makes a statement one that only a commit refuses, and why.
const INVALID: [(&str, &str); 3] = [
    ("9199", "the MTU exceeds what the hardware supports"),
    ("192.0.2.66", "the next hop is an address of this device"),
    ("rejected", "the name is reserved"),
];

/// A line that the device has received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The number of its connection, counted from 1.
    pub(crate) connection: usize,
    /// The line without its end.
    pub(crate) line: String,
}

/// Changes that are not committed: what they began with, and what has become of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub(super) base: Statements,
    pub(super) edited: Statements,
}

/// Who has locked the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Connection(usize),
    SomeoneElse,
}

/// A commit that is taken back unless it is confirmed.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) before: Statements,
    pub(super) until: Duration,
    pub(super) minutes: u64,
    /// The session that may confirm it, if it has a name.
    pub(super) session: String,
}

/// A violation of what only a commit checks.
pub(super) struct Violation {
    pub(super) path: Vec<String>,
    pub(super) text: String,
    pub(super) why: String,
}

/// A device.
pub(crate) struct Device {
    pub(super) vendor: Vendor,
    pub(super) running: Statements,
    /// What a restart brings back.
    pub(super) startup: Statements,
    /// The candidate of all who have no own one. Only Junos has it.
    pub(super) shared: Statements,
    /// The sessions of EOS that are neither committed nor aborted.
    pub(super) sessions: BTreeMap<String, Draft>,
    pub(super) lock: Option<Holder>,
    pub(super) trial: Option<Trial>,
    /// Whether the next check or commit fails, whatever is to be committed.
    pub(super) fails_commit: bool,
    refuses_logins: bool,
    planned: Vec<Planned>,
    received: Vec<Received>,
    begun: Instant,
    put_forward: Duration,
    cuts: BTreeMap<usize, Arc<Notify>>,
}

impl Device {
    pub(super) fn new(vendor: Vendor) -> Self {
        let running = match vendor {
            Vendor::Junos => junos::factory(),
            Vendor::IosXr => iosxr::factory(),
            Vendor::Eos => eos::factory(),
        };
        Self {
            vendor,
            startup: running.clone(),
            shared: running.clone(),
            running,
            sessions: BTreeMap::new(),
            lock: None,
            trial: None,
            fails_commit: false,
            refuses_logins: false,
            planned: Vec::new(),
            received: Vec::new(),
            begun: Instant::now(),
            put_forward: Duration::ZERO,
            cuts: BTreeMap::new(),
        }
    }

    /// Forgets what was received, and plans faults for what comes.
    pub(crate) fn plan(&mut self, planned: &[Planned]) {
        self.received.clear();
        self.planned = planned.to_vec();
    }

    /// Ends all trouble that a fault may have caused: others leave, and logins work.
    pub(crate) fn heal(&mut self) {
        self.plan(&[]);
        self.refuses_logins = false;
        self.fails_commit = false;
        if self.lock == Some(Holder::SomeoneElse) {
            self.lock = None;
        }
    }

    /// Returns the lines that were received since the last plan.
    pub(crate) fn received(&self) -> &[Received] {
        &self.received
    }

    /// Returns the running configuration.
    pub(crate) fn running(&mut self) -> &Statements {
        self.expire();
        &self.running
    }

    /// Returns the configuration after a restart.
    pub(crate) fn startup(&self) -> &Statements {
        &self.startup
    }

    /// Returns whether a commit waits for its confirmation.
    pub(crate) fn is_pending(&mut self) -> bool {
        self.expire();
        self.trial.is_some()
    }

    /// Returns the changes that wait for somebody's commit, without those of sessions that are open.
    pub(crate) fn uncommitted(&self) -> Vec<String> {
        let shared = self.running.difference(&self.shared);
        let text = |(path, before, after): &(&[String], Option<&str>, Option<&str>)| {
            format!("{}: {before:?} -> {after:?}", path.join(" / "))
        };
        let mut found: Vec<String> = match self.vendor {
            Vendor::Junos => shared.iter().map(text).collect(),
            Vendor::IosXr | Vendor::Eos => vec![],
        };
        for (name, draft) in &self.sessions {
            let changes = draft.base.difference(&draft.edited);
            found.extend(
                changes
                    .iter()
                    .map(|change| format!("{name}: {}", text(change))),
            );
        }
        found
    }

    /// Returns the names of the sessions that are neither committed nor aborted.
    pub(crate) fn pending_sessions(&self) -> Vec<String> {
        self.sessions.keys().cloned().collect()
    }

    /// Returns whose device it is.
    pub(crate) fn vendor(&self) -> Vendor {
        self.vendor
    }

    /// Returns the number of connections that are open.
    pub(crate) fn connections(&self) -> usize {
        self.cuts.len()
    }

    /// Lets so much time pass that every commit without a confirmation is taken back.
    pub(crate) fn pass_time(&mut self) {
        let now = self.now();
        if let Some(trial) = &self.trial {
            self.put_forward += trial.until.saturating_sub(now) + Duration::from_secs(1);
        }
        self.expire();
    }

    /// Someone locks the configuration, if nobody has.
    pub(crate) fn lock(&mut self) {
        self.lock.get_or_insert(Holder::SomeoneElse);
    }

    /// Someone changes the candidate that all share, and does not commit it.
    pub(crate) fn edit(&mut self) {
        if self.lock.is_none() && self.vendor == Vendor::Junos {
            self.shared.apply(self.foreign());
        }
    }

    /// Someone changes and commits the configuration, if nobody has locked it and no commit waits.
    pub(crate) fn commit_change(&mut self) {
        if self.lock.is_none() && self.trial.is_none() {
            let change = self.foreign();
            for of in [&mut self.running, &mut self.startup, &mut self.shared] {
                of.apply(change.clone());
            }
        }
    }

    /// Someone changes the configuration with a commit that is not confirmed, if nobody has locked it and no other
    /// commit waits.
    pub(crate) fn try_change(&mut self) {
        if self.lock.is_none() && self.trial.is_none() {
            let (before, change) = (self.running.clone(), self.foreign());
            for of in [&mut self.running, &mut self.shared] {
                of.apply(change.clone());
            }
            self.begin_trial(before, Duration::from_secs(600), "anna");
        }
    }

    /// Returns the line of [`Statements::lines`] that [`edit`](Self::edit), [`commit_change`](Self::commit_change)
    /// and [`try_change`](Self::try_change) add.
    pub(crate) fn foreign_line(&self) -> &'static str {
        match self.vendor {
            Vendor::Junos => "interfaces / ge-0/0/9 / interfaces ge-0/0/9 description anna",
            Vendor::IosXr => "interface GigabitEthernet0/0/0/9 / description anna",
            Vendor::Eos => "interface Ethernet9 / description anna",
        }
    }

    fn foreign(&self) -> Edit {
        let (path, text): (&[&str], &str) = match self.vendor {
            Vendor::Junos => (
                &["interfaces", "ge-0/0/9", "description"],
                "interfaces ge-0/0/9 description anna",
            ),
            Vendor::IosXr => (
                &["interface GigabitEthernet0/0/0/9", "description"],
                "description anna",
            ),
            Vendor::Eos => (&["interface Ethernet9", "description"], "description anna"),
        };
        let path = path.iter().map(|word| (*word).to_owned()).collect();
        Edit::Set(path, text.to_owned())
    }

    pub(super) fn now(&self) -> Duration {
        self.begun.elapsed() + self.put_forward
    }

    /// Takes back a commit whose time to be confirmed has passed.
    pub(super) fn expire(&mut self) {
        let now = self.now();
        if let Some(trial) = self.trial.take_if(|trial| trial.until <= now) {
            self.roll_back(trial);
        }
    }

    /// Takes back a commit. Changes to the candidate since then stay in it.
    pub(super) fn roll_back(&mut self, trial: Trial) {
        let mut shared = trial.before.clone();
        shared.merge(&self.running, &self.shared);
        self.shared = shared;
        self.running = trial.before;
    }

    /// Begins a trial, or prolongs it.
    pub(super) fn begin_trial(&mut self, before: Statements, time: Duration, session: &str) {
        let before = self.trial.take().map_or(before, |trial| trial.before);
        self.trial = Some(Trial {
            before,
            until: self.now() + time,
            minutes: time.as_secs() / 60,
            session: session.to_owned(),
        });
    }

    /// Returns why a configuration cannot be committed.
    pub(super) fn violation(&mut self, config: &Statements) -> Option<Violation> {
        let violation = |(path, text): (&[String], &str), why: &str| Violation {
            path: path.to_vec(),
            text: text.to_owned(),
            why: why.to_owned(),
        };
        if std::mem::take(&mut self.fails_commit) {
            let first = config.iter().next().expect("no configuration is empty");
            return Some(violation(first, "a process does not accept it"));
        }
        config.iter().find_map(|statement| {
            let (_, why) = INVALID
                .iter()
                .find(|(value, _)| statement.1.contains(value))?;
            Some(violation(statement, why))
        })
    }

    pub(super) fn is_locked_for(&self, connection: usize) -> bool {
        self.lock
            .is_some_and(|holder| holder != Holder::Connection(connection))
    }

    pub(super) fn accepts_logins(&self) -> bool {
        !self.refuses_logins
    }

    pub(super) fn connect(&mut self, connection: usize, cut: Arc<Notify>) {
        self.cuts.insert(connection, cut);
    }

    /// Ends what does not outlive a connection: its lock, and what it has not committed.
    pub(super) fn disconnect(&mut self, connection: usize) {
        self.cuts.remove(&connection);
        self.unlock(connection);
    }

    /// Ends the lock of a connection. Junos then discards what is not committed.
    pub(super) fn unlock(&mut self, connection: usize) {
        if self.lock == Some(Holder::Connection(connection)) {
            self.lock = None;
            self.shared = self.running.clone();
        }
    }

    /// Records a line, and returns the fault that is planned for it. What others do has then been done.
    pub(super) fn receive(&mut self, connection: usize, line: &str) -> Option<Fault> {
        self.expire();
        let line = line.to_owned();
        self.received.push(Received { connection, line });
        let step = self.received.len();
        let mut planned = self.planned.iter();
        let fault = planned.find(|planned| planned.step == step)?.fault;
        match fault {
            Fault::RefuseLogins => self.refuses_logins = true,
            Fault::Expire => self.pass_time(),
            Fault::Lock => self.lock(),
            Fault::ForeignCommit => self.commit_change(),
            Fault::ForeignTrial => self.try_change(),
            Fault::ForeignEdit => self.edit(),
            Fault::FailCommit => self.fails_commit = true,
            Fault::RebootConfirmed => self.reboot(false),
            Fault::RebootRunning => self.reboot(true),
            Fault::Refuse
            | Fault::LoseBefore
            | Fault::LoseAfter
            | Fault::LoseWithin
            | Fault::HangBefore
            | Fault::HangAfter
            | Fault::HangWithin
            | Fault::Message => {}
        }
        Some(fault)
    }

    fn reboot(&mut self, keeps_running: bool) {
        if !keeps_running {
            self.trial = None;
            self.running = self.startup.clone();
        }
        self.shared = self.running.clone();
        self.sessions.clear();
        self.lock = None;
        for cut in self.cuts.values() {
            cut.notify_one();
        }
    }
}
