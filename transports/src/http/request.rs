//! Requests and their answers, with expiring logins.

use std::time::Duration;

use tokio::time::timeout;

use super::again::patient;
use super::client::Http;
use super::http_request::HttpRequest;
use super::http_response::HttpResponse;
use super::login::{LoginHeader, Proof};
use super::settings::TLS_THERE;
use crate::error::AuthenticationProblem;
use crate::{Context, Error, Result};

/// The maximum number of redirects for one answer.
const MOST_REDIRECTS: usize = 5;

/// The limit for a logout.
const GOODBYE: Duration = Duration::from_secs(2);

impl Http {
    /// Logs in, if the login is a separate request and has not been made yet.
    ///
    /// # Errors
    /// Fails with [`Error::Authentication`], or with the reason why no answer arrived.
    pub(crate) async fn log_in(&self, ctx: &Context<'_>) -> Result<()> {
        let logging_in = self.persist(ctx, None, || self.session(ctx));
        logging_in.await.map(drop)
    }

    /// Sends a request and returns a successful answer (2xx).
    ///
    /// # Errors
    /// Fails with [`Error::Refused`] for any other status, with [`Error::Authentication`] when the credentials are
    /// refused, with [`Error::Interrupted`] when the answer is incomplete, otherwise with the reason why none arrived.
    pub(crate) async fn request(
        &self,
        ctx: &Context<'_>,
        ask: &HttpRequest,
    ) -> Result<HttpResponse> {
        let answer = self.answer(ctx, ask).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refused(ask, &answer, ""))
    }

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// # Errors
    /// Fails as [`request`](Self::request) does, but of all answers only for refused credentials, a busy server,
    /// or a redirect that cannot be followed.
    pub(crate) async fn answer(
        &self,
        ctx: &Context<'_>,
        ask: &HttpRequest,
    ) -> Result<HttpResponse> {
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

    /// Sends a request once, and again after a new login if the previous one has expired.
    async fn answer_once(&self, ctx: &Context<'_>, ask: &HttpRequest) -> Result<HttpResponse> {
        let session = self.session(ctx).await?;
        let proof = |session| match session {
            None => Proof::Settings,
            Some(session) => Proof::Login(session),
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

    /// Returns the current login, or makes a new one. Returns `None` if there is no separate login request.
    async fn session(&self, ctx: &Context<'_>) -> Result<Option<LoginHeader>> {
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
                // Many servers report a wrong password with status 400.
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

    /// Forgets the login, so that the next request makes a new one.
    pub(crate) async fn forget_login(&self) {
        self.session.lock().await.take();
    }

    /// Logs out, if there is a login. `ask` makes the request from the login's token. Errors are
    /// ignored.
    pub(crate) async fn log_out(&self, ctx: &Context<'_>, ask: impl FnOnce(&str) -> HttpRequest) {
        if let Some(session) = self.session.lock().await.take() {
            let ask = ask(session.token.reveal());
            // Errors are not reported, because they might quote the token.
            let _ = timeout(GOODBYE, self.exchange(ctx, &ask, Proof::Login(&session))).await;
        }
    }

    fn refuses_credentials(&self, ask: &HttpRequest, answer: &HttpResponse) -> Error {
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
