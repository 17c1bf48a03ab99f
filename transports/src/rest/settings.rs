//! The settings for the peculiarities of an API, read from a target's connection info.

use devgate_schemas::{ConnectionInfo, Hash, Value};
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde_json::Value as Json;

use crate::Result;
use crate::http::{HttpLogin, SessionProof, method};
use crate::info::problem;

/// The default of `verify_path`. Many servers show it without credentials.
const DEFAULT_VERIFY_PATH: &str = "/";

/// The peculiarities of an API.
#[derive(Debug)]
pub(super) struct RestSettings {
    pub(super) accept: HeaderValue,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) verify_path: String,
    /// Whether an open session with an answer from `verify_path` proves that the credentials are right.
    pub(super) tests_credentials: bool,
    pub(super) failure: Option<FailureRule>,
    pub(super) paging: Option<PagingRule>,
}

/// How an answer reports a failure that its status does not show.
#[derive(Debug)]
pub(super) struct FailureRule {
    at: String,
    ok: Vec<Json>,
    text: Option<String>,
}

/// The positions of items and next page in an answer.
#[derive(Debug)]
pub(super) struct PagingRule {
    pub(super) next: String,
    pub(super) items: String,
}

impl RestSettings {
    pub(super) fn read(info: &ConnectionInfo) -> Result<Self> {
        let header = |setting: &'static str| {
            let value = info.text(setting).map(HeaderValue::from_str);
            let value = value.transpose();
            value.map_err(|_| problem(setting, "holds a character that no header may hold"))
        };
        let verify_path = info.text("verify_path").unwrap_or(DEFAULT_VERIFY_PATH);
        Ok(Self {
            tests_credentials: verify_path != DEFAULT_VERIFY_PATH || hash(info, "login").is_some(),
            verify_path: verify_path.to_owned(),
            accept: header("accept")?.unwrap_or(HeaderValue::from_static("*/*")),
            content_type: header("content_type")?,
            failure: hash(info, "failure").map(FailureRule::read).transpose()?,
            paging: hash(info, "paging").map(PagingRule::read).transpose()?,
        })
    }
}

impl FailureRule {
    fn read(failure: &Hash) -> Result<Self> {
        let ok = match failure.get("ok") {
            Some(Value::Array(ok)) => ok.iter().map(Value::to_json).collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            at: pointer("failure", failure, "at")?.unwrap_or_default(),
            ok,
            text: pointer("failure", failure, "text")?,
        })
    }

    /// Returns the result value that means a failure, and the message.
    pub(super) fn failure_in(&self, answer: &Json) -> Option<(String, String)> {
        let result = answer
            .pointer(&self.at)
            .filter(|result| !self.ok.contains(result))?;
        let text = self.text.as_ref().and_then(|at| answer.pointer(at));
        let text = text.map(|text| {
            text.as_str()
                .map_or_else(|| text.to_string(), str::to_owned)
        });
        Some((result.to_string(), text.unwrap_or_default()))
    }
}

impl PagingRule {
    fn read(paging: &Hash) -> Result<Self> {
        Ok(Self {
            next: pointer("paging", paging, "next")?.unwrap_or_default(),
            items: pointer("paging", paging, "items")?.unwrap_or_default(),
        })
    }
}

/// Returns the separate login request, if there is one.
pub(super) fn login(info: &ConnectionInfo) -> Result<Option<HttpLogin>> {
    let Some(login) = hash(info, "login") else {
        return Ok(None);
    };
    let text = |name: &str| login.get(name).and_then(Value::as_str);
    let session_proof = match text("token") {
        None => SessionProof::Cookies,
        Some(at) => SessionProof::Token {
            at: at.to_owned(),
            header: text("header")
                .map_or(Ok(AUTHORIZATION), HeaderName::try_from)
                .map_err(|_| problem("login", "`header` is no name of a header"))?,
            value: text("value").unwrap_or("Bearer {token}").to_owned(),
        },
    };
    Ok(Some(HttpLogin {
        method: text("method").map_or(Ok(Method::POST), method)?,
        path: text("path").unwrap_or("/").to_owned(),
        body: login.get("body").cloned(),
        session_proof,
    }))
}

fn hash<'a>(info: &'a ConnectionInfo, setting: &str) -> Option<&'a Hash> {
    info.get(setting)?.as_hash()
}

/// Reads a JSON pointer (RFC 6901).
fn pointer(setting: &'static str, of: &Hash, name: &str) -> Result<Option<String>> {
    match of.get(name).and_then(Value::as_str) {
        Some(text) if !text.is_empty() && !text.starts_with('/') => Err(problem(
            setting,
            &format!("`{name}` is no JSON pointer: one begins with `/`, as `/0/result` does"),
        )),
        text => Ok(text.map(str::to_owned)),
    }
}
