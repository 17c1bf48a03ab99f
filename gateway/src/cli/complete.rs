//! `devgate completions`, and what a shell asks for when somebody presses Tab.
//!
//! What is offered comes from files of the project alone: no device is asked, no plugin, no program of a module. Whatever
//! is wrong with them is silent here.

mod names;

use std::ffi::OsStr;
use std::io::Write;
use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use super::{Cli, Ending};
use crate::output::Output;
use devgate_core::failure::{ErrorContext, Failure};
use names::Names;

/// The variable by which a shell's function asks.
const VARIABLE: &str = "DEVGATE_COMPLETE";

/// Bash takes words apart at colons, which tasks and URIs have: its function puts them together again.
const BASH: &str = include_str!("complete/bash.sh");

/// Print completions for a shell: commands, options, and the targets, tasks and types of the project
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate completions bash > ~/.local/share/bash-completion/completions/devgate\n  devgate \
                  completions zsh > ~/.devgate.zsh\n  devgate completions fish > \
                  ~/.config/fish/completions/devgate.fish\n\nIt is the same for every project: what is there is \
                  looked up when Tab is pressed. For zsh, ~/.zshrc needs a line `source ~/.devgate.zsh` behind \
                  compinit."
)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, output: &Output) -> Result<Ending, Failure> {
        if let Shell::Bash = self.shell {
            output.exact(BASH);
            return Ok(Ending::Well);
        }
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string());
        let shell = shell.context("there are no completions for this shell")?;
        let mut script = Vec::new();
        shell.write_registration(VARIABLE, "devgate", "devgate", "devgate", &mut script)?;
        output.exact(&String::from_utf8_lossy(&script));
        Ok(Ending::Well)
    }
}

/// Answers a shell that asks; nothing where none does.
pub(crate) fn complete() -> Option<ExitCode> {
    let asking = std::env::var_os(VARIABLE)?;
    let current = std::env::current_dir().ok();
    let completions = CompleteEnv::with_factory(Cli::command).var(VARIABLE);
    match completions.try_complete(std::env::args_os(), current.as_deref()) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        Err(_) if asking.is_empty() => None,
        Err(_) => {
            // Who presses Tab reads no errors.
            let _ = std::io::stdout().flush();
            Some(ExitCode::FAILURE)
        }
    }
}

/// Targets and groups, the last of a list with commas.
pub(super) fn targets() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let current = current.to_string_lossy();
        let (before, last) = match current.rsplit_once(',') {
            Some((before, last)) => (format!("{before},"), last.to_owned()),
            None => (String::new(), current.into_owned()),
        };
        let taken: Vec<&str> = before.split(',').collect();
        let mut names = Names::here().targets();
        names.retain(|name| !taken.contains(&name.as_str()));
        beginning(names, &last)
            .into_iter()
            .map(|one| one.add_prefix(before.clone()))
            .collect()
    })
}

/// Tasks.
pub(super) fn tasks() -> ArgValueCompleter {
    of(Names::tasks)
}

/// Transports, families included.
pub(super) fn transports() -> ArgValueCompleter {
    of(Names::transports)
}

/// Families.
pub(super) fn families() -> ArgValueCompleter {
    of(Names::families)
}

/// Resource types.
pub(super) fn types() -> ArgValueCompleter {
    of(Names::types)
}

/// Commands that there is help for.
pub(super) fn topics() -> ArgValueCompleter {
    of(|_| {
        let root = Cli::command();
        let commands = root.get_subcommands().filter(|one| !one.is_hide_set());
        let names = commands.map(|one| one.get_name().to_owned());
        names.chain(["options".to_owned()]).collect()
    })
}

fn of(names: fn(&Names) -> Vec<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        beginning(names(&Names::here()), &current.to_string_lossy())
    })
}

/// Those that begin so, sorted, each once.
fn beginning(mut names: Vec<String>, current: &str) -> Vec<CompletionCandidate> {
    names.retain(|name| name.starts_with(current));
    names.sort();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}
