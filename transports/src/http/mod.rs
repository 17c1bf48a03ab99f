//! An HTTP session: credentials, expiring logins, bounded retries. It is shared by REST and the RPCs over
//! HTTP.
//!
//! ```ignore
//! let http = Http::new(Settings::read(ctx, info)?, None)?;
//! let answer = http.request(ctx, &HttpRequest::new(Method::GET, "/restconf/data")).await?;
//! let data = answer.document();
//! ```
//!
//! A request with an idempotent method (RFC 9110, 9.2.2) is sent again when the connection was lost. Any
//! other request is sent again only if it is certain that nothing of it was sent. Redirects are followed
//! only for safe methods, and never to another server, which must not get the credentials. No proxy is used.

mod client;
#[cfg(test)]
pub(crate) mod fake;
mod http_request;
mod http_response;
mod login;
mod redirect;
mod relay;
mod request;
mod retry;
mod send;
mod settings;
mod version2;

use std::sync::LazyLock;

use devgate_schemas::TransportSchema;

use crate::tls;
pub(crate) use client::Http;
pub(crate) use http_request::{HttpRequest, Repeat};
pub(crate) use http_response::HttpResponse;
pub(crate) use login::{HttpLogin, SessionProof};
pub(crate) use send::MAX_BODY_SIZE;
pub(crate) use settings::{HttpSettings, method};

/// The settings of every transport over HTTP, including TLS, as the base of its own schema.
pub(crate) static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")).with(&tls::SCHEMA));
