//! `devgate command`: show commands on many targets.

use std::io;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use devgate_core::failure::{ErrorContext, Failure};
use devgate_engine::operations::{CommandKind, CommandOperation, Operation, Parse, Show};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;
use devgate_schemas::Regexp;
use devgate_transports::reading;

use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;
use crate::{complete, templates};

/// Run show commands on devices, many at once
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  devgate command run 'show version' -t all")]
pub enum Command {
    /// Run show commands on the command lines of targets
    ///
    /// Each argument is one command. All targets run in parallel, and each of them runs its commands in order, in one
    /// session. The first command that fails ends the work on its target.
    ///
    /// Only commands that the device's family declares harmless are sent (`harmless` and `filters` in the dialect of its
    /// family.yaml). If one command of a target is not, nothing is sent to this target. Known secrets are masked in all
    /// outputs, also in saved ones.
    ///
    /// The exit code is 1 if a command fails, an output has changed (--diff), or an output does not match (--expect).
    Run(Box<Run>),
}

/// Run show commands on the command lines of targets.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(group = ArgGroup::new("what").required(true).multiple(true).args(["commands", "file", "for_families", "config"]))]
#[command(
    after_help = "Examples:\n  devgate command run 'show version' -t all\n  devgate command run 'show version' 'show \
                  clock' -t routers --format json\n  devgate command run --file checks.txt -t all\n  devgate command \
                  run --for frr='show ip bgp summary' --for practice='show vlan brief' -t all\n  devgate command run \
                  'show ip route' -t all --save before      # before/TARGET/show_ip_route.txt\n  devgate command run \
                  'show ip route' -t all --diff before      # what has changed since then\n  devgate command run \
                  'show ip bgp summary' -t routers --expect 'Displayed neighbors 2'\n  devgate command run \
                  --config -t all --save backups      # backups/TARGET/running-config.txt\n  devgate command run 'show ip bgp \
                  summary' -t all --parse --format csv\n  devgate command run 'clear counters' -t sw1 --any\n\nTo answer questions of a device, or to configure it, use `devgate session \
                  exec`."
)]
pub struct Run {
    /// The commands, each in quotes
    #[arg(value_name = "COMMAND")]
    commands: Vec<String>,
    #[command(flatten)]
    targets: TargetOptions,
    /// Run the commands of a file too, one per line (- for stdin); blank lines and lines with # are skipped
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Run a command too, but only on targets of this family; can be repeated
    #[arg(
        id = "for_families",
        long = "for",
        value_name = "FAMILY=COMMAND",
        value_parser = for_family,
        add = complete::commands_of_families()
    )]
    for_families: Vec<(String, String)>,
    /// Show the running configuration, with the command that each family declares for it (`config_text`)
    #[arg(long)]
    config: bool,
    /// Parse the outputs into rows, with the TextFSM templates of ntc-templates, or as the family reads the command;
    /// `--format table` and `--format csv` print only rows
    #[arg(long, conflicts_with = "config")]
    parse: bool,
    /// The folder of TextFSM templates, with an index (default: NTC_TEMPLATES_DIR, `textfsm-templates` in
    /// bolt-project.yaml, or the installed Python package ntc_templates)
    #[arg(long, value_name = "DIR", requires = "parse")]
    templates: Option<PathBuf>,
    /// The platform of the targets in ntc-templates, such as cisco_ios (default: `textfsm_platform` of the family)
    #[arg(long, requires = "parse")]
    platform: Option<String>,
    /// Send any command, also one that the family does not declare harmless
    #[arg(long)]
    any: bool,
    /// Save each output as DIR/TARGET/COMMAND.txt, which only your user can read
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
    /// Compare each output with the saved one in this folder, and fail if it has changed; with --save, compare first
    #[arg(long, value_name = "DIR")]
    diff: Option<PathBuf>,
    /// Fail unless each output matches this regular expression (Ruby's, ^ and $ match at lines); can be repeated
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    expect: Vec<Regexp>,
}

impl Command {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let Self::Run(run) = self;
        run.run(context, printer).await
    }
}

impl Run {
    async fn run(self, context: &CommandContext, printer: &Printer) -> Result<ExitStatus, Failure> {
        let mut lines = self.commands;
        if let Some(file) = &self.file {
            let text = match file.as_os_str() == "-" {
                true => reading::text_of(io::stdin()),
                false => reading::text(file),
            };
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            lines.extend(commands_of(&text));
        }
        if printer.row_format().is_some() && !self.parse {
            return Err(Failure::other(
                "outputs are texts: `--format table` and `--format csv` print the rows that --parse makes of them",
            ));
        }
        let parse = if self.parse {
            let (templates, searched) = templates::find(self.templates.as_deref(), context)?;
            Some(Parse::new(templates, searched, self.platform))
        } else {
            None
        };
        let show = Show {
            parse,
            for_families: self.for_families,
            config: self.config,
            any: self.any,
            save: self.save,
            diff: self.diff,
            expect: self.expect,
        };
        let operation = Operation::Command(CommandOperation {
            lines,
            kind: CommandKind::Show(Box::new(show)),
            noop: false,
        });
        let chosen = self.targets.select(context).await?;
        let concurrency = self.targets.concurrency;
        let done = run_operation(context, chosen, concurrency, operation, printer);
        Ok(exit_status(&done.await?.targets))
    }
}

/// Returns the commands of a file.
fn commands_of(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim);
    let commands = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    commands.map(str::to_owned)
}

/// Parses a command for the targets of one family.
fn for_family(text: &str) -> Result<(String, String), &'static str> {
    match text.split_once('=') {
        Some((family, command)) if !family.is_empty() && !command.trim().is_empty() => {
            Ok((family.to_owned(), command.to_owned()))
        }
        _ => Err("expected FAMILY=COMMAND"),
    }
}

/// Parses a regular expression.
fn pattern(text: &str) -> Result<Regexp, String> {
    Regexp::new(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_command_per_line_and_comments() {
        let text = "# checks\nshow version\n\n  show clock  \r\n";
        let commands: Vec<String> = commands_of(text).collect();
        assert_eq!(commands, ["show version", "show clock"]);
    }

    #[test]
    fn a_command_for_a_family_has_both() {
        let expected = ("frr".to_owned(), "show ip bgp regexp =".to_owned());
        assert_eq!(for_family("frr=show ip bgp regexp ="), Ok(expected));
        for wrong in ["frr", "=show", "frr=", "frr= "] {
            assert!(for_family(wrong).is_err(), "{wrong}");
        }
    }
}
