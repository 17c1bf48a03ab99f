//! The command line as a whole, and the dispatch to commands.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use devgate_cli::{
    command, device, facts, family, inventory, record, resource, schema, session, task, textfsm,
    transport, types, verify,
};
use devgate_core::failure::Failure;
use devgate_engine::project::Format;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::options::{GlobalOptions, OutputFormat};
use devgate_front::printer::Printer;
use devgate_pxp::commands as pxp;

use crate::{complete, demo, help, practice};

/// The open gateway between operators and everything that cannot run an agent
#[derive(Debug, Parser)]
#[command(
    name = "devgate",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    override_usage = "devgate COMMAND [OPTIONS]",
    help_template = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Commands:\n{subcommands}{after-help}"
)]
#[command(long_version = concat!(env!("CARGO_PKG_VERSION"), "\nPuppet task specification: version 1, revision 6"))]
#[command(
    before_help = "Examples:\n  devgate demo                                     # a tour of five seconds, without \
                   set-up\n  devgate practice                                 # run a switch to try commands on\n  \
                   devgate inventory show                           # list the targets\n  devgate verify -t routers                        \
                   # test connections and logins\n  devgate facts -t r1                              # collect its \
                   facts\n  devgate command run 'show version' -t routers     # run show commands\n  devgate session exec -t r1 show version          # run a command on it\n  devgate device \
                   -t r1 --apply routes.yaml --noop  # preview the changes\n  devgate device -t r1 --apply \
                   routes.yaml         # apply the changes\n  devgate task run net::ports -t all               # run \
                   a task of modules/net"
)]
#[command(
    after_help = "`devgate help COMMAND` shows the help of a command with examples. `devgate help options` shows the \
                  global options.\n\nExit codes: 0 success, 1 a target failed or the request was invalid, 130 \
                  interrupted by Ctrl-C (143 by SIGTERM, 129 by SIGHUP)."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: GlobalOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what devgate does, on a built-in practice switch, in five seconds
    Demo(demo::Demo),
    /// Run a practice switch to try commands on
    Practice(practice::Practice),
    /// Show the inventory
    #[command(subcommand)]
    Inventory(inventory::Inventory),
    /// Show transports and their connection settings
    #[command(subcommand)]
    Transport(transport::Transport),
    /// Show device families, and test them without a device
    #[command(subcommand)]
    Family(family::Family),
    /// Show resource types
    #[command(subcommand)]
    Type(types::Types),
    /// Test that targets can be reached and that their credentials are accepted
    Verify(verify::Verify),
    /// Collect the facts of targets
    Facts(facts::Facts),
    #[command(subcommand)]
    Command(command::Command),
    /// Record a session with a device, to replay it and to test its family without the device
    Record(record::Record),
    /// Show and run tasks
    #[command(subcommand)]
    Task(task::Task),
    #[command(subcommand)]
    Session(session::Session),
    /// Bring a device to a desired state, or show its resources and facts
    Device(device::Device),
    #[command(subcommand)]
    Pxp(pxp::Pxp),
    /// Test a resource type without a device: parse output, render configuration
    #[command(subcommand)]
    Resource(resource::Resource),
    #[command(name = "textfsm")]
    TextFsm(textfsm::TextFsm),
    /// Check values against Puppet data types
    #[command(subcommand)]
    Schema(schema::Schema),
    /// Printed for pxp-agent if devgate is called under its own name
    #[command(hide = true)]
    Metadata,
    /// Print completions for a shell
    Completions(complete::Completions),
    Help(help::Help),
}

impl Command {
    /// Whether it has one result per target.
    fn has_items(&self) -> bool {
        match self {
            Self::Verify(_) | Self::Command(_) | Self::Record(_) | Self::Device(_) => true,
            Self::Family(family) => family.has_items(),
            Self::Facts(facts) => facts.has_items(),
            Self::Task(task) => task.has_items(),
            Self::Session(session) => session.has_items(),
            Self::Demo(_)
            | Self::Practice(_)
            | Self::Inventory(_)
            | Self::Transport(_)
            | Self::Type(_)
            | Self::Pxp(_)
            | Self::Resource(_)
            | Self::TextFsm(_)
            | Self::Schema(_)
            | Self::Metadata
            | Self::Completions(_)
            | Self::Help(_) => false,
        }
    }

    /// Whether it can print rows.
    fn has_rows(&self) -> bool {
        matches!(self, Self::Command(_) | Self::TextFsm(_))
    }
}

/// Runs one command line.
///
/// # Errors
/// The command failed as a whole.
pub(crate) async fn run(cli: Cli, printer: &Printer) -> Result<ExitStatus, Failure> {
    let Cli { global, command } = cli;
    if command.has_items() {
        printer.expect_items();
    }
    if global.row_format().is_some() && !command.has_rows() {
        return Err(Failure::other(
            "this command prints no rows: `--format table` and `--format csv` are for `command run --parse` and `textfsm`",
        ));
    }
    match command {
        Command::Demo(demo) => {
            let run = async |words| Box::pin(run(Cli::parse_from(words), printer)).await;
            demo.run(printer, run).await
        }
        Command::Practice(practice) => practice.run(printer).await,
        Command::Inventory(inventory) => {
            inventory
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Transport(transport) => {
            transport
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Family(family) => {
            family
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Type(types) => {
            types
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Verify(verify) => {
            verify
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Facts(facts) => {
            facts
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Command(command) => {
            command
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Record(record) => {
            record
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Task(task) => {
            task.run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Session(session) => session.run(&global, printer).await,
        Command::Device(device) => {
            let global = device.global(&global);
            device
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::Pxp(pxp) => pxp.run(&global, printer).await,
        Command::Resource(resource) => {
            resource
                .run(&CommandContext::load(&global, printer)?, printer)
                .await
        }
        Command::TextFsm(textfsm) => textfsm.run(printer),
        Command::Schema(schema) => schema.run(printer),
        Command::Metadata => Err(pxp::name_is_not_allowed()),
        Command::Completions(completions) => completions.run(printer),
        Command::Help(help) => Ok(help.run(Cli::command())?),
    }
}

/// The format that an invalid command line asks for.
pub(crate) fn requested_format(words: impl Iterator<Item = OsString>) -> Option<Format> {
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .take_while(|word| word != "--")
        .collect();
    let separate = words
        .iter()
        .position(|word| word == "--format")
        .and_then(|at| words.get(at + 1).map(String::as_str));
    let joined = words.iter().find_map(|word| word.strip_prefix("--format="));
    let format = OutputFormat::from_str(separate.or(joined)?, true).ok();
    format.map(OutputFormat::format)
}

impl Cli {
    /// Parses the words of a command line, the program's name first.
    ///
    /// # Errors
    /// The words are invalid, or ask for help.
    pub(crate) fn parse_words(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = help::with_examples(Self::command());
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// The options of every command.
    pub(crate) fn global(&self) -> &GlobalOptions {
        &self.global
    }
}
