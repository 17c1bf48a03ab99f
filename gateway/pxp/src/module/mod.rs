//! devgate as a PXP module, for pxp-agent or another host of modules.
//!
//! The module prints its metadata, or runs one action of a request on stdin. Its caller has no time limit and cannot
//! cancel, so the module has both: a time limit, and SIGTERM, which leaves nothing behind and still gives an answer.

mod actions;
mod collect;
mod configuration;
mod large;
mod reply;
mod request;
mod results;
mod schema;

use std::panic::AssertUnwindSafe;

use devgate_core::cancel::Reason;
use devgate_core::failure::Failure;
use devgate_engine::project::Format;
use devgate_engine::run;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::options::{ColorWhen, GlobalOptions};
use devgate_front::printer::Printer;
use devgate_front::signals::{self, SignalListener};
use devgate_schemas::derived;
use devgate_schemas::pxp::ActionRequest;
use futures_util::FutureExt;
use serde_json::{Map, Value as Json, json};

use self::actions::{ACTIONS, ActionContext, ActionEntry};
use self::configuration::Configuration;
use self::reply::Reply;

/// The argument that requests the metadata, like no argument at all.
const METADATA: &str = "metadata";

/// Runs as a module with this argument and the options of its command line.
pub(crate) async fn serve(
    argument: Option<&str>,
    global: &GlobalOptions,
    printer: &Printer,
) -> ExitStatus {
    printer.set_format(Format::Json);
    // Messages may go to a file.
    printer.set_color(ColorWhen::Never);
    match argument {
        None | Some(METADATA) => {
            printer.line(format!("{:#}", metadata()));
            ExitStatus::Success
        }
        Some(name) => match ACTIONS.iter().find(|action| action.name == name) {
            Some(action) => answer(action, global, printer).await,
            None => printer.refuse(unknown(name)),
        },
    }
}

/// The metadata of this module, for the schema of the specification and for pxp-agent.
fn metadata() -> Json {
    json!({
        "description": "devgate: tasks, facts and desired state for devices that cannot run an agent",
        "configuration": derived::schema::<Configuration>(),
        "actions": ACTIONS.iter().map(ActionEntry::metadata).collect::<Vec<_>>(),
    })
}

fn unknown(argument: &str) -> Failure {
    let names = ACTIONS.map(|action| action.name).join(", ");
    let message = format!(
        "there is no action `{argument}`: this is devgate as a PXP module, expected one of its actions ({names}) or \
         `{METADATA}`; for the command line, start it as `devgate`"
    );
    Failure::new("devgate/unknown-action", message)
}

/// Reads a request, runs its action, and prints the results.
async fn answer(action: &ActionEntry, global: &GlobalOptions, printer: &Printer) -> ExitStatus {
    // From here on, no signal ends this process before it has answered.
    let mut listener = match SignalListener::listen() {
        Ok(listener) => listener,
        Err(error) => return printer.refuse(error.into()),
    };
    let (request, files) = match request::read(&mut listener).await {
        Ok(mut request) => {
            let files = request.output_files.take();
            (Ok(request), files)
        }
        Err(error) => (Err(error.failure), error.output_files),
    };
    // An action whose results could not be written is not started.
    let reply = match Reply::to(files, printer) {
        Ok(reply) => reply,
        Err(failure) => return reply::not_written(&failure, printer),
    };
    let done = async {
        match request {
            Ok(request) => act(action, request, global, printer).await,
            Err(failure) => refuse(failure, printer),
        }
    };
    let done = AssertUnwindSafe(done).catch_unwind().await;
    let (results, exit_status) = done.unwrap_or_else(|_| refuse(run::panicked(), printer));
    reply.end(results, exit_status, printer)
}

/// Runs the action of a request: its limited results, and its exit status.
async fn act(
    action: &ActionEntry,
    request: ActionRequest,
    global: &GlobalOptions,
    printer: &Printer,
) -> (Json, ExitStatus) {
    let configuration = match Configuration::read(request.configuration) {
        Ok(configuration) => configuration,
        Err(failure) => return refuse(failure, printer),
    };
    let done = work(action, request.input, &configuration, global, printer).await;
    let (results, exit_status) = done.unwrap_or_else(|error| refuse(error, printer));
    let (results, saved) = large::fit(results, configuration.limits.results);
    (results, large::exit_status(exit_status, &saved, printer))
}

/// Runs an action: its results and exit status.
async fn work(
    action: &ActionEntry,
    input: Map<String, Json>,
    configuration: &Configuration,
    global: &GlobalOptions,
    printer: &Printer,
) -> Result<(Json, ExitStatus), Failure> {
    let limits = &configuration.limits;
    signals::stop_after(limits.time, "configuration `limits.time`");
    let context = CommandContext::load(&configuration.apply_to(global), printer)?;
    let work = ActionContext {
        context: &context,
        limits,
    };
    action.act(input, &work).await
}

/// Prints why a request failed as a whole, perhaps because it was cancelled.
fn refuse(failure: Failure, printer: &Printer) -> (Json, ExitStatus) {
    let failure = match signals::stop_signal().map(signals::reason) {
        Some(late @ Reason::Deadline(_)) => Failure {
            msg: format!("{late}: {}", failure.msg),
            ..failure
        },
        Some(_) | None => failure,
    };
    printer.error(&failure.msg);
    let exit_status = signals::stop_signal().map_or(ExitStatus::Failure, ExitStatus::Interrupted);
    (failure.into_value(), exit_status)
}

#[cfg(test)]
mod tests {
    use devgate_schemas::pxp::Metadata;

    use super::*;

    /// The properties whose objects may have any keys, because their contents are defined elsewhere.
    const OPEN: [&str; 9] = [
        "details",
        "inventory",
        "manifest",
        "parameters",
        "is",
        "should",
        "seconds",
        "value",
        "resources",
    ];

    #[test]
    fn our_metadata_are_sound_for_the_document_and_for_the_agent() {
        let text = metadata().to_string();
        let read = Metadata::read(text.as_bytes()).expect("they are metadata");
        assert_eq!(read.remarks, Vec::<String>::new());
        assert!(read.configuration.is_some());
        let names: Vec<&str> = read
            .actions
            .iter()
            .map(|action| action.name.as_str())
            .collect();
        assert_eq!(
            names,
            ["run_task", "facts", "verify", "device_run", "resource_get"]
        );
        assert!(!text.contains("$ref") && !text.contains("$schema"));
    }

    #[test]
    fn our_schemas_are_closed_and_described_at_each_level() {
        let metadata = metadata();
        check_schema("configuration", &metadata["configuration"]);
        for action in metadata["actions"].as_array().expect("a list") {
            for key in ["input", "results"] {
                check_schema(key, &action[key]);
            }
        }
    }

    fn check_schema(name: &str, schema: &Json) {
        assert!(schema["description"].is_string(), "{name}: {schema}");
        if schema["type"] == "object" && schema["additionalProperties"] != false {
            assert!(OPEN.contains(&name), "{name}: {schema}");
        }
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            check_schema(name, schema);
        }
        if schema["items"].is_object() {
            check_schema(name, &schema["items"]);
        }
    }

    #[test]
    fn what_does_not_fit_is_reported_without_values() {
        let configuration =
            json!({"project": "canary", "limits": {"time": "canary"}, "inventori": 1});
        let error = Configuration::read(configuration.as_object().cloned());
        let error = error.err().expect("it does not fit").msg;
        for place in ["`/project`", "`/limits/time`", "inventori"] {
            assert!(error.contains(place), "{error}");
        }
        assert!(!error.contains("canary"), "{error}");
    }
}
