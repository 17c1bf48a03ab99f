//! `devgate schema check`: values against Puppet data types.

use std::io::{self, BufRead};

use clap::Subcommand;
use devgate_schemas::types;

use super::Ending;
use crate::output::Output;

/// Check values against Puppet data types.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Example:\n  echo '{\"type\": \"Integer[0, 10]\", \"value\": 11}' | devgate schema check"
)]
pub(super) enum Schema {
    /// Read cases as JSON lines on stdin, answer each with a line
    ///
    /// A case is {"type": "Integer[0, 10]", "value": 11}. The answer is {"canonical": "...", "ok":
    /// true or false, "mismatch": "..."}, or {"error": "..."}, in Puppet's words. What JSON cannot
    /// write: a text ":word" is a Ruby symbol, a key that is a whole number is an Integer.
    #[command(
        after_help = "Example:\n  echo '{\"type\": \"Integer[0, 10]\", \"value\": 11}' | devgate \
                            schema check"
    )]
    Check,
}

impl Schema {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<Ending> {
        let Self::Check = self;
        for line in io::stdin().lock().lines() {
            let line = line?;
            if !line.trim().is_empty() {
                output.line(types::verdict(&line).to_string());
            }
        }
        Ok(Ending::Well)
    }
}
