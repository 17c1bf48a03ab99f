//! `devgate task run`: one task on many targets.

use std::time::Duration;

use clap::{ArgGroup, Args};
use devgate_core::failure::Failure;
use devgate_core::results::Status;
use devgate_engine::operations::{Operation, TaskOperation};
use devgate_engine::tasks::{Catalogue, Parameters, Task, given_parameters};
use devgate_engine::workspace::no_target;
use devgate_front::arguments::{duration, read_argument};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;
use devgate_schemas::Level;
use devgate_transports::Mode;

use crate::complete;
use crate::rerun::{Rerun, RerunFile};
use crate::targets::{HostOptions, TargetOptions, words};
use crate::terminal_view::run_operation;

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets", "rerun"]))]
#[command(
    after_help = "Examples:\n  devgate task run facts::collect -t routers\n  devgate task run vlan::add -t \
                        'switch[1-3],lab' id=30 name=guests\n  devgate task run vlan::add -t @switches.txt --params \
                        @vlan.json --noop\n  devgate task run vlan::add --rerun failure id=30\n  devgate task run \
                        slow::check -t all --timeout 5m --stream\n  devgate task run vlan::add -t switch1 id=30 \
                        --explain\n  devgate task run facts::collect -t all --format jsonl | jq -r \
                        .target\n\nFormats: human; json is one document, written as results arrive, and complete even \
                        if the run is interrupted (then with _error); jsonl is one result per line.\n\nExit codes: 0 \
                        success, 1 a target failed or the request was invalid, 130 interrupted by Ctrl-C (143 by \
                        SIGTERM, 129 by SIGHUP)."
)]
pub struct Run {
    /// Name of the task
    #[arg(add = complete::tasks())]
    name: String,
    /// Parameters: name=value
    #[arg(value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    /// Run on targets of the last run, selected by their results
    #[arg(long, value_name = "WHICH")]
    rerun: Option<Rerun>,
    /// Do not save this run for --rerun
    #[arg(long, overrides_with = "save_rerun")]
    no_save_rerun: bool,
    #[arg(long, hide = true, overrides_with = "no_save_rerun")]
    save_rerun: bool,
    /// Parameters as a JSON object; @FILE reads it from a file, - from stdin
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// Run the task in noop mode, which changes nothing; the task must support it
    #[arg(long)]
    noop: bool,
    /// Time limit of the task on each target: 90, 90s, 5m, 1h (default: from the inventory)
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Show what would run, where and with which parameters, without running it
    ///
    /// No connection is opened. Plugins of the inventory run.
    #[arg(long)]
    explain: bool,
    /// Show the output of the task while it runs
    #[arg(long)]
    stream: bool,
    #[command(flatten)]
    targets: TargetOptions,
    #[command(flatten)]
    host: HostOptions,
}

impl Run {
    pub(super) async fn run(
        self,
        catalogue: &Catalogue,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let task = catalogue.find(&self.name)?;
        let parameters = self.parameters(&task)?;
        let overrides = self.targets.overrides(Some(&self.host)).await?;
        let rerunfile = context
            .workspace
            .project()
            .rerunfile
            .clone()
            .map(RerunFile::new);
        let words = match (self.rerun, &rerunfile) {
            (None, _) => words(&self.targets.targets)?,
            (Some(filter), Some(file)) => file.targets(filter)?,
            (Some(_), None) => {
                return Err(Failure::other(
                    "there is no run to repeat: this folder is not a project",
                ));
            }
        };
        let inventory = context.inventory().await?;
        let chosen = context.choose(inventory, &words, &overrides).await?;
        if chosen.targets.is_empty() {
            let why = match (self.rerun, &rerunfile) {
                (Some(filter), Some(file)) => file.no_targets_message(filter),
                _ => no_target(&chosen.inventory, &words),
            };
            context.nothing_to_do(self.targets.allow_empty, &why)?;
        }
        let order = TaskOperation {
            task,
            parameters,
            mode: if self.noop { Mode::Noop } else { Mode::Enforce },
            timeout: self.timeout,
            explain: self.explain,
            stream: self.stream || context.workspace.project().stream,
        };
        let (concurrency, order) = (self.targets.concurrency, Operation::Task(Box::new(order)));
        let done = run_operation(context, chosen, concurrency, order, printer).await?;
        if let Some(file) = rerunfile.filter(|_| !self.explain) {
            self.save_rerun_file(context, &file, &done.targets.statuses);
        }
        Ok(exit_status(&done.targets))
    }

    fn parameters(&self, task: &Task) -> Result<Parameters, Failure> {
        let reads_stdin = self.targets.targets.iter().any(|word| word == "-");
        if reads_stdin && self.params.as_deref() == Some("-") {
            return Err(Failure::other(
                "--targets - and --params - cannot both be read from stdin: use @FILE for one of them",
            ));
        }
        let json = self
            .params
            .as_deref()
            .map(|text| read_argument("--params", text))
            .transpose()?;
        let values = given_parameters(&self.parameters, json.as_deref(), &task.metadata)?;
        Ok(task.parameters(values)?)
    }

    /// Saves the run for --rerun. If that fails, the result of the run does not change.
    fn save_rerun_file(
        &self,
        context: &CommandContext,
        file: &RerunFile,
        statuses: &[(String, Status)],
    ) {
        let is_requested = self.save_rerun || context.workspace.project().save_rerun;
        if self.no_save_rerun || !is_requested {
            return;
        }
        if let Err(error) = file.save(statuses) {
            let path = file.path().display();
            let message = format!("the run was not saved for --rerun: {path}: {error}");
            context.logger.log(Level::Warning, &message);
        }
    }
}
