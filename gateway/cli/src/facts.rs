//! `devgate facts`: collects the facts of targets, or parses recorded outputs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Subcommand};
use devgate_core::failure::Failure;
use devgate_engine::operations::{self, Operation};
use devgate_front::arguments::duration;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;
use devgate_schemas::Level;

use crate::complete;
use crate::family::declared::declared;
use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;

/// Collect the facts of targets.
///
/// Facts have Facter's structured names (os.name, networking.hostname), the flat ones that device modules use
/// (operatingsystem, hostname), and a family's own under the family's name. A fact that cannot be read is omitted, and
/// reported on stderr.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "With --cached or --stale-ok, facts are saved in $XDG_CACHE_HOME/devgate/facts \
                  (~/.cache/devgate/facts), without secrets, and only your user can read them. Each result shows when \
                  its facts were collected: `collected` {at, age, from, because} in JSON.\n\nExamples:\n  devgate \
                  facts -t routers\n  devgate facts -t all --cached 1h\n  devgate facts -t all --stale-ok --format \
                  json\n  devgate facts parse frr recorded"
)]
pub struct Facts {
    #[command(subcommand)]
    offline: Option<Offline>,
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

/// What needs no device.
#[derive(Debug, Subcommand)]
enum Offline {
    /// Print the facts in recorded outputs, without a device
    ///
    /// Each file has the output of one command or query, and its name: `show version.txt` or `show_version.log` for `show
    /// version`. `_` stands for blanks and for each character that a file name cannot have, and the extension does not
    /// matter. Facts of outputs that are not there are left out. `devgate family show FAMILY` lists the commands.
    #[command(
        after_help = "Examples:\n  devgate facts parse frr recorded\n  devgate facts parse ietf outputs --format json"
    )]
    Parse {
        /// The family of the device
        #[arg(add = complete::families())]
        family: String,
        /// The folder with the outputs
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

impl Facts {
    /// Whether it has one result per target.
    pub fn has_items(&self) -> bool {
        self.offline.is_none()
    }

    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        if let Some(Offline::Parse { family, folder }) = &self.offline {
            context.read_schema(family).await?;
            let family = declared(context, family)?;
            let report = |message: String| context.logger.log(Level::Warning, &message);
            let facts = family.facts_in(folder, report)?;
            printer.document(&facts, || {
                serde_json::to_string_pretty(&facts).expect("facts have text keys") + "\n"
            });
            return Ok(ExitStatus::Success);
        }
        let chosen = self.targets.select(context).await?;
        let project = &context.workspace.project().root;
        let facts = operations::Facts::with_cache(self.cached, self.stale_ok, project);
        let facts = Operation::Facts(facts);
        let done = run_operation(context, chosen, self.targets.concurrency, facts, printer);
        Ok(exit_status(&done.await?.targets))
    }
}
