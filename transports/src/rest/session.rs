//! A session with an API.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, IF_MATCH};
use reqwest::{Url, Version};
use serde_json::Value as Json;

use super::settings::{RestSettings, login};
use crate::error::Refused;
use crate::http::{self, Http, HttpRequest, HttpResponse, Repeat, method};
use crate::tls::fingerprint_of;
use crate::{Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result, Transport};

/// A session with an API over HTTP.
#[derive(Debug)]
pub struct RestSession {
    pub(super) http: Http,
    pub(super) settings: RestSettings,
}

impl ProtocolSession for RestSession {
    const NAME: &'static str = "rest";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    /// Opens a session. Nothing is sent except a login, if it is a separate request.
    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let settings = RestSettings::read(info)?;
        let http = Http::new(http::HttpSettings::read(ctx, info)?, login(info)?)?;
        http.log_in(ctx).await?;
        Ok(Self { http, settings })
    }
}

impl RestSession {
    /// Sends a request. Fails as well when the answer's body reports a failure.
    pub(super) async fn send(
        &self,
        ctx: &Context<'_>,
        http_request: &HttpRequest,
    ) -> Result<HttpResponse> {
        let answer = self.http.request(ctx, http_request).await?;
        if let Some(etag) = answer.header("etag") {
            ctx.info(format!("the ETag of `{}` is {etag}", http_request.shown()));
        }
        let failure = self.settings.failure.as_ref();
        let failure = failure.and_then(|failure| failure.failure_in(&answer.json()?));
        let Some((result, message)) = failure else {
            return Ok(answer);
        };
        Err(Error::Refused(Box::new(Refused {
            peer: self.http.peer().to_owned(),
            request: http_request.shown(),
            status: format!("result {result}"),
            message,
            hint: String::new(),
            details: answer.json().map(Value::from),
            busy: false,
        })))
    }

    /// Parses a request: a path, optionally followed by headers, one on each line.
    pub(super) fn new_request(&self, method: reqwest::Method, what: &str) -> Result<HttpRequest> {
        let mut lines = what.lines().map(str::trim);
        let path = lines.next().unwrap_or_default();
        if Url::parse(path).is_ok_and(|url| url.has_host()) {
            // The URL is not shown, because it may contain a password.
            let problem = "a URL is no path: expected `/…`; whose it is, the inventory says";
            return Err(Error::Unsupported(problem.to_owned()));
        }
        let mut http_request =
            HttpRequest::new(method, path).header(ACCEPT, self.settings.accept.clone());
        for line in lines.filter(|line| !line.is_empty()) {
            let (name, value) = header(line)?;
            if name == IF_MATCH {
                // A repetition would no longer match after the first request has changed the resource.
                http_request = http_request.repeat(Repeat::Never);
            }
            http_request = http_request.header(name, value);
        }
        Ok(http_request)
    }

    /// Requests `verify_path`, which shows that the API answers. Facts are taken from the headers of the answer.
    async fn request_verify_path(&self, ctx: &Context<'_>) -> Result<HttpResponse> {
        let http_request = self.new_request(reqwest::Method::GET, &self.settings.verify_path)?;
        let answer = self.http.answer(ctx, &http_request).await?;
        match answer.status.as_u16() {
            403 | 500.. => Err(self.http.refused(&http_request, &answer, "")),
            _ => Ok(answer),
        }
    }
}

/// Parses a header: `If-Match: "1a"`.
fn header(line: &str) -> Result<(HeaderName, HeaderValue)> {
    let parts = line.split_once(':').and_then(|(name, value)| {
        let name = HeaderName::try_from(name.trim()).ok()?;
        Some((name, HeaderValue::from_str(value.trim()).ok()?))
    });
    parts.ok_or_else(|| {
        Error::Unsupported(
            "a line behind the path is no header: expected its name, a colon and its value"
                .to_owned(),
        )
    })
}

/// Returns the error for a body that should be JSON. It describes the problem without quoting the body.
fn invalid_json_error(text: &str) -> Error {
    let error = serde_json::from_str::<Json>(text).err();
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    Error::Unsupported(format!(
        "the body begins as JSON does, but is none ({error}): nothing was sent; a text is sent as it \
         is with a line `Content-Type: text/plain` behind the path"
    ))
}

#[async_trait]
impl DataStore for RestSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let http_request = self.new_request(reqwest::Method::GET, what)?;
        self.all_pages(ctx, http_request).await
    }

    /// The default method is POST. PUT and DELETE are sent again when the connection was lost (RFC 9110,
    /// 9.2.2), unless `If-Match` is among their headers.
    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        let method = method(request.method.as_deref().unwrap_or("POST"))?;
        let mut http_request = self.new_request(method, &request.what)?;
        if let Some(body) = &request.body {
            let is_typed = self.settings.content_type.is_some() || http_request.has(&CONTENT_TYPE);
            let (kind, body) = match body {
                Value::String(text) if text.trim_start().starts_with('<') => {
                    ("application/xml", text.clone())
                }
                // The text is JSON already: `"a"`.
                Value::String(text) if serde_json::from_str::<Json>(text).is_ok() => {
                    ("application/json", text.clone())
                }
                Value::String(text) if !is_typed && text.trim_start().starts_with(['{', '[']) => {
                    return Err(invalid_json_error(text));
                }
                Value::String(text) => ("text/plain", text.clone()),
                data => ("application/json", data.reveal_json().to_string()),
            };
            let wished = self.settings.content_type.clone();
            let kind = wished.unwrap_or_else(|| HeaderValue::from_static(kind));
            http_request = http_request.header_if_none(CONTENT_TYPE, kind).body(body);
        }
        Ok(self.send(ctx, &http_request).await?.document())
    }
}

#[async_trait]
impl Transport for RestSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        self.request_verify_path(ctx).await.map(drop)
    }

    fn leaves_credentials_open(&self) -> Option<&'static str> {
        (!self.settings.tests_credentials).then_some(
            "whether it accepts the credentials is not known: set `verify_path` to a path that only an account may \
             see",
        )
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let answer = self.request_verify_path(ctx).await?;
        let mut facts = Facts::new();
        if let Some(server) = answer.header("server") {
            facts.set("http.server", Value::from(server));
        }
        let version = match answer.version {
            Version::HTTP_09 | Version::HTTP_10 => "1.0",
            Version::HTTP_2 => "2",
            _ => "1.1",
        };
        facts.set("http.version", Value::from(version));
        if let Some(certificate) = &answer.certificate {
            facts.set("tls.fingerprint", Value::from(fingerprint_of(certificate)));
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        ctx.debug(format!("the session with {} is closed", self.http.peer()));
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
