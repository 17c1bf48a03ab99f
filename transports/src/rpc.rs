//! The common part of vendors' RPCs over HTTP: a JSON body is posted, and the answer is JSON.

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value as Json;

use crate::error::Phase;
use crate::http::{Http, HttpRequest, Repeat};
use crate::{Context, Error, Result};

/// Posts a body and returns the answer, whatever its status, because the answer contains the errors.
///
/// # Errors
/// Fails when no answer arrives, or with the status when the answer is not JSON.
pub(crate) async fn post(
    http: &Http,
    ctx: &Context<'_>,
    protocol: &'static str,
    path: &str,
    media_type: &'static str,
    body: &Json,
    repeat: Repeat,
) -> Result<Json> {
    let http_request = HttpRequest::new(Method::POST, path)
        .repeat(repeat)
        .header(CONTENT_TYPE, HeaderValue::from_static(media_type))
        .body(body.to_string());
    let answer = http.answer(ctx, &http_request).await?;
    match answer.json() {
        Some(json) => Ok(json),
        None if answer.status.is_success() => Err(protocol_error(http, protocol, "JSON")),
        None => Err(http.refused(&http_request, &answer, "")),
    }
}

/// Returns the error for an answer that does not conform to the protocol.
pub(crate) fn protocol_error(http: &Http, protocol: &'static str, expected: &str) -> Error {
    Error::Protocol {
        peer: http.peer().to_owned(),
        protocol,
        phase: Phase::Request,
        problem: format!("its answer is not {expected}"),
    }
}
