//! Reads the results of a program, or why there are none.

use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use devgate_schemas::{Hash, Mask, Value, read_json};

/// Why a program has no results: its own message, or what was expected of it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ProgramFailure {
    pub(super) message: String,
    pub(super) kind: Option<String>,
    pub(super) details: Option<Value>,
}

impl ProgramFailure {
    /// Creates the problem of a program that violates its contract.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }

    /// Returns the problem with these secrets masked.
    pub(super) fn masked(self, mask: &Mask) -> Self {
        Self {
            message: mask.text(&self.message).into_owned(),
            details: self.details.map(|details| mask.value(details)),
            ..self
        }
    }
}

/// Reads the results of a program that answered one request and ended.
///
/// # Errors
/// Fails with the program's own message, or with what was expected of its output. The output is not quoted, because it
/// may contain a device's secrets.
pub(super) fn of(outcome: &Outcome) -> Result<Hash, ProgramFailure> {
    let Outcome {
        exit,
        stdout,
        stderr,
    } = outcome;
    let results = object(stdout);
    if let Ok(results) = &results
        && let Some(error) = results.get("_error").filter(|error| !error.is_undef())
    {
        return Err(failure_of(error));
    }
    match exit {
        Exit::Code(0) => results.map_err(ProgramFailure::new),
        _ => Err(ProgramFailure::new(describe_end(&exit.to_string(), stderr))),
    }
}

/// Reads a program's error: `{kind, msg, details}` as in the specification, or a text.
pub(super) fn failure_of(error: &Value) -> ProgramFailure {
    let text = |key: &str| error.as_hash()?.get(key)?.as_str().map(str::to_owned);
    match error.as_str().map(str::to_owned).or_else(|| text("msg")) {
        Some(message) => ProgramFailure {
            message,
            kind: text("kind"),
            details: error
                .as_hash()
                .and_then(|error| error.get("details"))
                .cloned(),
        },
        None => {
            ProgramFailure::new("it failed; expected its error as `{\"msg\": …}`, or as a text")
        }
    }
}

/// Describes how a program ended, with the last line of its stderr.
pub(super) fn describe_end(exit: &str, stderr: &CapturedOutput) -> String {
    match stderr.last_words() {
        None => format!("{exit}, with nothing on stderr"),
        Some(words) => format!("{words} ({exit})"),
    }
}

/// The expected output of a program.
const EXPECTED: &str = "expected one JSON object on stdout";

/// Returns the message for an output of more bytes than the limit.
pub(super) fn too_long(limit: usize) -> String {
    format!("{EXPECTED}, it wrote more than {limit} bytes (`output-limit`)")
}

/// Parses the one JSON object on stdout.
fn object(stdout: &CapturedOutput) -> Result<Hash, String> {
    let bytes = &stdout.bytes;
    let expected = EXPECTED;
    if stdout.cut {
        return Err(too_long(bytes.len()));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(format!("{expected}, it wrote nothing"));
    }
    match read_json(bytes).map(Value::from) {
        Ok(Value::Hash(results)) => Ok(results),
        Ok(_) => Err(format!("{expected}, it wrote other JSON")),
        // A syntax error quotes nothing.
        Err(error) => Err(format!("{expected}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(code: i32, stdout: &str, stderr: &str) -> Outcome {
        let captured = |text: &str| CapturedOutput {
            bytes: text.as_bytes().to_vec(),
            cut: false,
        };
        Outcome {
            exit: Exit::Code(code),
            stdout: captured(stdout),
            stderr: captured(stderr),
        }
    }

    fn problem(code: i32, stdout: &str, stderr: &str) -> String {
        let problem = of(&outcome(code, stdout, stderr)).expect_err("it has no results");
        problem.message
    }

    #[test]
    fn results_are_one_object_of_a_program_that_ended_well() {
        let results = of(&outcome(0, " {\"facts\": {}}\n", "chatter")).expect("results");
        assert_eq!(results.len(), 1);
        assert!(problem(0, "", "").ends_with("it wrote nothing"));
        assert!(problem(0, "[1]", "").ends_with("other JSON"));
        assert!(problem(0, "{\"a\": 1} {}", "").contains("trailing characters"));
        assert!(problem(0, "{\"a\": \"canary", "").contains("EOF"));
        let mut cut = outcome(0, "{}", "");
        cut.stdout.cut = true;
        let describe_failure = of(&cut).expect_err("it is incomplete").message;
        assert!(
            describe_failure.contains("more than 2 bytes"),
            "{describe_failure}"
        );
    }

    #[test]
    fn a_failure_has_the_programs_own_message() {
        let error =
            r#"{"_error": {"kind": "shelf/full", "msg": "no room", "details": {"left": 0}}}"#;
        for code in [0, 1] {
            let problem = of(&outcome(code, error, "chatter")).expect_err("it failed");
            assert_eq!(problem.message, "no room");
            assert_eq!(problem.kind.as_deref(), Some("shelf/full"));
            assert!(problem.details.is_some());
        }
        assert_eq!(
            problem(3, "{}", "Traceback:\n  ...\nKeyError: 'x'\n\n"),
            "KeyError: 'x' (it ended with exit code 3)"
        );
        assert_eq!(
            problem(
                1,
                "",
                "a.rb:1:in `x': no room (RuntimeError)\n\tfrom a.rb:2:in `<main>'\n"
            ),
            "a.rb:1:in `x': no room (RuntimeError) (it ended with exit code 1)"
        );
        assert_eq!(
            problem(3, "", " \n"),
            "it ended with exit code 3, with nothing on stderr"
        );
        assert!(problem(0, r#"{"_error": {"message": "x"}}"#, "").contains("`{\"msg\": …}`"));
    }
}
