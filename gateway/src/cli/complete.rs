//! `devgate completions`: completions for a shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Ending};
use crate::output::Output;

/// Print completions for a shell.
#[derive(Args, Debug)]
#[command(after_help = "Example, for bash:\n  devgate completions bash > \
                        ~/.local/share/bash-completion/completions/devgate")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, output: &Output) -> anyhow::Result<Ending> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "devgate", &mut script);
        output.exact(&String::from_utf8(script)?);
        Ok(Ending::Well)
    }
}
