//! What a session with an HTTP server holds.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::answer::Answer;
use super::ask::Ask;
use super::login::{Login, Session};
use super::settings::Settings;
use crate::error::Refused;
use crate::{Error, Result};

/// A session with an HTTP server.
#[derive(Debug)]
pub(crate) struct Http {
    pub(super) settings: Settings,
    pub(super) login: Option<Login>,
    /// What the last login gave: a header that is sent along.
    pub(super) session: tokio::sync::Mutex<Option<Session>>,
    /// The client, and how long it waits for a silent server.
    pub(super) client: Mutex<(Duration, reqwest::Client)>,
    /// Whether the server has ever answered.
    pub(super) answered: AtomicBool,
}

impl Http {
    /// A session of which nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Setting`] for what no schema can check.
    pub(crate) fn new(settings: Settings, login: Option<Login>) -> Result<Self> {
        let most = settings.longest_silence();
        Ok(Self {
            client: Mutex::new((most, settings.client(most)?)),
            settings,
            login,
            session: tokio::sync::Mutex::default(),
            answered: AtomicBool::new(false),
        })
    }

    /// `host:port`, as messages name the target.
    pub(crate) fn peer(&self) -> &str {
        &self.settings.peer
    }

    /// How long an answer may take.
    pub(crate) fn command_timeout(&self) -> Duration {
        self.settings.command_timeout
    }

    /// How many values an answer may have.
    pub(crate) fn answer_limit(&self) -> usize {
        self.settings.answer_limit
    }

    /// That the server says no.
    pub(crate) fn refused(&self, ask: &Ask, answer: &Answer, hint: &str) -> Error {
        Error::Refused(Box::new(Refused {
            peer: self.peer().to_owned(),
            request: ask.shown(),
            status: answer.status.to_string(),
            said: answer.said(),
            hint: hint.to_owned(),
            details: Some(answer.details()),
            busy: false,
        }))
    }
}
