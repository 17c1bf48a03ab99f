//! `devgate family lint`: what the files of families say without effect, and what they leave open.

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use serde_json::{Value as Json, json};

use super::declared::declared_families;
use crate::complete;

/// Find what the files of families say without effect, and what they leave open
///
/// Finds keys without effect, values and files that nothing uses, attributes that nothing reads or writes, types without
/// cases, examples or descriptions, and, with the values of cases and examples, canonical forms that are not stable and
/// empty values that clear nothing. A comment `# lint: RULE` in the same line, or in the line above, permits a finding.
/// With findings, the exit code is 1.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate family lint\n  devgate family lint acme\n  devgate family lint acme --format json"
)]
pub struct Lint {
    /// Families to look at
    #[arg(add = complete::families())]
    names: Vec<String>,
}

impl Lint {
    pub(super) async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let families = declared_families(context, &self.names).await?;
        let mut findings: Vec<Json> = Vec::new();
        let mut text = String::new();
        for family in &families {
            for finding in family.lint()? {
                let location = &finding.problem.location;
                text.push_str(&format!("{} [{}]\n", finding.problem, finding.rule));
                findings.push(json!({
                    "family": family.name(), "rule": finding.rule, "file": *location.file, "line": location.line,
                    "column": location.column, "key": location.key, "message": finding.problem.message,
                }));
            }
        }
        let summary = match findings.len() {
            1 => "1 finding".to_owned(),
            number => format!("{number} findings"),
        };
        let families: Vec<&str> = families.iter().map(|family| family.name()).collect();
        let document = json!({ "families": families, "findings": findings });
        printer.document(&document, || format!("{text}{summary}\n"));
        Ok(if findings.is_empty() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        })
    }
}
