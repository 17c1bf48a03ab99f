//! `devgate pxp cancel`: ends a non-blocking action.

use std::path::PathBuf;

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use serde_json::json;

use crate::commands::status;
use crate::host::spool::{self, Spool, TransactionId};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp cancel change-4711 --spool-dir spool\n\nThe module is asked to end \
                  (SIGTERM) with all that it has started, and killed 15 seconds later, or when this is called again. \
                  What it had done by then stands. What has ended stays as it is.\n\nExit codes: 0 the action was ended, or had ended \
                  before; 1 it was not, or nobody knows of it."
)]
pub struct Cancel {
    /// The transaction's id
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    transaction: TransactionId,
    /// The folder of the transactions (default: $XDG_STATE_HOME/devgate/pxp/spool, in ~/.local/state)
    #[arg(long, value_name = "DIR")]
    spool_dir: Option<PathBuf>,
}

impl Cancel {
    pub(super) async fn run(self, printer: &Printer) -> Result<ExitStatus, Failure> {
        let spool = Spool::open(&spool::folder(self.spool_dir)?)?;
        let transaction = spool.transaction(self.transaction);
        let cancelled = transaction.cancel().await?;
        let report = transaction.report().await;
        let mut answer = json!(report);
        answer["cancelled"] = json!(cancelled);
        printer.document(&answer, || {
            let before = if cancelled { "" } else { "nothing was ended: " };
            format!("{before}{}", status::as_text(&report))
        });
        Ok(if report.status.is_known() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        })
    }
}
