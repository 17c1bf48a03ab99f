//! `devgate practice`: a practice switch for a person.

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_practice::{PracticeArgs, serve};

/// Run a practice switch to try commands on, or replay a recorded device
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate practice\n  devgate practice --port 0 --hostname sw1\n  devgate practice --replay recorded/r1"
)]
pub(super) struct Practice {
    #[command(flatten)]
    args: PracticeArgs,
}

impl Practice {
    pub(super) async fn run(self, printer: &Printer) -> Result<ExitStatus, Failure> {
        serve(self.args, &mut printer.writer()).await?;
        Ok(ExitStatus::Success)
    }
}
