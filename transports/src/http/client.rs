//! The state of a session with an HTTP server.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::http_request::HttpRequest;
use super::http_response::HttpResponse;
use super::login::{HttpLogin, SessionHeader};
use super::settings::HttpSettings;
use crate::error::Refused;
use crate::{Error, Result};

/// A session with an HTTP server.
#[derive(Debug)]
pub(crate) struct Http {
    pub(super) settings: HttpSettings,
    pub(super) login: Option<HttpLogin>,
    /// The result of the last login: a header for each request.
    pub(super) session: tokio::sync::Mutex<Option<SessionHeader>>,
    /// The client, and how long it waits for a silent server.
    pub(super) client: Mutex<(Duration, reqwest::Client)>,
    /// Whether the server has ever answered.
    pub(super) answered: AtomicBool,
}

impl Http {
    /// Creates a session. Nothing is sent yet.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect.
    pub(crate) fn new(settings: HttpSettings, login: Option<HttpLogin>) -> Result<Self> {
        let most = settings.max_silence();
        Ok(Self {
            client: Mutex::new((most, settings.client(most)?)),
            settings,
            login,
            session: tokio::sync::Mutex::default(),
            answered: AtomicBool::new(false),
        })
    }

    /// Returns `host:port`, as messages name the target.
    pub(crate) fn peer(&self) -> &str {
        &self.settings.peer
    }

    /// Returns the limit for an answer.
    pub(crate) fn command_timeout(&self) -> Duration {
        self.settings.command_timeout
    }

    /// Returns the maximum number of values in an answer.
    pub(crate) fn answer_limit(&self) -> usize {
        self.settings.answer_limit
    }

    /// Returns the error for a request that the server refused.
    pub(crate) fn refused(
        &self,
        http_request: &HttpRequest,
        answer: &HttpResponse,
        hint: &str,
    ) -> Error {
        Error::Refused(Box::new(Refused {
            peer: self.peer().to_owned(),
            request: http_request.shown(),
            status: answer.status.to_string(),
            message: answer.error_message(),
            hint: hint.to_owned(),
            details: Some(answer.details()),
            busy: false,
        }))
    }
}
