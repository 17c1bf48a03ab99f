//! `devgate help`, and the common parts of the help of every command.

use std::ffi::OsString;
use std::io::{self, Write};

use anstream::AutoStream;
use clap::builder::StyledStr;
use clap::{Arg, Args, Command as CommandLine};
use devgate_cli::targets::HEADING;
use devgate_engine::project::Format;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_front::wrap;

/// Show the help of a command with examples, or the global options
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate help\n  devgate help task run\n  devgate help options"
)]
pub(super) struct Help {
    /// A command, or `options`
    #[arg(value_name = "COMMAND")]
    topic: Vec<String>,
}

/// The topic that shows the options of every command.
const OPTIONS: &str = "options";

/// The heading of the global options.
pub(super) const GLOBAL: &str = "Global options";

/// The last line of the help of every command.
const POINTER: &str = "Global options and connection options: devgate help options";

impl Help {
    /// Prints the help of a command of `root`, the whole command line.
    pub(super) fn run(self, root: CommandLine) -> Result<ExitStatus, io::Error> {
        if self.topic == [OPTIONS] {
            options(&root).print_help()?;
            return Ok(ExitStatus::Success);
        }
        let words = [String::from("devgate")].into_iter();
        let words = words.chain(self.topic).chain(["--help".to_owned()]);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        match with_examples(root).try_get_matches_from(words) {
            Err(error) => Ok(print(&error)),
            Ok(_) => Ok(ExitStatus::Success),
        }
    }
}

/// Prints help, or the error of a command line, wrapped to the width of the terminal. It is a failure if help cannot be
/// printed, unless the reader has closed the stream.
pub(crate) fn print(error: &clap::Error) -> ExitStatus {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        let text = wrap::wrapped(&text, wrap::width(&io::stderr()));
        // If even this cannot be printed, nothing can be done.
        let _ = AutoStream::auto(io::stderr()).write_all(text.as_bytes());
        return ExitStatus::Failure;
    }
    let text = wrap::wrapped(&text, wrap::width(&io::stdout()));
    let mut stdout = AutoStream::auto(io::stdout());
    let printed = stdout.write_all(text.as_bytes());
    match printed.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            let message = format!("it could not be printed: {error}");
            Printer::plain(Format::Human).error(&message);
            ExitStatus::Failure
        }
        _ => ExitStatus::Success,
    }
}

/// The command line as help shows it: with examples, and without the options of every command.
pub(super) fn with_examples(command: CommandLine) -> CommandLine {
    let width = wrap::width(&io::stdout());
    let is_root = command.get_name() == "devgate";
    let hide = |argument: Arg| match is_common(&argument) {
        true => argument.hide(true),
        false => argument,
    };
    let mut command = command.mut_args(hide).mut_subcommands(with_examples);
    if let Some(before) = command.get_before_help().map(StyledStr::to_string) {
        command = command.before_help(wrap_examples(&before, width));
    }
    let after = command.get_after_help().map(StyledStr::to_string);
    let after = after.map(|after| wrap_examples(&after, width));
    if is_root {
        return command.after_help(after.unwrap_or_default());
    }
    let after = after.map_or_else(String::new, |after| format!("{after}\n\n"));
    command.after_help(format!("{after}{POINTER}"))
}

/// Options that `devgate help options` shows.
fn is_common(argument: &Arg) -> bool {
    let heading = argument.get_help_heading();
    heading.is_some_and(|heading| [GLOBAL, HEADING].contains(&heading))
}

/// Wraps the commands in a text, which are lines with two leading blanks.
fn wrap_examples(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let lines = text.lines().map(|line| match line.strip_prefix("  ") {
        Some(_) => wrap::command(line, width),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A command whose help shows only the options that no other command shows. The other options are hidden, because
/// options refer to each other.
fn options(root: &CommandLine) -> CommandLine {
    let of = |path: &[&str]| {
        let mut command = root;
        for name in path {
            command = command.find_subcommand(name)?;
        }
        Some(command.get_arguments().cloned())
    };
    let mut arguments: Vec<Arg> = Vec::new();
    for path in [&[][..], &["verify"], &["task", "run"]] {
        for argument in of(path).into_iter().flatten() {
            if !arguments
                .iter()
                .any(|one| one.get_id() == argument.get_id())
            {
                let is_hidden = argument.is_hide_set() || !is_common(&argument);
                arguments.push(argument.global(false).required(false).hide(is_hidden));
            }
        }
    }
    CommandLine::new("devgate")
        .about("Global options and connection options")
        .override_usage("devgate COMMAND [OPTIONS]")
        .max_term_width(100)
        .disable_help_flag(true)
        .args(arguments)
        .after_help(
            "Only commands that connect to targets take the connection options. Only `task run` takes the options for \
             hosts (--run-as and below). In `devgate device`, --login is the user of the device, because --user has \
             Puppet's meaning.\n\nExamples:\n  devgate --project /srv/net verify -t routers\n  devgate facts -t all \
             --format jsonl --quiet",
        )
}
