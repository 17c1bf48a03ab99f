//! Runs one action of a module, after checking its input.

use std::time::Duration;

use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_engine::process::{self, DiscardOutput, ProcessLimits};
use devgate_schemas::pxp::{Action, ActionRequest, JsonSchema, OutputFiles};
use devgate_schemas::{Mask, Value, nearest};
use serde_json::{Map, Value as Json};

use crate::host::{Module, NOT_AVAILABLE, Verdict, describe, secrets};

/// How long a module may take to end before it is killed. devgate as a module needs ten seconds to leave its devices in
/// order.
pub(super) const GRACE: Duration = Duration::from_secs(15);

/// How long a module may take after a second request. devgate as a module then reports what it has finished.
const RESPITE: Duration = Duration::from_secs(3);

/// A checked call: the module has the action, and the input is valid.
pub(crate) struct Call {
    module: Module,
    action: Action,
    input: Map<String, Json>,
}

impl Call {
    /// Checks a call.
    ///
    /// # Errors
    /// The module has no such action, or the input does not match its schema.
    pub(crate) fn new(module: Module, action: &str, input: Json) -> Result<Self, Failure> {
        let Some(action) = module.metadata.action(action).cloned() else {
            return Err(unknown(&module, action));
        };
        let problem = match (action.input.check(&input), input) {
            (Ok(()), Json::Object(input)) => {
                return Ok(Self {
                    module,
                    action,
                    input,
                });
            }
            (Ok(()), _) => "expected an object".to_owned(),
            (Err(mismatch), _) => mismatch.to_string(),
        };
        let message = format!(
            "invalid input for the action `{}` of module `{}`: {problem}",
            action.name, module.name
        );
        Err(Failure::new("devgate/invalid-input", message))
    }

    /// The module.
    pub(crate) fn module(&self) -> &Module {
        &self.module
    }

    /// The action.
    pub(crate) fn action(&self) -> &Action {
        &self.action
    }

    /// The request on the module's stdin. For a nonblocking action, `files` take its output.
    pub(crate) fn request(&self, files: Option<OutputFiles>) -> ActionRequest {
        ActionRequest {
            input: self.input.clone(),
            configuration: self.module.configuration.clone(),
            output_files: files,
        }
    }

    /// Runs the action and waits for its end, as pxp-agent does for a blocking request.
    pub(crate) async fn run(&self, limit: Duration, stop: &CancelToken) -> Verdict {
        let limits = ProcessLimits {
            time: Some(limit),
            grace: GRACE,
            respite: RESPITE,
            ..ProcessLimits::default()
        };
        let request = self.request(None).to_stdin();
        let program = describe::program(&self.module.file, Some(&self.action.name), Some(request));
        match process::run(&program, &limits, stop, &DiscardOutput).await {
            Ok(outcome) => Verdict::of(&self.action.results, outcome),
            Err(process::ProcessFailure::Start(error)) => {
                let error = Failure::new(NOT_AVAILABLE, process::start_failure(&error));
                Verdict::not_started(error)
            }
            Err(process::ProcessFailure::Ended(ended)) => {
                let error = match ended.limit {
                    Some(limit) => timed_out(limit),
                    None => Failure::new("devgate/interrupted", "it was interrupted"),
                };
                Verdict::interrupted(&self.action.results, error, &ended)
            }
        }
    }

    /// Masks the secret values of the input and the configuration in all messages about this call.
    pub(crate) fn mask(&self) -> Mask {
        Mask::new(&self.secrets())
    }

    /// The values of secret members of its input and configuration.
    pub(super) fn secrets(&self) -> Vec<Value> {
        let mut secrets = secrets::of(&self.input, Some(self.action.input.source()));
        if let Some(configuration) = &self.module.configuration {
            let schema = self.module.metadata.configuration.as_ref();
            secrets.extend(secrets::of(configuration, schema.map(JsonSchema::source)));
        }
        secrets
    }
}

/// The message for an action that exceeded its time limit.
pub(super) fn timed_out(limit: Duration) -> Failure {
    let seconds = limit.as_secs_f64();
    let message = format!(
        "it exceeded the time limit of {seconds} s (--timeout), and all its processes were ended; changes that were \
         made before stay"
    );
    Failure::new("devgate/timed-out", message)
}

fn unknown(module: &Module, action: &str) -> Failure {
    let actions = module.metadata.actions.iter();
    let names: Vec<&str> = actions.map(|action| action.name.as_str()).collect();
    let hint = match nearest(action, &names) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => format!("; it has {}", names.join(", ")),
    };
    let message = format!(
        "unknown action '{action}' for module '{}'{hint}",
        module.name
    );
    Failure::new("devgate/unknown-action", message)
}
