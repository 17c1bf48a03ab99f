//! `devgate pxp attend`: the process that starts a non-blocking action and waits for its end. It is hidden:
//! `devgate pxp run --nonblocking` starts it.

use std::io;
use std::path::PathBuf;

use clap::Args;
use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_engine::process;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;

use crate::host::spool::{self, Handover, Transaction};

#[derive(Args, Debug)]
pub struct Attend {
    /// The folder of the transaction
    folder: PathBuf,
}

impl Attend {
    /// Prints a line of JSON: `null` when the module was started, else the error.
    pub(super) async fn run(self, printer: &Printer, stop: &CancelToken) -> ExitStatus {
        match self.attend(printer, stop).await {
            Ok(()) => ExitStatus::Success,
            Err(failure) => {
                // After the module was started, nobody reads this.
                let failure = serde_json::to_string(&failure).expect("a failure has text keys");
                printer.line(failure);
                ExitStatus::Failure
            }
        }
    }

    async fn attend(self, printer: &Printer, stop: &CancelToken) -> Result<(), Failure> {
        let refused = |problem: String| Failure::new("devgate/not-started", problem);
        process::begin_session().map_err(|error| refused(format!("no new session: {error}")))?;
        let transaction = Transaction::at(self.folder)?;
        let handover = || Handover::read(io::stdin().lock());
        spool::attend(&transaction, handover, stop, || printer.line("null")).await
    }
}
