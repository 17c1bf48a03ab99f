//! `devgate pxp status`: shows the status of nonblocking actions.

use std::path::PathBuf;

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::printer::{self, Printer};
use devgate_schemas::Level;
use serde_json::json;

use crate::host::spool::{self, Spool, TransactionId, TransactionReport};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp status --spool-dir spool\n  devgate pxp status change-4711 --spool-dir \
                  spool\n  devgate pxp status change-4711 --spool-dir spool --format json | jq .results\n\nExit \
                  codes: 0 the action is running or succeeded, 1 it failed or its status is unknown."
)]
pub struct Status {
    /// Transaction ID (default: all, without their output)
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    transaction: Option<TransactionId>,
    /// Folder of the transactions (default: $XDG_STATE_HOME/devgate/pxp/spool, in ~/.local/state)
    #[arg(long, value_name = "DIR")]
    spool_dir: Option<PathBuf>,
}

impl Status {
    pub(super) async fn run(
        self,
        logger: &Logger,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let spool = Spool::open(&spool::folder(self.spool_dir)?)?;
        let Some(id) = self.transaction else {
            return all(&spool, printer).await;
        };
        let report = spool.transaction(id).report().await;
        // The stderr of a failed action is logged at the default level, that of a success at `info`.
        let level = if report.status.is_good() {
            Level::Info
        } else {
            Level::Notice
        };
        let stderr = report
            .details
            .as_ref()
            .and_then(|details| details.stderr.as_deref());
        for line in stderr.unwrap_or_default().lines() {
            logger.log(level, &format!("stderr: {line}"));
        }
        printer.document(&report, || as_text(&report));
        Ok(if report.status.is_good() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        })
    }
}

/// Lists all transactions in the order of their start.
async fn all(spool: &Spool, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut reports = Vec::new();
    for transaction in spool.all()? {
        reports.push(transaction.summary().await);
    }
    reports.sort_by_key(|report| report.details.as_ref().map(|details| details.start.clone()));
    printer.page(&json!({ "transactions": reports }), || {
        let rows: Vec<[String; 5]> = reports.iter().map(as_row).collect();
        printer::table(&rows)
    });
    Ok(ExitStatus::Success)
}

fn as_row(report: &TransactionReport) -> [String; 5] {
    let [module, action, start] = match &report.details {
        Some(details) => [&details.module, &details.action, &details.start].map(String::as_str),
        None => ["-"; 3],
    };
    // In a list, seconds are precise enough.
    let start = start.split('.').next().unwrap_or_default();
    [
        report.transaction_id.to_string(),
        report.status.to_string(),
        module.to_owned(),
        action.to_owned(),
        start.replace('T', " "),
    ]
}

/// One line, then the results.
pub(super) fn as_text(report: &TransactionReport) -> String {
    let mut text = format!("{}: {}", report.transaction_id, report.status);
    if let Some(details) = &report.details {
        text.push_str(&format!(" ({} {})", details.module, details.action));
        if let (Some(why), spool::TransactionStatus::Running) = (details.ending, report.status) {
            text.push_str(&format!(", is being ended ({why})"));
        }
    }
    if let Some(error) = &report.error {
        text.push_str(&format!(": {error}"));
    }
    text.push('\n');
    let results = report
        .details
        .as_ref()
        .and_then(|details| details.results.as_ref());
    if let Some(results) = results.filter(|results| !results.is_null()) {
        text.push_str(&format!("{results:#}\n"));
    }
    text
}
