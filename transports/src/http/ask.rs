//! What is asked of a server.

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderName, HeaderValue};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// From the server's root, below the base path; percent-encoded.
    pub(super) path: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// It may hold secrets, and is never shown.
    pub(super) body: Option<Bytes>,
    pub(super) repeat: Repeat,
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
        if self.has(&name) {
            return self;
        }
        self.header(name, value)
    }

    /// Whether it has a header.
    pub(crate) fn has(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(other, _)| other == name)
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
    pub(super) fn changes(&self) -> bool {
        let asks = self.method == Method::POST && self.repeat == Repeat::Allowed;
        !self.method.is_safe() && !asks
    }
}

/// Whether a request may be sent again when it is not known what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    Allowed,
    Never,
}
