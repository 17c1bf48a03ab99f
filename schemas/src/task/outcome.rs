//! The meaning of a task's exit code and output (Task Specification, "Output handling"; Bolt's rules fill
//! the gaps).

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value as Json, json};

use crate::{CUT, Hash, MAX_VALUES, Value, values};

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The process exited with this code.
    Code(i32),
    /// The process was killed by this signal.
    Signal(i32),
}

/// Formats the exit as a sentence about the program.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "it ended with exit code {code}"),
            Self::Signal(signal) => write!(f, "it was ended by signal {signal}"),
        }
    }
}

/// The output of a process on one of its streams, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The first bytes of the output.
    pub bytes: Vec<u8>,
    /// Whether further bytes were left out.
    pub cut: bool,
}

impl CapturedOutput {
    /// Keeps as many of these bytes as the limit allows, and records whether any were left out.
    pub fn keep(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len());
        let kept = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.cut |= kept < bytes.len();
    }

    /// Returns all of it as text, marked if it was truncated.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.cut {
            // A truncated character is removed.
            text.truncate(text.trim_end_matches('\u{fffd}').len());
            text.push_str(CUT);
        }
        text
    }

    /// Returns the last line of stderr: a traceback usually ends with its message. Ruby's tracebacks begin
    /// with the message and continue with places in the code.
    pub fn last_words(&self) -> Option<String> {
        let text = self.text();
        let lines = text.lines().rev();
        let lines = lines.filter(|line| !line.starts_with("\tfrom "));
        let mut lines = lines.map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// Everything that a task's process produced.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How the process ended.
    pub exit: Exit,
    /// The result, written to stdout.
    pub stdout: CapturedOutput,
    /// The messages for people, written to stderr.
    pub stderr: CapturedOutput,
}

/// The kind of the default error of a failed task that reports none.
const TASK_ERROR: &str = "puppetlabs.tasks/task-error";

/// The kind of an error about a truncated JSON object (Task Specification, "Errors").
const UNPARSABLE_OUTPUT: &str = "puppetlabs.tasks/unparsable_output";

/// The maximum number of bytes of output in an error's details.
const LAST: usize = 64 * 1024;

/// The replacement for a last line that exceeds the limit.
const TOO_LONG: &str = "(one line, too long to be shown)";

impl Outcome {
    /// Returns the task's result: the JSON object that it wrote, or its text as `_output`. A failure always
    /// has an `_error` with `kind`, `msg` and `details`; `_sensitive` is hidden.
    ///
    /// A default error has the specification's text and `details.exitcode`, and also Bolt's
    /// `details.exit_code` and `issue_code` for tools that expect them. The task's stderr goes to
    /// `details.stderr` and not into the message, which stays a single comparable line.
    pub fn into_value(self, task: &str) -> Hash {
        let mut value = match self.text() {
            Ok(text)
                if text.trim_start().starts_with('{') && values(text.as_bytes()) > MAX_VALUES =>
            {
                Map::from_iter([("_error".to_owned(), self.too_many())])
            }
            Ok(text) => match serde_json::from_str(text) {
                Ok(Json::Object(pairs)) if !self.stdout.cut => pairs,
                _ => {
                    let cut = if self.stdout.cut { CUT } else { "" };
                    Map::from_iter([("_output".to_owned(), Json::from(format!("{text}{cut}")))])
                }
            },
            Err(()) => Map::from_iter([("_error".to_owned(), self.not_utf8())]),
        };
        let told = value.get("_error").is_some_and(|error| !error.is_null());
        if !told && self.exit != Exit::Code(0) {
            value.insert("_error".to_owned(), self.default_error());
        } else if !told && self.stdout.cut {
            value.insert("_error".to_owned(), self.too_long());
        }
        if let Some(error) = value.get_mut("_error") {
            complete(error, task);
        }
        value
            .into_iter()
            .map(|(key, json)| {
                let secret = key == "_sensitive";
                let value = Value::from(json);
                (
                    key,
                    if secret {
                        value.into_sensitive()
                    } else {
                        value
                    },
                )
            })
            .collect()
    }

    /// Returns the text on stdout. A character that the limit truncated is left out.
    fn text(&self) -> Result<&str, ()> {
        let bytes = &self.stdout.bytes;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) if self.stdout.cut && error.error_len().is_none() => {
                std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(|_| ())
            }
            Err(_) => Err(()),
        }
    }

    fn default_error(&self) -> Json {
        let msg = match self.exit {
            Exit::Code(code) => format!("The task errored with a code {code}"),
            Exit::Signal(signal) => format!("The task was ended by signal {signal}"),
        };
        self.error("TASK_ERROR", &msg)
    }

    fn not_utf8(&self) -> Json {
        let msg = "The task result contained invalid UTF-8 on stdout";
        let mut error = self.error("TASK_ERROR", msg);
        error["details"]["cause"] = Json::from("output_encoding_error");
        error
    }

    /// Returns the error for truncated output. Half an object must not be taken for text.
    fn too_long(&self) -> Json {
        let kept = self.stdout.bytes.len();
        let msg = format!(
            "The task wrote more than {kept} bytes to stdout, and the rest was cut off; `output-limit` \
             sets how many are kept"
        );
        let mut error = self.error("OUTPUT_LIMIT", &msg);
        if self.stdout.bytes.trim_ascii_start().starts_with(b"{") {
            error["kind"] = Json::from(UNPARSABLE_OUTPUT);
        }
        error
    }

    /// Returns the error for an object with too many values. It is not shown as text either, because its
    /// `_sensitive` value may be in it.
    fn too_many(&self) -> Json {
        let msg =
            format!("The task's result holds more than {MAX_VALUES} values, and was not read");
        let mut error = self.error("OUTPUT_LIMIT", &msg);
        error["kind"] = Json::from(UNPARSABLE_OUTPUT);
        error
    }

    fn error(&self, issue_code: &str, msg: &str) -> Json {
        let code = self.exit.code();
        let mut details = Map::new();
        details.insert("exitcode".to_owned(), Json::from(code));
        details.insert("exit_code".to_owned(), Json::from(code));
        if let Exit::Signal(signal) = self.exit {
            details.insert("signal".to_owned(), Json::from(signal));
        }
        if self.stdout.cut {
            details.insert("stdout_cut".to_owned(), Json::from(true));
        }
        let stderr = self.stderr.last();
        if !stderr.is_empty() {
            details.insert("stderr".to_owned(), Json::from(stderr));
        }
        json!({"kind": TASK_ERROR, "issue_code": issue_code, "msg": msg, "details": details})
    }
}

impl CapturedOutput {
    /// Returns the end of the output, where programs usually report the cause, for the details of an error.
    /// An incomplete first line is dropped, because it may be the end of a secret.
    pub fn last(&self) -> String {
        let mut text = self.text();
        if let Some(from) = self.bytes.len().checked_sub(LAST + 1) {
            let line = text
                .as_bytes()
                .iter()
                .skip(from)
                .position(|byte| *byte == b'\n');
            text.drain(..line.map_or(text.len(), |at| from + at + 1));
            if text.is_empty() {
                text.push_str(TOO_LONG);
            }
        }
        if self.cut {
            text.push_str("\n(more was written and cut off)");
        }
        text
    }
}

impl Exit {
    /// Returns the exit code. Of a signal, it is 128 plus the signal's number, as in a shell.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Adds missing fields to a task's own error, and replaces an error that is not an object with a `msg`.
fn complete(error: &mut Json, task: &str) {
    let Some(fields) = error
        .as_object_mut()
        .filter(|fields| fields.contains_key("msg"))
    else {
        let msg = format!(
            "Invalid error returned from task {task}: {error}. Error must be an object with a msg \
             key."
        );
        *error = json!({
            "kind": "bolt/invalid-task-error",
            "msg": msg,
            "details": {"original_error": error.take()},
        });
        return;
    };
    for (key, standing) in [("kind", json!("bolt/error")), ("details", json!({}))] {
        let field = fields.entry(key).or_insert(Json::Null);
        if field.is_null() {
            *field = standing;
        }
    }
}
