//! The verdict on an action: "Success or failure?" of the PXP module specification.

use devgate_core::failure::Failure;
use devgate_engine::process::EndedProcess;
use devgate_schemas::pxp::JsonSchema;
use devgate_schemas::read_json;
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use serde_json::{Value as Json, json};

/// The verdict on an action.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    /// Its results, if they match their schema.
    pub(crate) results: Option<Json>,
    /// Its exit status, if it ended by itself.
    pub(crate) exit: Option<Exit>,
    /// Its output on stderr.
    pub(crate) stderr: String,
    /// Why it failed.
    pub(crate) error: Option<Failure>,
}

/// The error kind of an action, as in pxp-agent.
pub(super) const EXECUTION_ERROR: &str = "puppetlabs.pxp-agent/execution-error";

impl Verdict {
    /// Judges an action: it succeeded if its results match the schema and its exit code is 0.
    pub(crate) fn of(schema: &JsonSchema, outcome: Outcome) -> Self {
        let Outcome {
            exit,
            stdout,
            stderr,
        } = outcome;
        let stderr = stderr.text();
        let (results, problem) = match results(schema, &stdout) {
            Ok(results) => (Some(results), None),
            Err(problem) => (None, Some(problem)),
        };
        let exit_problem = (exit != Exit::Code(0)).then(|| exit.to_string());
        let problems: Vec<String> = exit_problem.into_iter().chain(problem).collect();
        let error = (!problems.is_empty()).then(|| {
            Failure::new(EXECUTION_ERROR, problems.join("; ")).with("exitcode", exit.code())
        });
        Self {
            results,
            exit: Some(exit),
            stderr,
            error,
        }
    }

    /// An action that was not started.
    pub(super) fn not_started(why: Failure) -> Self {
        Self {
            results: None,
            exit: None,
            stderr: String::new(),
            error: Some(why),
        }
    }

    /// An action that was ended: the reason, and its output until then. Complete results that match the schema are kept:
    /// they are no success, but report what was done.
    pub(super) fn interrupted(schema: &JsonSchema, why: Failure, ended: &EndedProcess) -> Self {
        let is_blank = ended.stdout.bytes.iter().all(u8::is_ascii_whitespace);
        Self {
            results: results(schema, &ended.stdout).ok().filter(|_| !is_blank),
            stderr: ended.stderr.text(),
            ..Self::not_started(why)
        }
    }

    /// Whether it succeeded.
    pub(crate) fn is_success(&self) -> bool {
        self.error.is_none()
    }
}

/// The results on an action's stdout; to pxp-agent nothing there, or `null`, is `{}`.
///
/// # Errors
/// Why they cannot be used. They are not quoted, because they may contain secrets.
fn results(schema: &JsonSchema, stdout: &CapturedOutput) -> Result<Json, String> {
    if stdout.cut {
        let length = stdout.bytes.len();
        return Err(format!(
            "it wrote more than {length} bytes to stdout: its results are incomplete"
        ));
    }
    let results = if stdout.bytes.iter().all(u8::is_ascii_whitespace) {
        Json::Null
    } else {
        read_json(&stdout.bytes)
            .map_err(|error| format!("it returned invalid JSON on stdout: {error}"))?
    };
    let is_empty = results.is_null();
    let results = if is_empty { json!({}) } else { results };
    match schema.check(&results) {
        Ok(()) => Ok(results),
        Err(mismatch) if is_empty => Err(format!(
            "it returned nothing on stdout, which is read as {{}}: {mismatch}"
        )),
        Err(mismatch) => Err(format!("its results do not match their schema: {mismatch}")),
    }
}
