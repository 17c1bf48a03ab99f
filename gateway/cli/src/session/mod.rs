//! `devgate session`: sessions to devices, and shared sessions for programs.

mod data;
mod exec;
mod run;
mod source;

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;

/// Work on a device: run commands, get and set data
///
/// devgate logs in for you. With `-t TARGET`, each command logs in once. To send many commands with one login, use a
/// shared session: DEVGATE_SESSION names it. Remote tasks have one, on this node and on SSH hosts, and so do programs
/// that `devgate session run` starts.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  devgate session exec -t switch1 show version\n  devgate session get -t dns1 \
                  /servers\n\nA task `uptime.sh` with `{\"remote\": true}` in uptime.json, which uses a shared \
                  session:\n  #!/bin/sh\n  devgate session exec show version | grep uptime\n\nA shell with a shared \
                  session to switch1:\n  devgate session run -t switch1 -- bash"
)]
pub enum Session {
    /// Run a command on a device with a command line
    ///
    /// A remote task does not need to log in: DEVGATE_SESSION names a private socket, and this command uses the session
    /// behind it. The first command logs in. Later commands use the same session, one
    /// at a time. The device's output goes to stdout unchanged. No command is ever sent twice.
    ///
    /// With -t, the command runs on all targets in parallel, and each result has the name of its target. With -t, JSON
    /// has the same form as in other commands; without -t, it is one object per command.
    Exec(Box<exec::Exec>),
    /// Get data from a device: REST, NETCONF, OVSDB, SNMP and similar
    ///
    /// Name the data in the terms of the protocol. JSON is printed as JSON, all other data unchanged.
    Get(data::Get),
    /// Set data on a device: REST, NETCONF, OVSDB and similar
    ///
    /// The request is sent only once. If the answer is lost, the command fails and reports that the result is unknown.
    /// The answer is printed as in `session get`.
    Set(data::Set),
    /// Run a program with a shared session to a target
    ///
    /// The program and its child processes use the session with `devgate session exec`, `get` and `set`. Tasks that
    /// they start with `devgate task run` on the same target use it too. All of them share one login. The exit code is
    /// that of the program.
    Run(run::Run),
}

impl Session {
    /// Whether it has one result per target.
    pub fn has_items(&self) -> bool {
        matches!(self, Self::Exec(exec) if exec.names_targets())
    }

    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        global: &GlobalOptions,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        match self {
            Self::Exec(exec) => exec.run(global, printer).await,
            Self::Get(get) => get.run(global, printer).await,
            Self::Set(set) => set.run(global, printer).await,
            Self::Run(run) => {
                run.run(&CommandContext::load(global, printer)?, printer)
                    .await
            }
        }
    }
}
