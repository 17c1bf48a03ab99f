//! The request that an action receives on stdin: "Input" of the PXP module specification.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};

use crate::{Sensitive, read_unique};

/// The request that an action receives on stdin.
///
/// Any value may be a secret, so the `Debug` form shows only the keys.
#[derive(Clone, Default, PartialEq)]
pub struct ActionRequest {
    /// The arguments, which match the action's `input` schema.
    pub input: Map<String, Json>,
    /// The module's configuration, if there is any.
    pub configuration: Option<Map<String, Json>>,
    /// The files that receive the output instead of the standard streams.
    pub output_files: Option<OutputFiles>,
}

/// The files that receive an action's output. The caller reads them as soon as `exitcode` exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFiles {
    /// The file for the results.
    pub stdout: PathBuf,
    /// The file for the error output.
    pub stderr: PathBuf,
    /// The file for the exit code, which is written last.
    pub exitcode: PathBuf,
}

/// The reason why stdin holds no valid request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request on stdin: {message}")]
pub struct InvalidRequest {
    /// A description of what was expected.
    pub message: String,
    /// The files where the error can still be reported: the caller waits for them.
    pub output_files: Option<OutputFiles>,
}

pub(super) const KEYS: [&str; 3] = ["input", "configuration", "output_files"];

impl ActionRequest {
    /// Parses a request. The schema is closed: a key that the specification does not have is a mistake.
    ///
    /// # Errors
    /// Fails with what was expected. Nothing is quoted, because it may be a secret.
    pub fn read(text: &[u8]) -> Result<Self, InvalidRequest> {
        let expected = "expected one JSON object, `{\"input\": {…}}`";
        let request = match read_unique(text) {
            Ok(Json::Object(request)) => request,
            Ok(_) => return wrong(format!("{expected}, it is other JSON")),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => {
                return wrong(format!("{expected}, it is empty"));
            }
            Err(error) => {
                // A syntax error quotes nothing.
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

    /// Returns the request as a module reads it, with its secrets in clear.
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

impl fmt::Debug for ActionRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = |object: &Map<String, Json>| object.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Request")
            .field("input", &keys(&self.input))
            .field("configuration", &self.configuration.as_ref().map(keys))
            .field("output_files", &self.output_files)
            .finish()
    }
}

/// Returns the files that an otherwise invalid request names.
fn files_in(request: &Map<String, Json>) -> Option<OutputFiles> {
    let files = request.get("output_files").and_then(Json::as_object);
    OutputFiles::read(files?.clone()).ok()
}

/// Returns the files that a text with a duplicate key names.
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
            let request = ActionRequest::read(text.as_bytes()).expect("it is one");
            let written = request.to_stdin();
            assert_eq!(ActionRequest::read(written.reveal()), Ok(request.clone()));
            let shown = format!("{request:?}");
            assert!(
                shown.contains("input") && !shown.contains("canary"),
                "{shown}"
            );
        }
    }

    #[test]
    fn problems_of_a_request_with_output_files_are_written_there() {
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
            let problem = ActionRequest::read(text.as_bytes()).expect_err(&text);
            assert_eq!(problem.output_files.is_some(), there, "{text}");
        }
    }

    #[test]
    fn invalid_requests_are_reported_and_not_quoted() {
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
            let problem = ActionRequest::read(text.as_bytes())
                .expect_err(text)
                .to_string();
            assert!(
                problem.contains(told) && !problem.contains("canary"),
                "{problem}"
            );
        }
    }
}
