//! The `devgate` command: everything that acts.

mod cli;
mod device_run;
mod failure;
mod inventory;
mod output;
mod practice;
mod process;
mod project;
mod registry;
mod results;
mod run;
mod session;
mod task_run;
mod tasks;
mod voice;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::{Cli, Ending};
use crate::output::Output;

/// One thread is enough: a session is a task on it, and waiting is most of what there is to do.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    let global = cli.global().clone();
    let output = Output::new(&global);
    match cli::answer(cli, &output).await {
        Ok(Ending::Well) => ExitCode::SUCCESS,
        Ok(Ending::Badly) => ExitCode::FAILURE,
        Err(error) => {
            output::refuse(&global, error.into());
            ExitCode::FAILURE
        }
    }
}
