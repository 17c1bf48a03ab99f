//! `devgate completions`, and the completion that a shell requests when the user presses Tab.
//!
//! Suggestions come only from files of the project. No device, plugin or program of a module is asked. Errors in these
//! files are ignored here.

use std::io::Write;
use std::process::ExitCode;

use clap::{Args, Command as CommandLine};
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};
use devgate_cli::complete::one_of;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;

/// The variable that the function of the shell sets.
const VARIABLE: &str = "DEVGATE_COMPLETE";

/// Bash splits words at colons, which tasks and URIs contain. Its function joins them again.
const BASH: &str = include_str!("complete/bash.sh");

/// Print completions for a shell: commands, options, and the targets, tasks and types of the project
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate completions bash > ~/.local/share/bash-completion/completions/devgate\n  \
                  devgate completions zsh > ~/.devgate.zsh\n  devgate completions fish > \
                  ~/.config/fish/completions/devgate.fish\n\nThe script works for all projects: it looks up names \
                  when you press Tab. For zsh, add the line `source ~/.devgate.zsh` to ~/.zshrc, after compinit."
)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, printer: &Printer) -> Result<ExitStatus, Failure> {
        if let Shell::Bash = self.shell {
            printer.unchanged(BASH);
            return Ok(ExitStatus::Success);
        }
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string());
        let shell = shell.context("there are no completions for this shell")?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, "devgate", "devgate", "devgate", &mut script)?;
        printer.unchanged(&String::from_utf8_lossy(&script));
        Ok(ExitStatus::Success)
    }
}

/// Answers a shell that requests completions for this command line, if one does.
pub(crate) fn complete(root: fn() -> CommandLine) -> Option<ExitCode> {
    let request = std::env::var_os(VARIABLE)?;
    let current = std::env::current_dir().ok();
    let completions = CompleteEnv::with_factory(move || with_topics(root())).var(VARIABLE);
    match completions.try_complete(std::env::args_os(), current.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) if request.is_empty() => None,
        Err(_) => {
            // Errors are not shown when the user presses Tab.
            let _ = std::io::stdout().flush();
            Some(ExitCode::FAILURE)
        }
    }
}

/// The command line with all commands that have help.
fn with_topics(root: CommandLine) -> CommandLine {
    let commands = root.get_subcommands().filter(|one| !one.is_hide_set());
    let names: Vec<String> = commands.map(|one| one.get_name().to_owned()).collect();
    let topics = one_of(names.into_iter().chain(["options".to_owned()]).collect());
    root.mut_subcommand("help", |help| {
        help.mut_arg("topic", |topic| topic.add(topics))
    })
}
