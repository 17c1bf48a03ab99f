//! The `devgate` command: everything that acts.

mod cli;
mod device_run;
mod failure;
mod hosts;
mod interrupt;
mod inventory;
mod output;
mod plugins;
mod practice;
mod process;
mod project;
mod registry;
mod results;
mod run;
mod session;
mod stop;
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
    let output = Output::new(cli.global());
    let ending = cli::answer(cli, &output).await;
    let ending = ending.unwrap_or_else(|error| output.refuse(error.into()));
    match (ending, output.end()) {
        (Ending::Well, Ok(())) => ExitCode::SUCCESS,
        (Ending::Of(code), Ok(())) => ExitCode::from(code),
        // As shells tell of a process that a signal has ended.
        (Ending::Interrupted(signal), _) => ExitCode::from(128 + signal as u8),
        (Ending::Badly, _) | (_, Err(())) => ExitCode::FAILURE,
    }
}
