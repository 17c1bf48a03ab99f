//! Requests to a server.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    /// The path below the base path, percent-encoded.
    pub(super) path: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// It may hold secrets and is never shown.
    pub(super) body: Option<Bytes>,
    pub(super) repeat: Repeat,
}

impl HttpRequest {
    /// Creates a request without a body. It may be repeated if its method is idempotent.
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

    /// Adds a header. It replaces a header of the same name.
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value));
        self
    }

    /// Adds a header, unless there is one of the same name.
    pub(crate) fn header_if_none(self, name: HeaderName, value: HeaderValue) -> Self {
        if self.has(&name) {
            return self;
        }
        self.header(name, value)
    }

    /// Returns whether it has a header.
    pub(crate) fn has(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(other, _)| other == name)
    }

    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Overrides whether it may be repeated, for example for a POST that only reads.
    pub(crate) fn repeat(mut self, repeat: Repeat) -> Self {
        self.repeat = repeat;
        self
    }

    /// Returns it as messages show it: `GET /api/v1/servers`.
    pub(crate) fn shown(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns whether it changes the target. A POST that may be repeated only reads.
    pub(super) fn changes_target(&self) -> bool {
        let asks = self.method == Method::POST && self.repeat == Repeat::Allowed;
        !self.method.is_safe() && !asks
    }
}

/// Whether a request may be sent again when its outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Allowed,
    Never,
}
