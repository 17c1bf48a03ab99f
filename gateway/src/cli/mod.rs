//! The command line: what can be asked, and where each question is answered.

pub(crate) mod attend;
mod complete;
mod demo;
pub(crate) mod device;
pub(crate) mod facts;
mod family;
mod help;
mod hint;
mod inventory;
mod practice;
mod pxp;
mod record;
mod resource;
mod results;
mod schema;
mod session;
mod setting;
mod targets;
pub(crate) mod task;
#[cfg(test)]
mod tests;
mod transport;
mod types;
pub(crate) mod verify;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use devgate_schemas::Sensitive;
use devgate_transports::RetryBudget;
use nix::sys::signal::Signal;

use crate::output::Output;
use devgate_core::failure::Failure;
use devgate_engine::project::Format;

pub(crate) use attend::{attend, ending, perform};
pub(crate) use complete::complete;
pub(crate) use help::print;
pub(crate) use hint::add as add_hint;
pub(crate) use pxp::words;
pub(crate) use setting::Setting;
pub(crate) use targets::Targets;

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
    before_help = "Examples:\n  devgate demo                                     # all of it in five seconds, without any \
                   set-up\n  devgate practice                                 # a switch to try commands \
                   on\n  devgate inventory show                           # which targets there \
                   are\n  devgate verify -t routers                        # can they be \
                   reached\n  devgate facts -t r1                              # what it \
                   is\n  devgate session exec -t r1 show version          # a command on \
                   it\n  devgate device -t r1 --apply routes.yaml --noop  # what would \
                   change\n  devgate device -t r1 --apply routes.yaml         # change \
                   it\n  devgate task run net::ports -t all               # a task of modules/net"
)]
#[command(
    after_help = "devgate help COMMAND shows a command with examples, devgate help options the options that every \
                  command takes.\n\nExit codes: 0 all went well, 1 a target failed or the request was wrong, 130 \
                  it was interrupted (Ctrl-C; 143 by SIGTERM, 129 by SIGHUP)."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The project's folder, with inventory.yaml and modules/ (default: the nearest one upwards with a
    /// bolt-project.yaml, else this folder)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = help::GLOBAL
    )]
    pub(crate) project: Option<PathBuf>,
    /// The inventory (default: inventory.yaml in the project)
    #[arg(
        short,
        long,
        global = true,
        value_name = "FILE",
        help_heading = help::GLOBAL
    )]
    pub(crate) inventoryfile: Option<PathBuf>,
    /// A device.conf, whose devices are targets, too (default: that of puppet device)
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help_heading = help::GLOBAL
    )]
    pub(crate) deviceconfig: Option<PathBuf>,
    /// Refuse an inventory with a target that is wrong, instead of leaving that target out
    #[arg(long, global = true, help_heading = help::GLOBAL)]
    pub(crate) strict: bool,
    /// Where modules are, separated by colons (default: modules in the project)
    #[arg(
        short,
        long,
        global = true,
        value_name = "DIRS",
        help_heading = help::GLOBAL
    )]
    pub(crate) modulepath: Option<String>,
    /// How results are printed on stdout (default: the project's, else human)
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        help_heading = help::GLOBAL
    )]
    pub(crate) format: Option<Format>,
    /// How long a target that does not answer is waited for, in all (default: 30, which is the most)
    #[arg(
        long = "patience",
        global = true,
        value_name = "SECONDS",
        value_parser = retry_budget,
        help_heading = "Global options"
    )]
    pub(crate) retry_budget: Option<Duration>,
    /// Tell more: progress messages of transports and providers
    #[arg(short, long, global = true, help_heading = help::GLOBAL)]
    pub(crate) verbose: bool,
    /// Print only results and errors: no warnings, no progress, no sums
    #[arg(long, global = true, conflicts_with = "verbose", help_heading = help::GLOBAL)]
    pub(crate) quiet: bool,
    /// The least level of messages on stderr (default: notice)
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        help_heading = help::GLOBAL
    )]
    pub(crate) log_level: Option<LogLevel>,
    /// When to use colour; it never carries meaning alone
    #[arg(
        long,
        global = true,
        default_value = "auto",
        help_heading = help::GLOBAL
    )]
    color: When,
    #[arg(long, global = true, hide = true)]
    no_color: bool,
    /// Where Ruby is looked for beside the modules: an option of `device` alone.
    #[arg(skip)]
    pub(crate) libdir: Option<PathBuf>,
    /// The inventory itself: a PXP module's configuration may hold it.
    #[arg(skip)]
    pub(crate) inventory: Option<Sensitive<String>>,
}

/// How long a target may be waited for.
fn retry_budget(text: &str) -> Result<Duration, String> {
    let most = RetryBudget::LIMIT.as_secs();
    match text.parse() {
        Ok(seconds) if (1..=most).contains(&seconds) => Ok(Duration::from_secs(seconds)),
        _ => Err(format!(
            "expected 1 to {most} seconds: a run waits for a target that is down no longer than {most} s, \
             so that it ends in time for those that are up; run it again later"
        )),
    }
}

impl Global {
    /// When to use colour.
    pub(crate) fn color(&self) -> When {
        if self.no_color {
            When::Never
        } else {
            self.color
        }
    }

    /// The same, for a program that reads what is printed.
    pub(crate) fn for_programs(&self) -> Self {
        Self {
            format: Some(Format::Json),
            no_color: true,
            ..self.clone()
        }
    }
}

/// The least level of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum LogLevel {
    Trace,
    Debug,
    Info,
    Notice,
    #[value(alias = "warning")]
    Warn,
    #[value(alias = "err", alias = "fatal")]
    Error,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

impl When {
    /// Whether to use colour on this stream.
    pub(crate) fn on(self, stream: &impl RawStream) -> ColorChoice {
        match self {
            Self::Auto => AutoStream::choice(stream),
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what devgate does, on a practice switch that it carries, in five seconds
    Demo(demo::Demo),
    /// Keep a practice switch running, to try commands on
    Practice(practice::Practice),
    /// Look at the inventory
    #[command(subcommand)]
    Inventory(inventory::Inventory),
    /// Look at transports and what their connection info may hold
    #[command(subcommand)]
    Transport(transport::Transport),
    /// Look at device families, and test them without a device
    #[command(subcommand)]
    Family(family::Family),
    /// Look at resource types
    #[command(subcommand)]
    Type(types::Types),
    /// Test that targets can be reached and that their credentials are accepted
    Verify(verify::Verify),
    /// Collect the facts of targets
    Facts(facts::Facts),
    /// Record a session with a device, to play it and test its family without the device
    Record(record::Record),
    /// Look at tasks, and run them
    #[command(subcommand)]
    Task(task::Task),
    #[command(subcommand)]
    Session(session::Session),
    /// Bring a device to a desired state, or look at its resources and facts
    Device(device::Device),
    #[command(subcommand)]
    Pxp(pxp::Pxp),
    /// Try a resource type without a device: parse its output, render its configuration
    #[command(subcommand)]
    Resource(resource::Resource),
    /// Check values against Puppet data types
    #[command(subcommand)]
    Schema(schema::Schema),
    /// What pxp-agent asks a module, which has another name
    #[command(hide = true)]
    Metadata,
    /// End what another devgate has started, should it be killed: it starts this itself
    #[command(hide = true)]
    Guard,
    /// Print completions for a shell
    Completions(complete::Completions),
    Help(help::Help),
}

impl Command {
    /// Whether its results are those of targets, one item each.
    fn has_items(&self) -> bool {
        match self {
            Self::Verify(_) | Self::Facts(_) | Self::Record(_) | Self::Device(_) => true,
            Self::Task(task) => task.has_items(),
            Self::Session(session) => session.has_items(),
            _ => false,
        }
    }
}

/// Whether everything that was asked for went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All targets succeeded.
    Well,
    /// A target failed.
    Badly,
    /// Somebody stopped it, with this signal.
    Interrupted(Signal),
    /// With the exit code of the program that was run.
    Of(u8),
}

impl Ending {
    /// The exit code that tells it.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Well => 0,
            Self::Badly => 1,
            Self::Of(code) => code,
            // As shells tell of a process that a signal has ended.
            Self::Interrupted(signal) => 128 + signal as u8,
        }
    }
}

/// Answers one command line.
///
/// # Errors
/// Why the request could not be carried out at all.
pub(crate) async fn answer(cli: Cli, output: &Output) -> Result<Ending, Failure> {
    let Cli { global, command } = cli;
    if command.has_items() {
        output.expect_items();
    }
    match command {
        Command::Demo(demo) => demo.run(output).await,
        Command::Practice(practice) => practice.run(output).await,
        Command::Inventory(inventory) => {
            inventory
                .run(&Setting::load(&global, output)?, output)
                .await
        }
        Command::Transport(transport) => {
            transport
                .run(&Setting::load(&global, output)?, output)
                .await
        }
        Command::Family(family) => family.run(&Setting::load(&global, output)?, output).await,
        Command::Type(types) => types.run(&Setting::load(&global, output)?, output).await,
        Command::Verify(verify) => verify.run(&Setting::load(&global, output)?, output).await,
        Command::Facts(facts) => facts.run(&Setting::load(&global, output)?, output).await,
        Command::Record(record) => record.run(&Setting::load(&global, output)?, output).await,
        Command::Task(task) => task.run(&Setting::load(&global, output)?, output).await,
        Command::Session(session) => session.run(&global, output).await,
        Command::Device(device) => {
            let global = device.global(&global);
            device.run(&Setting::load(&global, output)?, output).await
        }
        Command::Pxp(pxp) => pxp.run(&global, output).await,
        Command::Resource(resource) => resource.run(&Setting::load(&global, output)?, output).await,
        Command::Schema(schema) => schema.run(output),
        Command::Metadata => Err(pxp::not_by_this_name()),
        Command::Guard => {
            devgate_engine::process::guard().await;
            Ok(Ending::Well)
        }
        Command::Completions(completions) => completions.run(output),
        Command::Help(help) => Ok(help.run()?),
    }
}

/// The format that a command line asks for which cannot be understood as a whole.
pub(crate) fn format_in(words: impl Iterator<Item = OsString>) -> Option<Format> {
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .take_while(|word| word != "--")
        .collect();
    let behind = words
        .iter()
        .position(|word| word == "--format")
        .and_then(|at| words.get(at + 1).map(String::as_str));
    let joined = words.iter().find_map(|word| word.strip_prefix("--format="));
    Format::from_str(behind.or(joined)?, true).ok()
}

impl Cli {
    /// What these words ask for, the program's name first.
    ///
    /// # Errors
    /// Why they ask for nothing, or the help that they ask for.
    pub(crate) fn parse_words(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut command = help::taught(Self::command());
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// What every command takes.
    pub(crate) fn global(&self) -> &Global {
        &self.global
    }
}
