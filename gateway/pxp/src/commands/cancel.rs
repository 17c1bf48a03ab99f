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
    after_help = "Examples:\n  devgate pxp cancel change-4711 --spool-dir spool\n\nThe module and all its processes \
                  get SIGTERM. They are killed 15 seconds later, or when you run the command again. Changes that were \
                  made before stay. A finished action is not affected.\n\nExit codes: 0 the action was cancelled or \
                  had finished before, 1 it was not cancelled or is unknown."
)]
pub struct Cancel {
    /// Transaction ID
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    transaction: TransactionId,
    /// Folder of the transactions (default: $XDG_STATE_HOME/devgate/pxp/spool, in ~/.local/state)
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
            let before = if cancelled {
                ""
            } else {
                "nothing was cancelled: "
            };
            format!("{before}{}", status::as_text(&report))
        });
        Ok(if report.status.is_known() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        })
    }
}
