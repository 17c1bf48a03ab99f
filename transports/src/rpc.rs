//! What the vendors' RPCs over HTTP have in common: a body of JSON is posted, and JSON comes back.

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use serde_json::Value as Json;

use crate::error::Phase;
use crate::http::{Ask, Http, Repeat};
use crate::{Context, Error, Result};

/// Posts a body and gives the answer, whatever its status: what failed is in it.
///
/// # Errors
/// Why there is no answer, or what the status says where the answer is no JSON.
pub(crate) async fn post(
    http: &Http,
    ctx: &Context<'_>,
    protocol: &'static str,
    path: &str,
    media_type: &'static str,
    body: &Json,
    repeat: Repeat,
) -> Result<Json> {
    let ask = Ask::new(Method::POST, path)
        .repeat(repeat)
        .header(CONTENT_TYPE, HeaderValue::from_static(media_type))
        .body(body.to_string());
    let answer = http.answer(ctx, &ask).await?;
    match answer.json() {
        Some(json) => Ok(json),
        None if answer.status.is_success() => Err(strange(http, protocol, "JSON")),
        None => Err(http.refused(&ask, &answer, "")),
    }
}

/// That an answer is not what the protocol has.
pub(crate) fn strange(http: &Http, protocol: &'static str, expected: &str) -> Error {
    Error::Protocol {
        peer: http.peer().to_owned(),
        protocol,
        phase: Phase::Request,
        problem: format!("its answer is not {expected}"),
    }
}
