//! What a task's exit code and output mean (Task Specification, "Output handling"; the rules that
//! it leaves open are Bolt's).

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::{Map, Value as Json, json};

use crate::{CUT, Hash, MAX_VALUES, Value, values};

/// How a task's process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// As a sentence of a program that has ended.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "it ended with exit code {code}"),
            Self::Signal(signal) => write!(f, "it was ended by signal {signal}"),
        }
    }
}

/// What a process wrote to one of its outputs, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Whether more were written and left out.
    pub cut: bool,
}

impl CapturedOutput {
    /// Keeps what of these bytes is within the limit; whether any is not, is noted.
    pub fn keep(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len());
        let kept = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.cut |= kept < bytes.len();
    }

    /// All of it as text, marked where the rest was cut off.
    pub fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.cut {
            // A character that was cut through is none.
            text.truncate(text.trim_end_matches('\u{fffd}').len());
            text.push_str(CUT);
        }
        text
    }

    /// The last line of what was written to stderr: tracebacks end with what they are about. Those of Ruby begin
    /// with it, and go on with places in code.
    pub fn last_words(&self) -> Option<String> {
        let text = self.text();
        let lines = text.lines().rev();
        let lines = lines.filter(|line| !line.starts_with("\tfrom "));
        let mut lines = lines.map(str::trim);
        lines.find(|line| !line.is_empty()).map(str::to_owned)
    }
}

/// All that a task's process left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// Its result.
    pub stdout: CapturedOutput,
    /// Its words to people.
    pub stderr: CapturedOutput,
}

/// The kind of an error that the task runner makes up for a task that failed without one.
const TASK_ERROR: &str = "puppetlabs.tasks/task-error";

/// The kind of an error about a JSON object that was cut off (Task Specification, "Errors").
const UNPARSABLE_OUTPUT: &str = "puppetlabs.tasks/unparsable_output";

/// How many bytes of an output an error's details keep.
const LAST: usize = 64 * 1024;

/// What stands for a last line of which not all is within that.
const TOO_LONG: &str = "(one line, too long to be shown)";

impl Outcome {
    /// The task's result: the JSON object that it wrote, or its text as `_output`. A failure always
    /// has an `_error` with `kind`, `msg` and `details`; `_sensitive` is hidden.
    ///
    /// A default error has the specification's text and `details.exitcode`, and Bolt's
    /// `details.exit_code` and `issue_code` for tools that look there. What the task wrote to stderr
    /// is in `details.stderr` and not in the text, which stays one line that can be compared.
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

    /// The text on stdout; a character that the limit has cut through is left out.
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

    /// Half an object is none, and is not taken for a text that is one.
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

    /// As text it would not be shown either: what it hides as `_sensitive` may be in it.
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
    /// The last of what was kept, where programs say what stopped them: for the details of an error. Of a line
    /// that would lack its beginning nothing is left: it may be the end of a secret.
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
    /// The exit code; that of a signal as a shell gives it, 128 and the signal's number.
    pub fn code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

/// Gives a task's own error what it lacks, and replaces one that is none.
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
