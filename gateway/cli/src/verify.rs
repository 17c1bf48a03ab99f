//! `devgate verify`: tests connections and credentials.

use clap::{ArgGroup, Args};
use devgate_core::failure::Failure;
use devgate_engine::operations::{self, Operation};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;

use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;

/// Test that targets can be reached and that their credentials are accepted.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "Examples:\n  devgate verify -t r1\n  devgate verify -t routers,'sw[1-9]'\n  devgate verify -t all \
                  --format jsonl\n  devgate verify -t sw1 --hops\n  devgate verify -t sw1 --direct\n\n--direct connects to sw1 from this node, even \
                  if it has a proxy (`run-on`)."
)]
pub struct Verify {
    #[command(flatten)]
    targets: TargetOptions,
    /// Show the way to each target, hop by hop: jump hosts, proxies, device. If it fails, show where
    #[arg(long)]
    hops: bool,
}

impl Verify {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let chosen = self.targets.select(context).await?;
        let concurrency = self.targets.concurrency;
        let verify = operations::Verify { hops: self.hops };
        let operation = Operation::Verify(verify);
        let done = run_operation(context, chosen, concurrency, operation, printer);
        Ok(exit_status(&done.await?.targets))
    }
}
