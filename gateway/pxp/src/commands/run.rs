//! `devgate pxp run`: one action of a module.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use devgate_core::cancel::CancelToken;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_engine::process;
use devgate_front::arguments::{duration, read_argument};
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::printer::Printer;
use devgate_schemas::task::Exit;
use devgate_schemas::{Level, Mask, Sensitive, read_unique};
use serde_json::{Value as Json, json};

use crate::commands::folders::Folders;
use crate::commands::nonblocking::{Nonblocking, TransactionRequest, repeated};
use crate::host::{Call, Verdict};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp run reverse string --modules-dir modules --input '{\"argument\": \
                  \"maradona\"}'\n  devgate pxp run reverse string --modules-dir modules --config-dir modules.d \
                  --input @input.json --format json\n\nAll users of this node can read command lines: pass input with \
                  secrets in a file or on stdin.\n\nExit codes: 0 the action ended with 0 and its results match their \
                  schema, 1 otherwise."
)]
pub struct Run {
    /// Name of the module: the name of its file
    module: String,
    /// Name of the action
    action: String,
    #[command(flatten)]
    folders: Folders,
    /// Input as a JSON object; @FILE reads it from a file, - from stdin
    #[arg(long, value_name = "JSON", default_value = NO_INPUT)]
    input: String,
    /// Time limit of the action: 90, 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1h")]
    timeout: Duration,
    #[command(flatten)]
    nonblocking: Nonblocking,
}

/// The default input.
const NO_INPUT: &str = "{}";

impl Run {
    pub(super) async fn run(
        self,
        logger: &Logger,
        printer: &Printer,
        stop: &CancelToken,
    ) -> Result<ExitStatus, Failure> {
        if !self.input.starts_with(['-', '@']) && self.input != NO_INPUT {
            hide_input(&self.input)?;
        }
        let transaction_request = self.nonblocking.transaction_request()?;
        if let Some(existing) = transaction_request
            .as_ref()
            .and_then(TransactionRequest::existing)
        {
            let requested = [self.module.as_str(), self.action.as_str()];
            return repeated(&existing, requested, printer).await;
        }
        let input = input(&read_argument("--input", &self.input)?)?;
        let module = self.folders.open()?.load(&self.module, stop).await?;
        for remark in &module.remarks {
            logger.log(Level::Info, &format!("module {}: {remark}", module.name));
        }
        let call = Call::new(module, &self.action, input)?;
        if let Some(transaction_request) = transaction_request {
            return transaction_request
                .start(&call, self.timeout, logger, printer)
                .await;
        }
        let mask = call.mask();
        let verdict = call.run(self.timeout, stop).await;
        // The stderr of a failed action is logged at the default level, that of a success at `info`.
        let level = if verdict.is_success() {
            Level::Info
        } else {
            Level::Notice
        };
        for line in verdict.stderr.lines() {
            logger.log(level, &format!("stderr: {}", mask.text(line)));
        }
        Ok(print(&call, verdict, &mask, printer))
    }
}

/// Prints the result of the action.
fn print(call: &Call, verdict: Verdict, mask: &Mask, printer: &Printer) -> ExitStatus {
    let is_success = verdict.is_success();
    let mut answer = json!({
        "module": call.module().name,
        "action": call.action().name,
        "status": if is_success { "success" } else { "failure" },
        "exitcode": verdict.exit.map(Exit::code),
        "results": verdict.results,
        "stderr": verdict.stderr,
    });
    if let Some(error) = &verdict.error {
        answer["_error"] = json!(error);
        let label = format!(
            "module {}, action {}",
            call.module().name,
            call.action().name
        );
        printer.error(&mask.text(&format!("{label}: {error}")));
    }
    let answer = mask.json(answer);
    printer.document(&answer, || match &answer["results"] {
        Json::Null => String::new(),
        results => format!("{results:#}\n"),
    });
    if is_success {
        ExitStatus::Success
    } else {
        ExitStatus::Failure
    }
}

/// Removes the input from the command line, which all users of this node can read: this process executes itself again,
/// and reads the input from stdin.
fn hide_input(input: &str) -> Result<(), Failure> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let joined = format!("--input={input}");
    for at in 0..words.len() {
        if words[at] == *joined {
            words[at] = "--input=-".into();
        } else if at > 0 && words[at - 1] == "--input" && words[at] == *input {
            words[at] = "-".into();
        }
    }
    let stdin = Sensitive::new(input.as_bytes().to_vec());
    process::reexec(&words, &stdin)
        .context("--input cannot be removed from the command line: use --input @FILE")
}

/// The given input. It is not quoted in errors, because it may contain secrets.
fn input(text: &str) -> Result<Json, Failure> {
    read_unique(text.as_bytes()).map_err(|error| {
        let message = format!("--input: expected a JSON object: {error}");
        Failure::new("devgate/invalid-input", message)
    })
}
