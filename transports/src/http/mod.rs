//! One HTTP session: credentials, logins that expire, retries that end; what REST and the RPCs over
//! HTTP share.
//!
//! ```ignore
//! let http = Http::new(Settings::read(ctx, info)?, None)?;
//! let answer = http.request(ctx, &Ask::new(Method::GET, "/restconf/data")).await?;
//! let data = answer.document();
//! ```
//!
//! A request of an idempotent method (RFC 9110, 9.2.2) is sent again when the connection was lost, any
//! other only while it is certain that nothing of it was sent. Redirects are followed for reading alone,
//! and never to another server: the credentials are not for that one. No proxy is used.

mod again;
mod answer;
mod ask;
#[cfg(test)]
pub(crate) mod fake;
mod login;
mod redirect;
mod send;
mod settings;
mod version2;

use std::sync::atomic::AtomicBool;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use devgate_schemas::{Sensitive, TransportSchema};
use reqwest::header::HeaderName;

use crate::error::{AuthenticationProblem, Refused};
use crate::tls;
use crate::{Context, Error, Result};
use again::patient;
pub(crate) use answer::Answer;
pub(crate) use ask::{Ask, Repeat};
pub(crate) use login::{Carried, Login};
pub(crate) use send::MOST;
use settings::TLS_THERE;
pub(crate) use settings::{Settings, method};

/// The settings of every transport over HTTP, TLS included, to build its own schema on.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")).with(&tls::SCHEMA));

/// How many redirects are followed for one answer.
const MOST_REDIRECTS: usize = 5;

/// A session with an HTTP server.
#[derive(Debug)]
pub(crate) struct Http {
    settings: Settings,
    login: Option<Login>,
    /// What the last login gave: a header that is sent along.
    session: tokio::sync::Mutex<Option<Session>>,
    /// The client, and how long it waits for a silent server.
    client: Mutex<(Duration, reqwest::Client)>,
    /// Whether the server has ever answered.
    answered: AtomicBool,
}

/// A header that proves a login.
#[derive(Clone, Debug)]
struct Session {
    header: HeaderName,
    value: Sensitive<String>,
    /// What of the value is secret.
    token: Sensitive<String>,
}

/// With what a request proves whose it is.
#[derive(Clone, Copy, Debug)]
enum Proof<'a> {
    Nothing,
    /// The credentials of the settings.
    Settings,
    Session(&'a Session),
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

    /// Logs in, where that is a request of its own and was not done yet.
    ///
    /// # Errors
    /// [`Error::Authentication`], or why no answer came.
    pub(crate) async fn log_in(&self, ctx: &Context<'_>) -> Result<()> {
        let logging_in = self.persist(ctx, None, || self.session(ctx));
        logging_in.await.map(drop)
    }

    /// Asks, and takes what the server answers if it is a yes (2xx).
    ///
    /// # Errors
    /// [`Error::Refused`] for a no, [`Error::Authentication`] for credentials that are refused,
    /// [`Error::Interrupted`] for an answer that is not whole, otherwise why none came.
    pub(crate) async fn request(&self, ctx: &Context<'_>, ask: &Ask) -> Result<Answer> {
        let answer = self.answer(ctx, ask).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refused(ask, &answer, ""))
    }

    /// Asks, and takes what the server answers, be it no.
    ///
    /// # Errors
    /// As [`request`](Self::request); of answers only those that refuse the credentials, that have no
    /// time, or that lead elsewhere.
    pub(crate) async fn answer(&self, ctx: &Context<'_>, ask: &Ask) -> Result<Answer> {
        let mut ask = ask.clone();
        for _ in 0..=MOST_REDIRECTS {
            let asking = || self.answer_once(ctx, &ask);
            let answer = self.persist(ctx, Some(&ask), asking).await?;
            match self.redirected(&ask, &answer)? {
                None => return Ok(answer),
                Some(there) => ask = there,
            }
        }
        Err(Error::Unsupported(format!(
            "{} redirects more than {MOST_REDIRECTS} times: nothing was answered",
            self.peer()
        )))
    }

    /// One answer, after one more login if the last one has expired.
    async fn answer_once(&self, ctx: &Context<'_>, ask: &Ask) -> Result<Answer> {
        let session = self.session(ctx).await?;
        let proof = |session| match session {
            None => Proof::Settings,
            Some(session) => Proof::Session(session),
        };
        let mut answer = self.exchange(ctx, ask, proof(session.as_ref())).await?;
        if answer.status == 401 && session.is_some() {
            ctx.debug(format!("the login at {} has expired", self.peer()));
            self.session.lock().await.take();
            let session = self.session(ctx).await?;
            answer = self.exchange(ctx, ask, proof(session.as_ref())).await?;
        }
        if answer.status == 401 {
            return Err(self.refuses_credentials(ask, &answer));
        }
        if answer.status == 400 && !self.settings.with_tls() && answer.said().contains("HTTPS") {
            return Err(self.refused(ask, &answer, TLS_THERE));
        }
        if answer.is_busy() {
            let busy = self.refused(ask, &answer, "");
            return Err(patient(ctx.retry_budget(), busy, &answer));
        }
        Ok(answer)
    }

    /// The login that stands, or a new one; none where logging in is no request of its own.
    async fn session(&self, ctx: &Context<'_>) -> Result<Option<Session>> {
        let Some(login) = &self.login else {
            return Ok(None);
        };
        let mut session = self.session.lock().await;
        if session.is_none() {
            let ask = login.ask(&self.settings)?;
            let proof = if login.body.is_none() {
                Proof::Settings
            } else {
                Proof::Nothing
            };
            let answer = self.exchange(ctx, &ask, proof).await?;
            if answer.is_busy() {
                let busy = self.refused(&ask, &answer, "");
                return Err(patient(ctx.retry_budget(), busy, &answer));
            }
            match answer.status.as_u16() {
                200..300 => {}
                // Many say it with a 400 that the password is wrong.
                400 | 401 | 403 | 422 => return Err(self.refuses_credentials(&ask, &answer)),
                _ => {
                    let hint = "this was the login: check how it is made, `host` and `port`";
                    return Err(self.refused(&ask, &answer, hint));
                }
            }
            *session = Some(login.session(self.peer(), &ask, &answer)?);
            ctx.debug(format!("logged in at {}", self.peer()));
        }
        Ok(session.clone())
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

    fn refuses_credentials(&self, ask: &Ask, answer: &Answer) -> Error {
        let offered = answer.header("www-authenticate").unwrap_or_default();
        let offered = offered.split_whitespace().next().unwrap_or_default();
        let Some((user, tried, next)) = self.settings.tried(self.login.as_ref()) else {
            let wants = if offered.is_empty() {
                "a login"
            } else {
                offered
            };
            let hint = format!(
                "it wants credentials ({wants}): give `user` and `password`, `token`, or `apikey`"
            );
            return self.refused(ask, answer, &hint);
        };
        Error::Authentication(Box::new(AuthenticationProblem {
            peer: self.peer().to_owned(),
            user,
            tried,
            offered: Vec::new(),
            said: answer.said(),
            next: next.to_owned(),
        }))
    }
}
