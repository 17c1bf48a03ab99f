//! Logins by a separate request whose answer contains a token or cookies.

use devgate_schemas::{Sensitive, Value};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderName, HeaderValue, SET_COOKIE};

use super::http_request::{HttpRequest, Repeat};
use super::http_response::HttpResponse;
use super::settings::HttpSettings;
use crate::error::Phase;
use crate::info::problem;
use crate::xml::Element;
use crate::{Error, Result};

/// How to log in.
#[derive(Clone, Debug)]
pub(crate) struct HttpLogin {
    pub(crate) method: Method,
    /// Below the base path.
    pub(crate) path: String,
    /// The body, with `{user}` and `{password}` in its texts. Without a body, they are sent as basic authentication.
    /// A text is a form; any other value is JSON.
    pub(crate) body: Option<Value>,
    pub(crate) session_proof: SessionProof,
}

/// How an answer proves a login, and how later requests prove it.
#[derive(Clone, Debug)]
pub(crate) enum SessionProof {
    /// By the cookies that the answer sets.
    Cookies,
    /// By a token.
    Token {
        /// Where the token is: a JSON pointer into the body (RFC 6901), for XML a path below the root,
        /// or the name of a header.
        at: String,
        /// The header that carries it.
        header: HeaderName,
        /// The value of the header, with `{token}` in it.
        value: String,
    },
}

/// A header that proves a login.
#[derive(Clone, Debug)]
pub(super) struct SessionHeader {
    pub(super) header: HeaderName,
    pub(super) value: Sensitive<String>,
    /// The secret part of the value.
    pub(super) token: Sensitive<String>,
}

/// How a request is authenticated.
#[derive(Clone, Copy, Debug)]
pub(super) enum RequestAuth<'a> {
    Nothing,
    /// The credentials of the settings.
    HttpSettings,
    HttpLogin(&'a SessionHeader),
}

impl HttpLogin {
    /// Returns the login request.
    pub(super) fn login_request(&self, settings: &HttpSettings) -> Result<HttpRequest> {
        let missing = |setting| problem(setting, "is missing: `login` sends it");
        let user = settings.user.as_ref().ok_or_else(|| missing("user"))?;
        let password = settings
            .password
            .as_ref()
            .ok_or_else(|| missing("password"))?;
        // A repeated login changes nothing but a list of logins.
        let http_request =
            HttpRequest::new(self.method.clone(), &self.path).repeat(Repeat::Allowed);
        let password = password.reveal();
        let fill = |text: &str, written: fn(&str) -> String| {
            text.replace("{user}", &written(user))
                .replace("{password}", &written(password))
        };
        let (kind, body) = match &self.body {
            None => return Ok(http_request),
            Some(Value::String(form)) => (
                "application/x-www-form-urlencoded",
                fill(form, form_encoded),
            ),
            Some(other) => {
                let mut json = other.reveal_json();
                in_texts(&mut json, &|text| fill(text, str::to_owned));
                ("application/json", json.to_string())
            }
        };
        Ok(http_request
            .header(CONTENT_TYPE, HeaderValue::from_static(kind))
            .body(body))
    }

    /// Reads the proof of the login from its answer.
    ///
    /// # Errors
    /// Fails with [`Error::Protocol`] when the answer does not contain it.
    pub(super) fn session(
        &self,
        peer: &str,
        http_request: &HttpRequest,
        answer: &HttpResponse,
    ) -> Result<SessionHeader> {
        let found = match &self.session_proof {
            SessionProof::Cookies => {
                cookies(answer).map(|cookies| (COOKIE, cookies.clone(), cookies))
            }
            SessionProof::Token { at, header, value } => token(answer, at)
                .map(|token| (header.clone(), value.replace("{token}", &token), token)),
        };
        let (header, value, token) = found.ok_or_else(|| Error::Protocol {
            peer: peer.to_owned(),
            protocol: "HTTP",
            phase: Phase::Authentication,
            problem: match &self.session_proof {
                SessionProof::Cookies => format!("`{}` sets no cookie", http_request.shown()),
                SessionProof::Token { at, .. } => {
                    format!(
                        "`{}` gives no token at `{at}`: check `login`",
                        http_request.shown()
                    )
                }
            },
        })?;
        Ok(SessionHeader {
            header,
            value: Sensitive::new(value),
            token: Sensitive::new(token),
        })
    }
}

fn token(answer: &HttpResponse, at: &str) -> Option<String> {
    if !at.is_empty() && !at.starts_with('/') {
        return answer.header(at).map(str::to_owned);
    }
    if let Some(json) = answer.json() {
        return Some(json.pointer(at)?.as_str()?.to_owned());
    }
    let path = at.trim_start_matches('/');
    Some(
        Element::read(&answer.text())?
            .text_at_path(path)?
            .to_owned(),
    )
}

/// Returns each cookie's name and value, as they are sent back.
fn cookies(answer: &HttpResponse) -> Option<String> {
    let set = answer.headers.get_all(SET_COOKIE).iter();
    let pairs: Vec<&str> = set
        .filter_map(|cookie| cookie.to_str().ok()?.split(';').next())
        .map(str::trim)
        .filter(|pair| !pair.ends_with('='))
        .collect();
    (!pairs.is_empty()).then(|| pairs.join("; "))
}

/// Applies a change to every text in a document.
fn in_texts(json: &mut serde_json::Value, change: &dyn Fn(&str) -> String) {
    match json {
        serde_json::Value::String(text) => *text = change(text),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| in_texts(item, change)),
        serde_json::Value::Object(pairs) => {
            pairs.values_mut().for_each(|value| in_texts(value, change));
        }
        _ => {}
    }
}

/// Encodes a form value (WHATWG URL, 5.2). A blank becomes `%20`, which servers read in the same way as `+`.
fn form_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._*".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
