//! A server's answer, and the error messages in it.

use std::time::Duration;

use devgate_schemas::{Hash, Value};
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Version};
use serde_json::Value as Json;

use crate::Document;
use crate::held::HeldBytes;
use crate::xml::Element;

/// A complete answer.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    pub(crate) version: Version,
    /// The headers and the trailers.
    pub(crate) headers: HeaderMap,
    /// The server's certificate (DER).
    pub(crate) certificate: Option<Vec<u8>>,
    pub(crate) body: Vec<u8>,
    /// The body's share of the memory that the process holds.
    pub(super) held: HeldBytes,
}

impl HttpResponse {
    /// Returns a header's first value, if it is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the body as text. Invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body as JSON, if it is.
    pub(crate) fn json(&self) -> Option<Json> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Returns the body as JSON if the content type says so or does not say otherwise; else as text.
    pub(crate) fn document(&self) -> Document {
        let kind = self.header("content-type").unwrap_or_default();
        let may_be_json =
            kind.contains("json") || kind.is_empty() || kind.starts_with("text/plain");
        // Parsed directly into the final type: an intermediate value would double the memory.
        let data = may_be_json.then(|| serde_json::from_slice(&self.body));
        match data {
            Some(Ok(data)) => Document::Data(data),
            _ => Document::Text(self.text()),
        }
    }

    /// Returns whether the server is only busy (RFC 9110, 15.6.4; RFC 6585, 4).
    pub(super) fn is_busy(&self) -> bool {
        matches!(
            self.status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        )
    }

    /// Returns how long the server asks to wait: a number of seconds, or until a date (RFC 9110, 10.2.3). A date
    /// is compared with the server's own clock, if the answer shows it.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let header = self.header("retry-after")?.trim();
        let seconds = match header.parse() {
            Ok(seconds) => seconds,
            Err(_) => {
                let now = self.header("date").and_then(date);
                let until = date(header)?.duration_since(now.unwrap_or_else(Timestamp::now));
                u64::try_from(until.as_secs()).unwrap_or_default()
            }
        };
        Some(Duration::from_secs(seconds))
    }

    /// Returns the server's error message, in the words that are meant for people.
    pub(crate) fn error_message(&self) -> String {
        match self.json() {
            Some(json) => error_message(&json).unwrap_or_else(|| json.to_string()),
            None => match Element::read(&self.text()) {
                Some(xml) if xml.name != "html" => xml.texts(),
                // An HTML page says no more than the status does.
                Some(_) => String::new(),
                None if self.body.trim_ascii_start().starts_with(b"<") => String::new(),
                None => self.text().trim().to_owned(),
            },
        }
    }

    /// Returns the error in machine-readable form.
    pub(super) fn details(&self) -> Value {
        let body = match self.document() {
            Document::Data(value) => value,
            Document::Text(text) => Value::from(text),
        };
        let status = Value::from(i64::from(self.status.as_u16()));
        Value::Hash(
            [("status", status), ("body", body)]
                .into_iter()
                .collect::<Hash>(),
        )
    }
}

/// Parses HTTP's `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). Returns `None` for any other text, including
/// the two obsolete forms, which must not be sent.
fn date(text: &str) -> Option<Timestamp> {
    let date = civil::DateTime::strptime("%a, %d %b %Y %T GMT", text.trim()).ok()?;
    TimeZone::UTC.to_timestamp(date).ok()
}

/// Returns the message from the usual forms of errors: problem details (RFC 9457), RESTCONF's `errors`
/// (RFC 8040, 7.1), `{"error": …}`, `{"message": …}`, and lists of them.
fn error_message(json: &Json) -> Option<String> {
    const NAMES: [&str; 9] = [
        "detail",
        "message",
        "error-message",
        "msg",
        "error",
        "errors",
        "ietf-restconf:errors",
        "title",
        "text",
    ];
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => {
            let message: Vec<String> = items.iter().filter_map(error_message).collect();
            (!message.is_empty()).then(|| message.join("; "))
        }
        Json::Object(pairs) => NAMES
            .iter()
            .find_map(|name| error_message(pairs.get(*name)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_date_of_http_is_parsed() {
        let seconds = |text| date(text).map(Timestamp::as_second);
        assert_eq!(seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        for text in [
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Non 1994 08:49:37 GMT",
            "120",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn an_error_message_is_found_in_its_usual_forms() {
        for (body, message) in [
            (json!({ "error": "Not Found" }), "Not Found"),
            (
                json!({ "error": "Conflict", "errors": ["a", "b"] }),
                "Conflict",
            ),
            (json!({ "errors": ["a", { "message": "b" }] }), "a; b"),
            (
                json!({ "type": "about:blank", "title": "t", "detail": "d" }),
                "d",
            ),
            (json!({ "error": { "code": 1, "message": "m" } }), "m"),
            (
                json!({ "ietf-restconf:errors": { "error": [
                    { "error-type": "protocol", "error-tag": "lock-denied", "error-message": "held" }
                ] } }),
                "held",
            ),
        ] {
            assert_eq!(error_message(&body).as_deref(), Some(message), "{body}");
        }
        assert_eq!(error_message(&json!({ "code": 5 })), None);
    }

    #[test]
    fn the_message_of_an_xml_error_is_its_text_and_html_has_none() {
        for (body, message) in [
            (
                "<errors><error><tag>in-use</tag><message>held</message></error></errors>",
                "in-use\nheld",
            ),
            ("<html><body>404</body></html>", ""),
            ("<!DOCTYPE html><p>404", ""),
            ("plain\n", "plain"),
        ] {
            let answer = HttpResponse {
                status: StatusCode::NOT_FOUND,
                version: Version::HTTP_11,
                headers: HeaderMap::new(),
                certificate: None,
                body: body.into(),
                held: HeldBytes::default(),
            };
            assert_eq!(answer.error_message(), message, "{body}");
        }
    }
}
