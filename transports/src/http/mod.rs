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

mod answer;
#[cfg(test)]
pub(crate) mod fake;
mod login;
mod send;
mod settings;

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use devgate_schemas::{Sensitive, TransportSchema, Value};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use tokio::time::Instant;

use crate::error::{AuthenticationProblem, Refused};
use crate::tls;
use crate::{Context, Error, Patience, Result};
pub(crate) use answer::Answer;
pub(crate) use login::{Carried, Login};
pub(crate) use send::MOST;
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
    /// The client, and how long it may take to connect.
    client: Mutex<(Duration, reqwest::Client)>,
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

/// Whether a request may be sent again when it is not known what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Allowed,
    Never,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: Method,
    /// From the server's root, below the base path; percent-encoded.
    path: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// It may hold secrets, and is never shown.
    body: Option<Bytes>,
    repeat: Repeat,
}

impl Ask {
    /// A request without a body; it may be repeated if its method is idempotent.
    pub(crate) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            repeat: if method.is_idempotent() {
                Repeat::Allowed
            } else {
                Repeat::Never
            },
            method,
            path: path.into(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// The same with a header, in place of one of the same name.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value));
        self
    }

    /// The same with a header, unless it has one of that name.
    pub(crate) fn header_if_none(self, name: HeaderName, value: HeaderValue) -> Self {
        if self.headers.iter().any(|(other, _)| *other == name) {
            return self;
        }
        self.header(name, value)
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Says otherwise than the method does whether it may be repeated: a POST that only asks.
    pub(crate) fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// As messages name it: `GET /api/v1/servers`.
    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether it changes the target: a POST that may be repeated only asks.
    fn changes(&self) -> bool {
        let asks = self.method == Method::POST && self.repeat == Repeat::Allowed;
        !self.method.is_safe() && !asks
    }
}

impl Http {
    /// A session of which nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Setting`] for what no schema can check.
    pub(crate) fn new(settings: Settings, login: Option<Login>) -> Result<Self> {
        let client = settings.client(settings.timeout)?;
        Ok(Self {
            client: Mutex::new((settings.timeout, client)),
            settings,
            login,
            session: tokio::sync::Mutex::default(),
        })
    }

    /// `host:port`, as messages name the target.
    pub(crate) fn peer(&self) -> &str {
        &self.settings.peer
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

    /// Tries until it goes well, as long as that is allowed and patience lasts; without a request it
    /// is a login.
    async fn persist<T, F: Future<Output = Result<T>>>(
        &self,
        ctx: &Context<'_>,
        ask: Option<&Ask>,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T> {
        let what = match ask {
            Some(ask) => format!("ask `{}` of {}", ask.shown(), self.peer()),
            None => format!("log in at {}", self.peer()),
        };
        let mut attempts = ctx.patience().attempts(ctx, what);
        let (mut again, mut in_doubt) = (false, false);
        loop {
            // Fails if the target has been waited for in vain already.
            attempts.within(async { Ok(()) }).await?;
            let started = Instant::now();
            let error = match attempt().await {
                Err(error) if error.is_transient() => error,
                result => return result,
            };
            let (was_begun, wait) = begun(&error);
            if was_begun && ask.is_some_and(|ask| ask.repeat == Repeat::Never) {
                return Err(error);
            }
            if again || !was_begun {
                // Only the first answer may have been waited for with reason.
                attempts.lost(started.elapsed());
            }
            again = true;
            in_doubt |= was_begun && ask.is_some_and(Ask::changes);
            let mut over = match attempts.pause_for(error, wait).await {
                Ok(()) => continue,
                Err(error) => error,
            };
            if let (Error::PatienceSpent(spent), true) = (&mut over, in_doubt) {
                spent.last += "; whether it took effect is not known: look first";
            }
            return Err(over);
        }
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
            let hint = "TLS is spoken there: say `protocol: https`";
            return Err(self.refused(ask, &answer, hint));
        }
        if answer.is_busy() {
            let busy = self.refused(ask, &answer, "");
            return Err(patient(ctx.patience(), busy, &answer));
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
                return Err(patient(ctx.patience(), busy, &answer));
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

    /// The client, with no more time to connect than patience has left.
    fn client(&self, patience: &Patience) -> Result<(Duration, reqwest::Client)> {
        let limit = self.settings.timeout.min(patience.left());
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.0 != limit {
            *client = (limit, self.settings.client(limit)?);
        }
        Ok(client.clone())
    }

    /// Where a redirect leads on this very server; `None` where there is none.
    fn redirected(&self, ask: &Ask, answer: &Answer) -> Result<Option<Ask>> {
        let location = answer.header("location");
        let Some(location) = location.filter(|_| answer.status.is_redirection()) else {
            return Ok(None);
        };
        match self.at(ask, location) {
            Ok(there) if ask.method.is_safe() => Ok(Some(there)),
            Ok(_) => {
                let hint = format!("it redirects to `{location}`: ask there");
                Err(self.refused(ask, answer, &hint))
            }
            Err(error) => Err(self.refused(ask, answer, &format!("it redirects: {error}"))),
        }
    }

    /// The same request at an address that the server names.
    ///
    /// # Errors
    /// [`Error::Unsupported`]: it is another server's, for which the credentials are not.
    pub(crate) fn at(&self, ask: &Ask, address: &str) -> Result<Ask> {
        let here = self.settings.url(&ask.path)?;
        let there = here.join(address).ok();
        let Some(there) = there.filter(|there| there.origin() == here.origin()) else {
            return Err(Error::Unsupported(format!(
                "`{address}` is another server than {}, and gets no credentials of it: name it in \
                 `protocol`, `host` and `port` if it is meant",
                self.peer()
            )));
        };
        let query = there.query().map(|query| format!("?{query}"));
        let path = there.path().to_owned() + &query.unwrap_or_default();
        let mut ask = ask.clone();
        ask.path = self.settings.below_base(&path);
        Ok(ask)
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

/// Whether the server has begun with the request that ended so, and how long it asks to wait.
fn begun(error: &Error) -> (bool, Duration) {
    match error {
        Error::Interrupted(_) => (true, Duration::ZERO),
        Error::Refused(refused) => {
            let details = refused.details.as_ref().and_then(Value::as_hash);
            let seconds = details.and_then(|details| details.get(RETRY_AFTER)?.as_integer());
            let seconds = u64::try_from(seconds.unwrap_or_default()).unwrap_or_default();
            let too_many = StatusCode::TOO_MANY_REQUESTS.to_string();
            (refused.status != too_many, Duration::from_secs(seconds))
        }
        _ => (false, Duration::ZERO),
    }
}

/// Among the details of a refusal that passes: how many seconds the server asks to wait.
const RETRY_AFTER: &str = "retry_after";

/// What a busy answer comes to: an error that passes, or one that outlasts our patience.
fn patient(patience: &Patience, busy: Error, answer: &Answer) -> Error {
    let Error::Refused(mut refused) = busy else {
        return busy;
    };
    let (wait, left) = (answer.retry_after().unwrap_or_default(), patience.left());
    if wait < left {
        refused.busy = true;
        if let Some(Value::Hash(details)) = &mut refused.details {
            let seconds = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
            details.insert(RETRY_AFTER, Value::from(seconds));
        }
    } else {
        refused.hint = format!(
            "it asks to wait {} s, and this run may wait {} s more for it: try later",
            wait.as_secs(),
            left.as_secs()
        );
    }
    Error::Refused(refused)
}
