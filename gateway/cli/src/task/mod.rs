//! `devgate task`: the tasks of the module path, and running them.

mod run;
mod show;

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;

/// Look at tasks, and run them.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  devgate task show\n  devgate task run net::ports -t routers")]
pub enum Task {
    /// Name every task, or show one
    Show(show::Show),
    /// Run a task on targets
    ///
    /// A remote task (`"remote": true` in its metadata) runs on the target's proxy, this node by
    /// default, with the target's connection info as `_target`. Parameters are name=value words, each
    /// JSON where it fits the parameter's type, or one JSON object with --params.
    ///
    /// Ctrl-C once: nothing new begins, and what runs may end within 10 seconds. Twice: what runs is
    /// killed. Every target has a result in any case.
    Run(Box<run::Run>),
}

impl Task {
    /// Whether its results are those of targets, one item each.
    pub fn has_items(&self) -> bool {
        matches!(self, Self::Run(_))
    }

    /// Carries it out: prints results, and gives the exit status.
    ///
    /// # Errors
    /// Why it could not be carried out at all.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let catalogue = context.workspace.catalogue();
        match self {
            Self::Show(show) => show.run(&catalogue, context, printer),
            Self::Run(run) => run.run(&catalogue, context, printer).await,
        }
    }
}
