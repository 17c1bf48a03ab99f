//! `devgate device`: device runs, after `puppet device`.

mod exit;
mod puppet;
mod report;

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};
use devgate_core::failure::Failure;
use devgate_engine::device_run::{Options, Strict};
use devgate_engine::manifest::Manifest;
use devgate_engine::operations::{self, Apply, Inspect, Operation, Rollback, Splay};
use devgate_engine::project::Format;
use devgate_engine::session::BusyPolicy;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::logdest::LogDest;
use devgate_front::options::{GlobalOptions, LogLevel};
use devgate_front::printer::Printer;
use devgate_schemas::Level;
use devgate_transports::Mode;

use crate::complete;
use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;

/// Bring devices to a desired state, or show their resources and facts.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("what").required(true).args(["apply", "facts", "resource"]))]
#[command(mut_arg("user_of_device", |user| user.long("login")))]
#[command(
    after_help = "Example manifest, routes.yaml:\n  frr_static_route:\n    10.9.0.0/16 via \
                        Null0:\n      distance: 20\n\nExamples:\n  devgate device --target r1 \
                        --apply routes.yaml --noop\n  devgate device --target r1 --resource \
                        frr_interface swp1\n  devgate device --target r1 --resource frr_interface \
                        > interfaces.pp"
)]
pub struct Device {
    #[command(flatten)]
    targets: TargetOptions,
    /// Apply a manifest (YAML, JSON or .pp) or a compiled catalog to the device
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,
    /// Show a preview of the changes, and change nothing
    #[arg(long, conflicts_with_all = ["facts", "resource"])]
    noop: bool,
    /// With --apply: only resources with one of these tags; types and titles are tags too
    #[arg(
        long,
        value_name = "TAG,...",
        value_delimiter = ',', conflicts_with_all = ["facts", "resource"]
    )]
    tags: Vec<String>,
    /// With --apply: show each change as lines that are sent to the device, or as attributes
    #[arg(long, conflicts_with_all = ["facts", "resource"])]
    diff: bool,
    /// With --apply and --resource: how to handle data of a device that does not match its type
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value_t,
        conflicts_with = "facts"
    )]
    rows: Rows,
    /// With --apply: when to roll back the changes on a device
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t, conflicts_with_all = ["facts", "resource"]
    )]
    rollback: Rollback,
    /// With --apply: what to do while another run is changing the device: `wait`, `wait=SECONDS` (default: 300), or
    /// `refuse`
    #[arg(
        long,
        value_name = "HOW",
        default_value = "wait",
        conflicts_with_all = ["facts", "resource"]
    )]
    busy: BusyPolicy,
    /// Spread the start of devices over this time; a device has the same delay in each run
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0,
        hide_default_value = true,
        conflicts_with = "facts"
    )]
    splay: u32,
    #[command(flatten)]
    report: report::ReportOptions,
    #[command(flatten)]
    exit_codes: exit::ExitCodes,
    /// Print the device's facts
    #[arg(short, long)]
    facts: bool,
    /// Print the device's resources of a type, or one of them, as a .pp manifest
    #[arg(short, long)]
    resource: bool,
    /// Resource type, and title of one resource
    #[arg(value_names = ["TYPE", "TITLE"], num_args = 1..=2, requires = "resource", add = complete::types())]
    words: Vec<String>,
    /// With --resource: print a YAML manifest
    #[arg(
        short = 'y',
        long = "to_yaml",
        visible_alias = "to-yaml",
        requires = "resource"
    )]
    to_yaml: bool,
    /// Where to write messages, separated by commas: `console` (stderr), `syslog`, or the path of a file (text, or JSON
    /// if it ends with .json or .jsonl); without `console`, none go to the terminal
    #[arg(short, long, value_name = "PLACE,...", value_delimiter = ',')]
    logdest: Vec<LogDest>,
    /// Log everything, like --log-level debug
    #[arg(short, long)]
    debug: bool,
    /// Search Ruby code in DIR/puppet/{type,provider,transport} first, then in the modules
    #[arg(long, value_name = "DIR")]
    libdir: Option<PathBuf>,
    #[command(flatten)]
    puppet: puppet::PuppetOptions,
}

/// How to handle data of a provider that does not match its type (Puppet's setting `strict`).
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Rows {
    /// Log it at level `debug`
    Off,
    /// Log a warning, and use the data
    Warning,
    /// Fail the resource; --resource shows the others
    #[default]
    Error,
}

impl From<Rows> for Strict {
    fn from(rows: Rows) -> Self {
        match rows {
            Rows::Off => Self::Off,
            Rows::Warning => Self::Warning,
            Rows::Error => Self::Error,
        }
    }
}

impl Device {
    /// The global options, with those that this command adds.
    pub fn global(&self, global: &GlobalOptions) -> GlobalOptions {
        let mut global = global.clone();
        if self.debug {
            global.log_level.get_or_insert(LogLevel::Debug);
        }
        global.libdir.clone_from(&self.libdir);
        global
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
        self.puppet.switch_user()?;
        if !self.logdest.is_empty() {
            let opened = context.logger.log_to(&self.logdest);
            opened.map_err(|message| usage_error(&message))?;
        }
        let exit_status = self.run_logged(context, printer).await?;
        Ok(match context.logger.has_lost_lines() {
            true => exit::with_lost_log(exit_status),
            false => exit_status,
        })
    }

    /// Runs the command with its log destinations.
    async fn run_logged(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        if self.resource && self.words.is_empty() {
            return Err(usage_error("You must specify the type to display"));
        }
        let Some(chosen) = self.targets.select_or_devices(context).await? else {
            let message = match self.apply {
                Some(_) => "missing argument: --target is required when using --apply",
                None if self.facts => "facts command requires target",
                None => "resource command requires target",
            };
            let bare = self.words.first().filter(|_| !self.resource);
            let hint = bare.map_or_else(String::new, |word| {
                format!("; name targets with -t: `devgate device -t {word}`")
            });
            return Err(usage_error(&format!(
                "{message}, or a device.conf with devices{hint}"
            )));
        };
        if let Some(word) = self.words.first().filter(|_| !self.resource) {
            return Err(usage_error(&format!(
                "unexpected argument `{word}`: only --resource takes a type and a title, and --apply takes one file; \
                 nothing was done"
            )));
        }
        let (count, concurrency) = (chosen.targets.len(), self.targets.concurrency);
        let run_operation =
            async |operation| run_operation(context, chosen, concurrency, operation, printer).await;
        let splay = Splay::at_most(self.splay);
        if let Some(manifest) = self.apply {
            let apply = Apply {
                manifest: Manifest::File(manifest),
                options: Options {
                    mode: if self.noop { Mode::Noop } else { Mode::Enforce },
                    tags: self.tags,
                    strict: self.rows.into(),
                },
                allow_empty: self.targets.allow_empty,
                rollback: self.rollback,
                diff: self.diff,
                busy: self.busy,
                splay,
                reports: self.report.reports(),
                project: context.workspace.project().root.clone(),
            };
            let done = run_operation(Operation::Apply(apply)).await?;
            return Ok(self.exit_codes.exit_status(&done.targets, done.changes));
        }
        let [type_name, title @ ..] = self.words.as_slice() else {
            let facts = Operation::Facts(operations::Facts::default());
            return Ok(exit_status(&run_operation(facts).await?.targets));
        };
        let inspect = Inspect {
            type_name: type_name.clone(),
            title: title.first().cloned(),
            as_yaml: self.to_yaml,
            strict: self.rows.into(),
            splay,
        };
        let done = run_operation(Operation::Inspect(inspect)).await?;
        let is_for_a_file = printer.format() == Format::Human && !io::stdout().is_terminal();
        if count > 1 && is_for_a_file {
            let message = format!(
                "these are the manifests of {} devices, one after the other: to apply one, print it alone (`devgate \
                 device -t NAME -r {type_name} > NAME.{}`)",
                count,
                if self.to_yaml { "yaml" } else { "pp" }
            );
            context.logger.log(Level::Warning, &message);
        }
        Ok(exit_status(&done.targets))
    }
}

fn usage_error(message: &str) -> Failure {
    Failure::new("devgate/usage", message)
}
