//! One exchange: a request, sent once, and its answer.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use devgate_schemas::{REDACTED, values};
use http_body::Frame;
use http_body_util::BodyExt;
use reqwest::tls::TlsInfo;
use reqwest::{Body, Response};
use tokio::time::{Instant, timeout_at};

use super::client::Http;
use super::http_request::{HttpRequest, Repeat};
use super::http_response::HttpResponse;
use super::login::{RequestAuth, SessionHeader};
use super::relay::Relay;
use super::settings::{ACKNOWLEDGEMENT_TIMEOUT, secret_header};
use crate::error::{Interrupted, Interruption, Phase, causes, one_line};
use crate::held::HeldBytes;
use crate::{Context, Error, Result, tls};

/// The library's limits for the parts around a body, by the words of its error messages.
const LIMITS: [(&str, &str); 4] = [
    (
        "message head is too large",
        "408 KiB, or 100 lines, of headers",
    ),
    (
        "chunk extensions over limit",
        "16 KiB of extensions of chunks",
    ),
    ("chunk trailers bytes over limit", "16 KiB of trailers"),
    ("chunk trailers count overflow", "100 trailers"),
];

/// The maximum size of an answer's body in bytes.
pub(crate) const MAX_BODY_SIZE: usize = 64 << 20;

impl Http {
    /// Sends a request and reads the complete answer.
    pub(super) async fn exchange(
        &self,
        ctx: &Context<'_>,
        http_request: &HttpRequest,
        auth: RequestAuth<'_>,
    ) -> Result<HttpResponse> {
        let (limit, client) = self.client(ctx.retry_budget())?;
        let exchange = self.exchange_with(ctx, &client, limit, http_request, auth);
        let Some(relay) = &self.settings.relay else {
            return exchange.await;
        };
        let to = self.settings.destination();
        relay.serve(ctx, to, limit, exchange).await
    }

    async fn exchange_with(
        &self,
        ctx: &Context<'_>,
        client: &reqwest::Client,
        limit: Duration,
        http_request: &HttpRequest,
        auth: RequestAuth<'_>,
    ) -> Result<HttpResponse> {
        let settings = &self.settings;
        let mut request = client.request(
            http_request.method.clone(),
            settings.url(&http_request.path)?,
        );
        request = match auth {
            RequestAuth::Nothing => request,
            RequestAuth::HttpSettings => settings.authorize(request)?,
            RequestAuth::HttpLogin(SessionHeader { header, value, .. }) => {
                request.header(header, secret_header("login", value)?)
            }
        };
        for (name, value) in &http_request.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &http_request.body {
            request = request.body(body.clone());
        }
        let mut limits = AnswerLimits::new(settings.command_timeout, settings.idle_timeout);
        let response = match limits.wait_for_part(limit, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                let mut why: Vec<String> = causes(&error).map(ToString::to_string).collect();
                why.dedup();
                ctx.debug(format!(
                    "`{}` failed: {}",
                    http_request.shown(),
                    why.join(": ")
                ));
                if let Some(failure) = settings.relay.as_ref().and_then(Relay::take_failure) {
                    return Err(failure);
                }
                let lost = || self.interrupted(http_request, lost(&error), "");
                return Err(self.not_sent_error(&error, limit).unwrap_or_else(lost));
            }
            Err(why) => return Err(self.interrupted(http_request, why, "")),
        };
        self.answered.store(true, Ordering::Relaxed);
        let mut answer = HttpResponse::of(&response);
        let mut body = Body::from(response);
        loop {
            let why = match limits.wait_for_part(Duration::ZERO, body.frame()).await {
                Ok(None) if settings.relay.as_ref().is_some_and(Relay::is_broken) => {
                    Interruption::Lost
                }
                Ok(None) => break,
                Ok(Some(Ok(frame))) => match answer.take(frame) {
                    Ok(()) => continue,
                    Err(why) => why,
                },
                Ok(Some(Err(error))) => lost(&error),
                Err(why) => why,
            };
            let partial = auth.without_token(answer.text());
            return Err(self.interrupted(http_request, why, &partial));
        }
        let most = settings.answer_limit;
        if values(&answer.body) > most {
            return Err(self.interrupted(http_request, Interruption::TooManyValues(most), ""));
        }
        let encoding = answer.header("content-encoding").unwrap_or("identity");
        if !answer.body.is_empty() && !encoding.eq_ignore_ascii_case("identity") {
            return Err(Error::Protocol {
                peer: settings.peer.clone(),
                protocol: "HTTP",
                phase: Phase::Request,
                problem: format!(
                    "its answer to `{}` ({}) comes as `Content-Encoding: {}`, which devgate does not ask \
                     for and does not read",
                    http_request.shown(),
                    answer.status,
                    one_line(encoding)
                ),
            });
        }
        if !answer.status.is_success() {
            // The text of an error is shown to users.
            answer.body = auth.without_token(answer.text()).into_bytes();
        }
        Ok(answer)
    }

    /// Returns the error for an incomplete answer, and what it means for the request.
    fn interrupted(&self, http_request: &HttpRequest, why: Interruption, partial: &str) -> Error {
        let retried = why.is_lost() && http_request.repeat == Repeat::Allowed;
        Error::Interrupted(Box::new(Interrupted {
            peer: self.settings.peer.clone(),
            operation: format!("`{}`", http_request.shown()),
            changing: http_request.changes_target() && !retried,
            why,
            partial: partial.into(),
        }))
    }

    /// Returns the error if it is certain that no request was sent; otherwise `None`.
    fn not_sent_error(&self, error: &reqwest::Error, limit: Duration) -> Option<Error> {
        let peer = self.settings.peer.clone();
        if let Some(error) = tls::found_in(&peer, error) {
            return Some(error);
        }
        let cause = io_error(error);
        if error.is_dns() {
            let host = self.settings.host.clone();
            return Some(Error::Resolve { host, cause });
        }
        if error.is_connect() {
            return Some(if error.is_timeout() {
                Error::TimedOut {
                    peer,
                    phase: Phase::Connection,
                    limit,
                    hint: ": check `host` and `port`, and what filters the way to it".to_owned(),
                }
            } else if cause.kind() == io::ErrorKind::UnexpectedEof {
                Error::Closed {
                    peer,
                    phase: Phase::Tls,
                    message: String::new(),
                }
            } else {
                Error::Unreachable { peer, cause }
            });
        }
        is_not_http(error).then(|| Error::Protocol {
            peer,
            protocol: "HTTP",
            phase: Phase::Request,
            problem: self.settings.not_http_problem().to_owned(),
        })
    }
}

/// The limits of waiting for an answer: in total, and for each part.
struct AnswerLimits {
    end: Instant,
    limit: Duration,
    idle: Duration,
}

impl AnswerLimits {
    fn new(limit: Duration, idle: Duration) -> Self {
        let end = Instant::now() + limit;
        Self { end, limit, idle }
    }

    /// Waits for the next part. `more` is additional time before the server can begin to answer.
    async fn wait_for_part<T>(
        &mut self,
        more: Duration,
        part: impl Future<Output = T>,
    ) -> std::result::Result<T, Interruption> {
        let now = Instant::now();
        // If the next part is always ready, the timer never fires.
        if now >= self.end {
            return Err(Interruption::TooLong(self.limit));
        }
        let silent = now + self.idle + more;
        let part = timeout_at(silent.min(self.end), part).await;
        part.map_err(|_| {
            if silent < self.end {
                Interruption::Silent(self.idle)
            } else {
                Interruption::TooLong(self.limit)
            }
        })
    }
}

impl RequestAuth<'_> {
    /// Returns a text without the login's token, in case the server repeats it.
    fn without_token(&self, text: String) -> String {
        match self {
            Self::HttpLogin(session) => text.replace(session.token.reveal().as_str(), REDACTED),
            Self::Nothing | Self::HttpSettings => text,
        }
    }
}

impl HttpResponse {
    /// Creates an answer from its head.
    fn of(response: &Response) -> Self {
        let tls = response.extensions().get::<TlsInfo>();
        Self {
            status: response.status(),
            version: response.version(),
            headers: response.headers().clone(),
            certificate: tls.and_then(TlsInfo::peer_certificate).map(<[u8]>::to_vec),
            body: Vec::new(),
            held: HeldBytes::default(),
        }
    }

    /// Adds a part of the answer: a piece of its body, or its trailers.
    fn take(&mut self, part: Frame<Bytes>) -> std::result::Result<(), Interruption> {
        match part.into_data() {
            Ok(data) if self.body.len() + data.len() > MAX_BODY_SIZE => {
                Err(Interruption::TooMuch(MAX_BODY_SIZE))
            }
            Ok(data) => {
                self.held.reserve(data.len())?;
                self.body.extend_from_slice(&data);
                Ok(())
            }
            Err(part) => {
                // Some servers send headers only after the body, such as Caddy its ETag.
                self.headers
                    .extend(part.into_trailers().unwrap_or_default());
                Ok(())
            }
        }
    }
}

/// Returns how a connection was lost: closed, given up by the system, or given up by the library at a limit.
fn lost(error: &reqwest::Error) -> Interruption {
    let limit = LIMITS
        .into_iter()
        .find(|(fragment, _)| causes(error).any(|error| error.to_string().contains(fragment)));
    if let Some((_, what)) = limit {
        return Interruption::TooMuchOf(what);
    }
    match io_error(error).kind() {
        io::ErrorKind::TimedOut => Interruption::Unacknowledged(ACKNOWLEDGEMENT_TIMEOUT),
        _ => Interruption::Lost,
    }
}

/// Returns the system's error, if there is one.
fn io_error(error: &reqwest::Error) -> io::Error {
    let found = causes(error).filter_map(|error| error.downcast_ref::<io::Error>());
    match found.last() {
        Some(error) => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => io::Error::new(error.kind(), error.to_string()),
        },
        None => {
            let last = causes(error).last().map(ToString::to_string);
            io::Error::other(last.unwrap_or_default())
        }
    }
}

/// Returns whether the answer could not be read as HTTP. The library reports that only in the message text.
fn is_not_http(error: &reqwest::Error) -> bool {
    causes(error).any(|error| {
        let text = error.to_string();
        text.ends_with(" parsed") || text.contains("frame with invalid")
    })
}
