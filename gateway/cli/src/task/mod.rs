//! `devgate task`: the tasks of the module path, and running them.

mod run;
mod show;

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;

/// Show and run tasks.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  devgate task show\n  devgate task run net::ports -t routers")]
pub enum Task {
    /// List tasks, or show one
    Show(show::Show),
    /// Run a task on targets
    ///
    /// A remote task (`"remote": true` in its metadata) runs on the target's proxy, by default this node, and receives
    /// the target's connection info as `_target`. Give parameters as name=value, or as one JSON object with --params. A
    /// value is read as JSON if that fits the parameter's type.
    ///
    /// Ctrl-C once: no new target starts, and running tasks have 10 seconds to finish. Ctrl-C twice: running tasks are
    /// killed. Every target gets a result in any case.
    Run(Box<run::Run>),
}

impl Task {
    /// Whether it has one result per target.
    pub fn has_items(&self) -> bool {
        matches!(self, Self::Run(_))
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
        let catalogue = context.workspace.catalogue();
        match self {
            Self::Show(show) => show.run(&catalogue, context, printer),
            Self::Run(run) => run.run(&catalogue, context, printer).await,
        }
    }
}
