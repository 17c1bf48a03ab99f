//! Requests and their answers, with expiring logins.

use std::time::Duration;

use tokio::time::timeout;

use super::client::Http;
use super::http_request::HttpRequest;
use super::http_response::HttpResponse;
use super::login::{RequestAuth, SessionHeader};
use super::retry::busy_error;
use super::settings::USE_TLS_HINT;
use crate::error::AuthenticationProblem;
use crate::{Context, Error, Result};

/// The maximum number of redirects for one answer.
const MAX_REDIRECTS: usize = 5;

/// The limit for a logout.
const LOGOUT_TIMEOUT: Duration = Duration::from_secs(2);

impl Http {
    /// Logs in, if the login is a separate request and has not been made yet.
    ///
    /// # Errors
    /// Fails with [`Error::Authentication`], or with the reason why no answer arrived.
    pub(crate) async fn log_in(&self, ctx: &Context<'_>) -> Result<()> {
        let logging_in = self.retry(ctx, None, || self.session(ctx));
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
        http_request: &HttpRequest,
    ) -> Result<HttpResponse> {
        let answer = self.answer(ctx, http_request).await?;
        if answer.status.is_success() {
            return Ok(answer);
        }
        Err(self.refused(http_request, &answer, ""))
    }

    /// Sends a request and returns the answer, whatever its status.
    ///
    /// # Errors
    /// Fails as [`request`](Self::request) does, but of all answers only for refused credentials, a busy server,
    /// or a redirect that cannot be followed.
    pub(crate) async fn answer(
        &self,
        ctx: &Context<'_>,
        http_request: &HttpRequest,
    ) -> Result<HttpResponse> {
        let mut http_request = http_request.clone();
        for _ in 0..=MAX_REDIRECTS {
            let asking = || self.exchange_once(ctx, &http_request);
            let answer = self.retry(ctx, Some(&http_request), asking).await?;
            match self.redirect_target(&http_request, &answer)? {
                None => return Ok(answer),
                Some(target) => http_request = target,
            }
        }
        Err(Error::Unsupported(format!(
            "{} redirects more than {MAX_REDIRECTS} times: nothing was answered",
            self.peer()
        )))
    }

    /// Sends a request once, and again after a new login if the previous one has expired.
    async fn exchange_once(
        &self,
        ctx: &Context<'_>,
        http_request: &HttpRequest,
    ) -> Result<HttpResponse> {
        let session = self.session(ctx).await?;
        let auth = |session| match session {
            None => RequestAuth::HttpSettings,
            Some(session) => RequestAuth::HttpLogin(session),
        };
        let mut answer = self
            .exchange(ctx, http_request, auth(session.as_ref()))
            .await?;
        if answer.status == 401 && session.is_some() {
            ctx.debug(format!("the login at {} has expired", self.peer()));
            self.session.lock().await.take();
            let session = self.session(ctx).await?;
            answer = self
                .exchange(ctx, http_request, auth(session.as_ref()))
                .await?;
        }
        if answer.status == 401 {
            return Err(self.credentials_refused(http_request, &answer));
        }
        if answer.status == 400
            && !self.settings.with_tls()
            && answer.error_message().contains("HTTPS")
        {
            return Err(self.refused(http_request, &answer, USE_TLS_HINT));
        }
        if answer.is_busy() {
            let busy = self.refused(http_request, &answer, "");
            return Err(busy_error(ctx.retry_budget(), busy, &answer));
        }
        Ok(answer)
    }

    /// Returns the current login, or makes a new one. Returns `None` if there is no separate login request.
    async fn session(&self, ctx: &Context<'_>) -> Result<Option<SessionHeader>> {
        let Some(login) = &self.login else {
            return Ok(None);
        };
        let mut session = self.session.lock().await;
        if session.is_none() {
            let http_request = login.login_request(&self.settings)?;
            let auth = if login.body.is_none() {
                RequestAuth::HttpSettings
            } else {
                RequestAuth::Nothing
            };
            let answer = self.exchange(ctx, &http_request, auth).await?;
            if answer.is_busy() {
                let busy = self.refused(&http_request, &answer, "");
                return Err(busy_error(ctx.retry_budget(), busy, &answer));
            }
            match answer.status.as_u16() {
                200..300 => {}
                // Many servers report a wrong password with status 400.
                400 | 401 | 403 | 422 => {
                    return Err(self.credentials_refused(&http_request, &answer));
                }
                _ => {
                    let hint = "this was the login: check how it is made, `host` and `port`";
                    return Err(self.refused(&http_request, &answer, hint));
                }
            }
            *session = Some(login.session(self.peer(), &http_request, &answer)?);
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
    pub(crate) async fn log_out(
        &self,
        ctx: &Context<'_>,
        http_request: impl FnOnce(&str) -> HttpRequest,
    ) {
        if let Some(session) = self.session.lock().await.take() {
            let http_request = http_request(session.token.reveal());
            // Errors are not reported, because they might quote the token.
            let _ = timeout(
                LOGOUT_TIMEOUT,
                self.exchange(ctx, &http_request, RequestAuth::HttpLogin(&session)),
            )
            .await;
        }
    }

    fn credentials_refused(&self, http_request: &HttpRequest, answer: &HttpResponse) -> Error {
        let offered = answer.header("www-authenticate").unwrap_or_default();
        let offered = offered.split_whitespace().next().unwrap_or_default();
        let Some((user, tried, next)) = self.settings.credentials_tried(self.login.as_ref()) else {
            let wants = if offered.is_empty() {
                "a login"
            } else {
                offered
            };
            let hint = format!(
                "it wants credentials ({wants}): give `user` and `password`, `token`, or `apikey`"
            );
            return self.refused(http_request, answer, &hint);
        };
        Error::Authentication(Box::new(AuthenticationProblem {
            peer: self.peer().to_owned(),
            user,
            tried,
            offered: Vec::new(),
            message: answer.error_message(),
            next: next.to_owned(),
        }))
    }
}
