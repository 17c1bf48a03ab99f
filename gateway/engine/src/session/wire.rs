//! The protocol on the socket of a lent session: JSON objects, one per line, in both directions.
//!
//! A request names the version of this protocol and one verb. It is answered before the next one is read. A client that
//! closes its side abandons its request.
//!
//! | request                              | answer               | what it does                         |
//! |--------------------------------------|----------------------|--------------------------------------|
//! | `{"version": 1, "hello": true}`      | `"session": {…}`     | tells whose session it is, no secret |
//! | `{"version": 1, "exec": "COMMAND"}`  | `"output": "TEXT"`   | runs a command, sent at most once    |
//! | `… "exec": {"command", "answers"}`   | `"output": "TEXT"`   | the same, and answers its questions  |
//! | `{"version": 1, "configure": [LINE]}`| `"configured": N`    | types lines in configuration mode    |
//! | `{"version": 1, "save": true}`       | `"saved": true`      | saves the running configuration      |
//! | `{"version": 1, "get": "WHAT"}`      | `"data"` or `"text"` | asks for data: a path, an OID, …     |
//! | `{"version": 1, "set": {"what": "WHAT", "method": "M", "body": BODY}}` | `"data"` or `"text"` | changes data, sent at most once |
//!
//! `get` and `set` are for sessions with data, the others for those at a command line. Each part of `set` is optional.
//! A body that is a text is sent as it is, every other as JSON. `data` is JSON; `text` is an answer of the target in
//! another format, such as XML.
//!
//! An answer contains the `version` too. After a failure, it contains `_error {kind, msg, details}` instead of a
//! result.

use std::io;

use devgate_core::failure::Failure;
use devgate_schemas::{Value, read_unique};
use devgate_transports as transports;
use serde_json::{Map, Value as Json, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The version of the protocol that this gateway speaks.
const VERSION: u64 = 1;

/// The longest request, in bytes: enough for the configuration of many thousands of interfaces.
pub(super) const LONGEST_REQUEST: usize = 4 * 1024 * 1024;

/// The longest answer, in bytes. A command's output has at most 64 MiB, and each byte can become six (`\u0000`).
pub(super) const LONGEST_ANSWER: usize = 400 * 1024 * 1024;

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SessionRequest {
    Hello,
    /// A command, and the answers to its questions.
    Exec(String, Vec<String>),
    Configure(Vec<String>),
    Save,
    Get(String),
    Set(transports::DataRequest),
}

/// The members of an answer, without its version.
pub(super) type Answer = Map<String, Json>;

impl SessionRequest {
    /// Parses a request.
    ///
    /// # Errors
    /// Fails when the request is invalid. The message quotes no text of it, because it may contain a secret; only a
    /// duplicate key is quoted.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Failure> {
        let mut fields = match read_unique(line) {
            Ok(Json::Object(fields)) => fields,
            Err(error) if error.is_data() => return Err(protocol_failure(error.to_string())),
            Ok(_) | Err(_) => {
                return Err(protocol_failure("a request is a JSON object on one line"));
            }
        };
        check_version(&mut fields)?;
        let mut fields = fields.into_iter();
        let request = match (fields.next(), fields.next()) {
            (Some((verb, argument)), None) => match (verb.as_str(), argument) {
                ("hello", _) => Some(Self::Hello),
                ("exec", Json::String(command)) => Some(Self::Exec(command, Vec::new())),
                ("exec", Json::Object(command)) => parse_exec(command),
                ("configure", Json::Array(lines)) => texts(lines).map(Self::Configure),
                ("save", _) => Some(Self::Save),
                ("get", Json::String(what)) => Some(Self::Get(what)),
                ("set", Json::Object(change)) => parse_change(change).map(Self::Set),
                _ => None,
            },
            _ => None,
        };
        request.ok_or_else(|| {
            protocol_failure(
                "a request has, beside `version`, one of `hello`: true, `exec`: a command, or an \
                 object of `command` and `answers`, `configure`: a list of lines, `save`: true, `get`: what, `set`: an object of `what`, \
                 `method` and `body`",
            )
        })
    }

    pub(super) fn to_line(&self) -> Vec<u8> {
        encode(match self {
            Self::Hello => json!({ "hello": true }),
            Self::Exec(command, answers) if answers.is_empty() => json!({ "exec": command }),
            Self::Exec(command, answers) => {
                json!({ "exec": { "command": command, "answers": answers } })
            }
            Self::Configure(lines) => json!({ "configure": lines }),
            Self::Save => json!({ "save": true }),
            Self::Get(what) => json!({ "get": what }),
            Self::Set(transports::DataRequest { what, method, body }) => {
                let mut change = json!({ "what": what });
                if let Some(method) = method {
                    change["method"] = method.as_str().into();
                }
                if let Some(body) = body {
                    change["body"] = body.to_json();
                }
                json!({ "set": change })
            }
        })
    }
}

/// Parses a command with answers. Returns `None` when a part is not understood.
fn parse_exec(mut fields: Map<String, Json>) -> Option<SessionRequest> {
    match (
        fields.remove("command"),
        fields.remove("answers"),
        fields.is_empty(),
    ) {
        (Some(Json::String(command)), Some(Json::Array(answers)), true) => {
            Some(SessionRequest::Exec(command, texts(answers)?))
        }
        _ => None,
    }
}

fn texts(values: Vec<Json>) -> Option<Vec<String>> {
    let text = |value| match value {
        Json::String(text) => Some(text),
        _ => None,
    };
    values.into_iter().map(text).collect()
}

/// Parses the parts of `set`. Returns `None` when a part is not understood.
fn parse_change(fields: Map<String, Json>) -> Option<transports::DataRequest> {
    let mut change = transports::DataRequest::default();
    for (part, value) in fields {
        match (part.as_str(), value) {
            ("what", Json::String(what)) => change.what = what,
            ("method", Json::String(method)) => change.method = Some(method),
            ("body", body) => change.body = Some(Value::from(body)),
            _ => return None,
        }
    }
    Some(change)
}

/// Encodes an answer as a line.
pub(super) fn answer_line(answer: Result<Json, Failure>) -> Vec<u8> {
    encode(answer.unwrap_or_else(Failure::into_value))
}

/// Parses an answer.
///
/// # Errors
/// Fails with the failure in the answer, or when the line is not an answer.
pub(super) fn parse_answer(line: &[u8]) -> Result<Answer, Failure> {
    let Ok(Json::Object(mut fields)) = serde_json::from_slice(line) else {
        return Err(protocol_failure("an answer is a JSON object on one line"));
    };
    check_version(&mut fields)?;
    match fields.remove("_error") {
        None => Ok(fields),
        Some(failure) => Err(serde_json::from_value(failure)
            .unwrap_or_else(|_| protocol_failure("an `_error` has `kind`, `msg` and `details`"))),
    }
}

fn check_version(fields: &mut Map<String, Json>) -> Result<(), Failure> {
    match fields.remove("version").as_ref().and_then(Json::as_u64) {
        Some(VERSION) => Ok(()),
        Some(other) => Err(protocol_failure(format!(
            "expected protocol version {VERSION}, found {other}: use the same devgate on both sides"
        ))),
        None => Err(protocol_failure(format!(
            "`version`: {VERSION} is missing in the message"
        ))),
    }
}

fn protocol_failure(problem: impl AsRef<str>) -> Failure {
    let message = format!("the session's protocol: {}", problem.as_ref());
    Failure::new("devgate/session-protocol", message)
}

fn encode(mut fields: Json) -> Vec<u8> {
    fields["version"] = VERSION.into();
    let mut line = fields.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Reads a line. Returns `None` at the end of the stream; an incomplete last line counts as the end.
///
/// # Errors
/// Fails when the stream cannot be read, or when the line is too long.
pub(super) async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let max_bytes = u64::try_from(limit).unwrap_or(u64::MAX);
    reader.take(max_bytes).read_until(b'\n', &mut line).await?;
    match line.pop() {
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() + 1 >= limit => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a line has more than {limit} bytes"),
        )),
        Some(_) | None => Ok(None),
    }
}

/// Writes a line.
///
/// # Errors
/// Fails when the stream cannot be written.
pub(super) async fn write_line(
    writer: &mut (impl AsyncWrite + Unpin),
    line: &[u8],
) -> io::Result<()> {
    writer.write_all(line).await?;
    writer.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        for request in [
            SessionRequest::Hello,
            SessionRequest::Exec("show \"x\"\nÿ".to_owned(), Vec::new()),
            SessionRequest::Exec("reload".to_owned(), vec!["no".to_owned(), String::new()]),
            SessionRequest::Configure(vec!["interface swp1".to_owned(), " shutdown".to_owned()]),
            SessionRequest::Save,
            SessionRequest::Get("/api/v1/servers".to_owned()),
            SessionRequest::Set(transports::DataRequest::default()),
            SessionRequest::Set(transports::DataRequest {
                what: "/zones".to_owned(),
                method: Some("PATCH".to_owned()),
                body: Some(Value::from(json!({"name": "a.", "ttl": [1, 2.5, null]}))),
            }),
            SessionRequest::Set(transports::DataRequest {
                body: Some(Value::Undef),
                ..Default::default()
            }),
        ] {
            let line = request.to_line();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(SessionRequest::parse(&line), Ok(request));
        }
    }

    #[test]
    fn what_is_no_request_is_refused_without_being_quoted() {
        for (fields, why) in [
            ("a-canary", "a JSON object on one line"),
            (r#"["a-canary"]"#, "a JSON object on one line"),
            (r#"{"exec": "a-canary"}"#, "`version`: 1 is missing"),
            (
                r#"{"version": 2, "exec": "a-canary"}"#,
                "expected protocol version 1, found 2",
            ),
            (r#"{"version": 1}"#, "one of `hello`"),
            (r#"{"version": 1, "a-canary": 1}"#, "one of `hello`"),
            (r#"{"version": 1, "exec": ["a-canary"]}"#, "one of `hello`"),
            (
                r#"{"version": 1, "exec": "a-canary", "exec": "another-canary"}"#,
                "the key `exec` occurs twice",
            ),
            (
                r#"{"version": 1, "set": {"body": {"a": "a-canary", "a": 1}}}"#,
                "the key `a` occurs twice",
            ),
            (r#"{"version": 1, "configure": ["a", 1]}"#, "one of `hello`"),
            (r#"{"version": 1, "get": ["a-canary"]}"#, "one of `hello`"),
            (r#"{"version": 1, "set": "a-canary"}"#, "one of `hello`"),
            (
                r#"{"version": 1, "set": {"boby": "a-canary"}}"#,
                "one of `hello`",
            ),
            (
                r#"{"version": 1, "save": true, "exec": "a-canary"}"#,
                "one of `hello`",
            ),
        ] {
            let failure = SessionRequest::parse(fields.as_bytes()).expect_err(fields);
            assert!(failure.msg.contains(why), "{fields}: {failure}");
            assert!(!failure.msg.contains("canary"), "{failure}");
        }
    }

    #[test]
    fn failures_arrive_as_they_were() {
        let failure = Failure::new("devgate/x", "no").with("partial_output", "some");
        assert_eq!(
            parse_answer(&answer_line(Err(failure.clone()))),
            Err(failure)
        );
        let answer = parse_answer(&answer_line(Ok(json!({ "output": "a\n" }))));
        assert_eq!(answer.map(Json::Object), Ok(json!({ "output": "a\n" })));
    }

    #[tokio::test]
    async fn a_line_without_end_is_read_up_to_the_limit_only() {
        let mut endless = tokio::io::BufReader::new(tokio::io::repeat(b'x'));
        assert!(read_line(&mut endless, 1000).await.is_err());
        let mut cut = &b"one\ntwo"[..];
        let one = read_line(&mut cut, 1000).await.expect("it can be read");
        assert_eq!(one.as_deref(), Some(&b"one"[..]));
        assert!(matches!(read_line(&mut cut, 1000).await, Ok(None)));
    }
}
