//! The device's record of its input.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A key that was pressed at a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Consent {
    pub(crate) user: String,
    /// The command that made the device ask.
    pub(crate) command: String,
    pub(crate) key: u8,
}

/// The recorded input, shared with the terminals.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    sessions: BTreeMap<String, usize>,
    lines: Vec<(String, String)>,
    consents: Vec<Consent>,
}

impl Journal {
    fn with<T>(&self, work: impl FnOnce(&mut Pages) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the beginning of a session, and returns its number among those of the user.
    pub(super) fn begin(&self, user: &str) -> usize {
        self.with(|pages| {
            let sessions = pages.sessions.entry(user.to_owned()).or_default();
            *sessions += 1;
            *sessions
        })
    }

    pub(super) fn record_line(&self, user: &str, line: &str) {
        self.with(|pages| pages.lines.push((user.to_owned(), line.to_owned())));
    }

    pub(super) fn consent(&self, user: &str, command: &str, key: u8) {
        let (user, command) = (user.to_owned(), command.to_owned());
        self.with(|pages| pages.consents.push(Consent { user, command, key }));
    }

    /// Returns how often a user's device has received exactly this line.
    pub(crate) fn count_received(&self, user: &str, line: &str) -> usize {
        let is = |input: &&(String, String)| input.0 == user && input.1 == line;
        self.with(|pages| pages.lines.iter().filter(is).count())
    }

    /// Returns the keys that were pressed at a command's question.
    pub(crate) fn consents(&self, user: &str, command: &str) -> Vec<u8> {
        let is = |consent: &&Consent| consent.user == user && consent.command == command;
        self.with(|pages| {
            pages
                .consents
                .iter()
                .filter(is)
                .map(|consent| consent.key)
                .collect()
        })
    }
}
