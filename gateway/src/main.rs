//! The `devgate` command.

mod cli;
mod complete;
mod demo;
mod help;
mod hint;
mod practice;
mod privacy;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::CommandFactory;
use devgate_core::failure::Failure;
use devgate_core::{budget, trust};
use devgate_engine::process;
use devgate_front::exit_status::ExitStatus;
use devgate_front::print_queue::LostStream;
use devgate_front::printer::Printer;
use devgate_front::signals;
use devgate_pxp::commands;
use tokio::task::LocalSet;

use crate::cli::Cli;

fn main() -> ExitCode {
    privacy::protect_memory();
    if process::is_guard(std::env::args_os()) {
        return match process::guard() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    budget::raise();
    if let Some(user) = std::env::var("SUDO_UID")
        .ok()
        .and_then(|user| user.parse().ok())
    {
        trust::started_by(user);
    }
    if let Some(code) = complete::complete(Cli::command) {
        return code;
    }
    let words = commands::words(std::env::args_os());
    let cli = match Cli::parse_words(&words) {
        Ok(cli) => cli,
        Err(mut error) => {
            hint::add(&mut error, &words);
            return usage_error(&error);
        }
    };
    let printer = Printer::new(cli.global());
    // One thread is enough: each session is a task on it, and mostly waits.
    let runtime = match budget::runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return printer.refuse(failure).code().into(),
    };
    let code = LocalSet::new().block_on(&runtime, run(cli, &printer));
    // A name server that does not answer blocks a thread. It is not waited for.
    runtime.shutdown_background();
    code
}

async fn run(cli: Cli, printer: &Printer) -> ExitCode {
    let exit_status = cli::run(cli, printer).await;
    let exit_status = exit_status.unwrap_or_else(|error| {
        let refused = printer.refuse(error);
        signals::stop_signal().map_or(refused, ExitStatus::Interrupted)
    });
    let exit_status = match (exit_status, printer.end().await) {
        (ExitStatus::Interrupted(_), _) | (_, None) => exit_status,
        // The signal to stop is the reason why output was given up.
        (_, Some(LostStream::Unread(signal))) => ExitStatus::Interrupted(signal),
        (_, Some(LostStream::Closed | LostStream::Failed(_))) => ExitStatus::Failure,
    };
    exit_status.code().into()
}

/// Prints the error of the command line, or the help that it requests. With a JSON format, the error is JSON. As in
/// Bolt, the exit code is 1.
fn usage_error(error: &clap::Error) -> ExitCode {
    let exit_status = help::print(error);
    if !error.use_stderr() {
        return exit_status.code().into();
    }
    if let Some(format) = cli::requested_format(std::env::args_os()) {
        let message = error.render().to_string();
        let message = message.strip_prefix("error: ").unwrap_or(&message);
        Printer::plain(format).failure(Failure::new("devgate/usage", message.trim_end()));
    }
    ExitCode::FAILURE
}
