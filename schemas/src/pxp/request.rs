//! What an action is given on stdin: "Input" of the PXP module specification.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use crate::{Sensitive, read_unique};

/// What an action is given on stdin.
///
/// Any value may be a secret: it shows its keys alone.
#[derive(Clone, Default, PartialEq)]
pub struct Request {
    /// The arguments, as the action's `input` schema has them.
    pub input: Map<String, Json>,
    /// The module's configuration, where there is any.
    pub configuration: Option<Map<String, Json>>,
    /// Where the output goes instead of the streams.
    pub output_files: Option<OutputFiles>,
}

/// The files that take an action's output. Who waits for it reads them once `exitcode` is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFiles {
    /// Takes the results.
    pub stdout: PathBuf,
    /// Takes what was said of errors.
    pub stderr: PathBuf,
    /// Takes the exit code, at last.
    pub exitcode: PathBuf,
}

/// Why what stands on stdin is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request on stdin: {message}")]
pub struct InvalidRequest {
    /// What was expected.
    pub message: String,
    /// Where it can be told all the same: whoever has sent it waits for these files.
    pub output_files: Option<OutputFiles>,
}

pub(super) const KEYS: [&str; 3] = ["input", "configuration", "output_files"];

impl Request {
    /// Reads a request. Its schema is closed: a key that the specification does not know is a mistake.
    ///
    /// # Errors
    /// What was expected. Nothing is quoted, for it may be a secret.
    pub fn read(text: &[u8]) -> Result<Self, InvalidRequest> {
        let expected = "expected one JSON object, `{\"input\": {…}}`";
        let request = match read_unique(text) {
            Ok(Json::Object(request)) => request,
            Ok(_) => return wrong(format!("{expected}, it is other JSON")),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => {
                return wrong(format!("{expected}, it is empty"));
            }
            Err(error) => {
                // An error of syntax quotes nothing.
                return Err(InvalidRequest {
                    message: format!("{expected}: {error}"),
                    output_files: error.is_data().then(|| files_of(text)).flatten(),
                });
            }
        };
        let files = files_in(&request);
        Self::of(request).map_err(|invalid| InvalidRequest {
            output_files: files,
            ..invalid
        })
    }

    fn of(mut request: Map<String, Json>) -> Result<Self, InvalidRequest> {
        if let Some(key) = request.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return wrong(format!(
                "there is no key `{key}`: expected {}",
                KEYS.join(", ")
            ));
        }
        let mut object = |key: &str| match request.shift_remove(key) {
            Some(Json::Object(object)) => Ok(Some(object)),
            Some(_) => wrong(format!("`{key}`: expected an object")),
            None => Ok(None),
        };
        let [input, configuration, files] = [
            object("input")?,
            object("configuration")?,
            object("output_files")?,
        ];
        let Some(input) = input else {
            return wrong("`input` is missing: expected an object".to_owned());
        };
        Ok(Self {
            input,
            configuration,
            output_files: files.map(OutputFiles::read).transpose()?,
        })
    }

    /// The request as a module reads it, with its secrets.
    pub fn to_stdin(&self) -> Sensitive<Vec<u8>> {
        let mut request = json!({ "input": self.input });
        if let Some(configuration) = &self.configuration {
            request["configuration"] = json!(configuration);
        }
        if let Some(files) = &self.output_files {
            request["output_files"] = files.to_json();
        }
        Sensitive::new(request.to_string().into_bytes())
    }
}

impl OutputFiles {
    pub(super) const KEYS: [&str; 3] = ["stdout", "stderr", "exitcode"];

    fn read(mut files: Map<String, Json>) -> Result<Self, InvalidRequest> {
        let mut path = |key: &str| match files.shift_remove(key) {
            Some(Json::String(path)) if !path.is_empty() => Ok(PathBuf::from(path)),
            _ => wrong(format!("`output_files.{key}`: expected the path of a file")),
        };
        let read = Self {
            stdout: path("stdout")?,
            stderr: path("stderr")?,
            exitcode: path("exitcode")?,
        };
        match files.keys().next() {
            None => Ok(read),
            Some(key) => wrong(format!(
                "there is no key `output_files.{key}`: expected {}",
                Self::KEYS.join(", ")
            )),
        }
    }

    fn to_json(&self) -> Json {
        json!({ "stdout": self.stdout, "stderr": self.stderr, "exitcode": self.exitcode })
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = |object: &Map<String, Json>| object.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Request")
            .field("input", &keys(&self.input))
            .field("configuration", &self.configuration.as_ref().map(keys))
            .field("output_files", &self.output_files)
            .finish()
    }
}

/// The files that a request names which is not understood as a whole.
fn files_in(request: &Map<String, Json>) -> Option<OutputFiles> {
    let files = request.get("output_files").and_then(Json::as_object);
    OutputFiles::read(files?.clone()).ok()
}

/// The same of a text in which a key stands twice.
fn files_of(text: &[u8]) -> Option<OutputFiles> {
    files_in(serde_json::from_slice::<Json>(text).ok()?.as_object()?)
}

fn wrong<T>(message: String) -> Result<T, InvalidRequest> {
    Err(InvalidRequest {
        message,
        output_files: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written_and_shows_its_keys_alone() {
        let files =
            json!({"stdout": "/s/stdout", "stderr": "/s/stderr", "exitcode": "/s/exitcode"});
        let whole = json!({
            "input": {"password": "canary"},
            "configuration": {"token": "canary"},
            "output_files": files,
        });
        for text in [whole.to_string(), "{\"input\": {}}".to_owned()] {
            let request = Request::read(text.as_bytes()).expect("it is one");
            let written = request.to_stdin();
            assert_eq!(Request::read(written.reveal()), Ok(request.clone()));
            let shown = format!("{request:?}");
            assert!(
                shown.contains("input") && !shown.contains("canary"),
                "{shown}"
            );
        }
    }

    #[test]
    fn who_waits_for_files_is_told_there_what_is_wrong_with_the_rest() {
        let files = r#""output_files": {"stdout": "/a", "stderr": "/b", "exitcode": "/c""#;
        for (text, there) in [
            (format!("{{\"inputs\": {{}}, {files}}}}}"), true),
            (format!("{{\"input\": 1, {files}}}}}"), true),
            (format!("{{\"input\": {{}}, {files}, \"d\": 1}}}}"), false),
            (format!("{{{files}}}"), false),
            (
                format!("{{\"input\": {{\"a\": 1, \"a\": 2}}, {files}}}}}"),
                true,
            ),
        ] {
            let problem = Request::read(text.as_bytes()).expect_err(&text);
            assert_eq!(problem.output_files.is_some(), there, "{text}");
        }
    }

    #[test]
    fn what_is_no_request_is_told_and_not_quoted() {
        let files = r#"{"input": {}, "output_files": {"stdout": "/a", "stderr": "/b""#;
        for (text, told) in [
            ("", "it is empty"),
            ("\"canary\"", "other JSON"),
            ("{\"input\": \"canary", "EOF"),
            ("{}", "`input` is missing"),
            ("{\"input\": [\"canary\"]}", "`input`: expected an object"),
            (
                "{\"input\": {}, \"configuration\": null}",
                "`configuration`: expected an object",
            ),
            ("{\"input\": {}, \"inputs\": {}}", "no key `inputs`"),
            (
                "{\"input\": {\"noop\": true, \"noop\": \"canary\"}}",
                "the key `noop` occurs twice",
            ),
            (
                &format!("{files}}}}}"),
                "`output_files.exitcode`: expected the path",
            ),
            (
                &format!("{files}, \"exitcode\": 1}}}}"),
                "`output_files.exitcode`: expected the path",
            ),
            (
                &format!("{files}, \"exitcode\": \"/c\", \"x\": \"\"}}}}"),
                "no key `output_files.x`",
            ),
        ] {
            let problem = Request::read(text.as_bytes()).expect_err(text).to_string();
            assert!(
                problem.contains(told) && !problem.contains("canary"),
                "{problem}"
            );
        }
    }
}
