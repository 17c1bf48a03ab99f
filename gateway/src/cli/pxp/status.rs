//! `devgate pxp status`: what became of a non-blocking action.

use std::path::PathBuf;

use clap::Args;
use devgate_schemas::Level;
use serde_json::Value as Json;

use crate::cli::Ending;
use crate::output::Output;
use crate::pxp::spool::{Report, Spool, TransactionId};
use crate::voice::Voice;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp status change-4711 --spool-dir spool\n  devgate pxp status change-4711 \
                  --spool-dir spool --format json | jq .results\n\nExit codes: 0 the action is running, or was a \
                  success; 1 it was a failure, or nobody knows."
)]
pub(in crate::cli) struct Status {
    #[command(flatten)]
    of: Of,
}

/// Which transaction is meant.
#[derive(Args, Debug)]
pub(super) struct Of {
    /// The transaction's id
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub(super) transaction: TransactionId,
    /// The folder of the transactions
    #[arg(long, value_name = "DIR")]
    pub(super) spool_dir: PathBuf,
}

impl Status {
    pub(super) async fn run(self, voice: &Voice, output: &Output) -> anyhow::Result<Ending> {
        let spool = Spool::open(&self.of.spool_dir)?;
        let report = spool.transaction(self.of.transaction).report().await;
        // What a module says of its failure is read by whoever asks for no more than that.
        let level = if report.status.is_good() {
            Level::Info
        } else {
            Level::Notice
        };
        for line in report.stderr.iter().flat_map(|stderr| stderr.lines()) {
            voice.say(level, &format!("stderr: {line}"));
        }
        output.document(&report, || as_text(&report));
        Ok(if report.status.is_good() {
            Ending::Well
        } else {
            Ending::Badly
        })
    }
}

/// A line, then the results.
pub(super) fn as_text(report: &Report) -> String {
    let mut text = format!("{}: {}", report.transaction_id, report.status);
    if let (Some(module), Some(action)) = (&report.module, &report.action) {
        text.push_str(&format!(" ({module} {action})"));
    }
    if let Some(error) = &report.error {
        text.push_str(&format!(": {error}"));
    }
    text.push('\n');
    if let Some(results) = report
        .results
        .as_ref()
        .filter(|results| **results != Json::Null)
    {
        text.push_str(&format!("{results:#}\n"));
    }
    text
}
