//! `devgate facts`: collects the facts of targets.

use std::time::Duration;

use clap::{ArgGroup, Args};
use devgate_core::failure::Failure;
use devgate_engine::operations::{self, Operation};
use devgate_front::arguments::duration;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;

use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;

/// Collect the facts of targets.
///
/// Facts have Facter's structured names (os.name, networking.hostname), the flat ones that device modules use
/// (operatingsystem, hostname), and a family's own under the family's name. A fact that cannot be read is omitted, and
/// reported on stderr.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "With --cached or --stale-ok, facts are saved in $XDG_CACHE_HOME/devgate/facts \
                  (~/.cache/devgate/facts), without secrets, and only your user can read them. Each result shows when \
                  its facts were collected: `collected` {at, age, from, because} in JSON.\n\nExamples:\n  devgate \
                  facts -t routers\n  devgate facts -t all --cached 1h\n  devgate facts -t all --stale-ok --format \
                  json"
)]
pub struct Facts {
    #[command(flatten)]
    targets: TargetOptions,
    /// Use cached facts that are not older than this time: 90, 90s, 5m, 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = duration)]
    cached: Option<Duration>,
    /// If a target is down, use its last facts, and mark them as stale
    ///
    /// A target that rejects the credentials, or shows another host key or certificate, is not down: it fails.
    #[arg(long)]
    stale_ok: bool,
}

impl Facts {
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
        let project = &context.workspace.project().root;
        let facts = operations::Facts::with_cache(self.cached, self.stale_ok, project);
        let facts = Operation::Facts(facts);
        let done = run_operation(context, chosen, self.targets.concurrency, facts, printer);
        Ok(exit_status(&done.await?.targets))
    }
}
