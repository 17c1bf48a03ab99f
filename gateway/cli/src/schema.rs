//! `devgate schema`: checks values against Puppet data types, and prints JSON Schemas of files and documents.

use std::io;

use clap::{Subcommand, ValueEnum};
use devgate_core::failure::{ErrorContext, Failure};
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_schemas::{derived, json_document, pxp, task, types};
use devgate_transports::reading;
use serde_json::Value as Json;

/// Check values against Puppet data types; print the JSON Schemas of files and documents
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Example:\n  echo '{\"type\": \"Integer[0, 10]\", \"value\": 11}' | devgate schema check"
)]
pub enum Schema {
    /// Read test cases as JSON lines on stdin, and print one line for each
    ///
    /// A case is {"type": "Integer[0, 10]", "value": 11}. The answer is {"canonical": "...", "ok": true or false,
    /// "mismatch": "..."}, or {"error": "..."}, with Puppet's messages. For values that JSON does not have: a string
    /// ":word" is a Ruby symbol, and a key that is an integer is an Integer.
    #[command(
        after_help = "Example:\n  echo '{\"type\": \"Integer[0, 10]\", \"value\": 11}' | devgate \
                            schema check"
    )]
    Check,
    /// Print the JSON Schema of a file or document, for editors, forms and validators
    ///
    /// Rules that JSON Schema cannot express are in the descriptions. For transports, use `devgate transport show NAME
    /// --json-schema`; for actions of a module, `devgate pxp serve`.
    #[command(after_help = "Example:\n  devgate schema export task > task.json")]
    Export {
        /// What to describe
        what: Document,
    },
}

/// A file or document with a JSON Schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Document {
    /// The metadata of a task, TASK.json
    Task,
    /// An error: `_error` in results
    Error,
    /// The metadata of a PXP module
    PxpMetadata,
    /// A request that a PXP module reads on stdin
    PxpRequest,
}

impl Schema {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub fn run(self, printer: &Printer) -> Result<ExitStatus, Failure> {
        if let Self::Export { what } = self {
            printer.text(&format!("{:#}\n", what.json_schema()));
            return Ok(ExitStatus::Success);
        }
        for line in reading::lines(io::stdin().lock()) {
            let line = line.context("cannot read stdin")?;
            if !line.trim().is_empty() {
                printer.line(types::verdict(&line).to_string());
            }
        }
        Ok(ExitStatus::Success)
    }
}

impl Document {
    fn json_schema(self) -> Json {
        match self {
            Self::Task => task::Metadata::json_schema(),
            Self::Error => json_document("_error", derived::schema::<Failure>()),
            Self::PxpMetadata => pxp::Metadata::json_schema(),
            Self::PxpRequest => pxp::ActionRequest::json_schema(),
        }
    }
}
