//! `devgate session`: using a session with a device, and lending one to a program.

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

/// Use a session with a device: run commands, ask for data, change it
///
/// devgate logs in for you. With `-t TARGET` any operator asks any device once. To ask often, have a
/// session lent: devgate then logs in once for all that is asked, instead of once for each. Two
/// things are lent one, in DEVGATE_SESSION: a remote task, for as long as it runs on this node, and
/// what `devgate session run` starts.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  devgate session exec -t switch1 show version\n  devgate session get -t \
                  dns1 /servers\n\nA task `uptime.sh` with `{\"remote\": true}` in \
                  uptime.json, which is lent a session with its target:\n  #!/bin/sh\n  devgate \
                  session exec show version | grep uptime\n\nA shell with a session of its own, on \
                  switch1:\n  devgate session run -t switch1 -- bash"
)]
pub enum Session {
    /// Run a command on a device: for transports with a command line
    ///
    /// A remote task that devgate runs on this node need not log in by itself: DEVGATE_SESSION names
    /// a private socket, and this command uses the session behind it. The first use logs in, all
    /// others find the session open, one command at a time. The device's output goes to stdout as it
    /// is. No command is ever sent twice.
    ///
    /// With -t and many targets, all of them at once, each result under its target's name. JSON has the form
    /// of every command where -t names targets, one or many; without -t it is an object for each command.
    Exec(Box<exec::Exec>),
    /// Ask a device for data: for REST, NETCONF, OVSDB, SNMP and the like
    ///
    /// What is asked for is named in the words of the protocol. JSON is printed as JSON, everything
    /// else as it is.
    Get(data::Get),
    /// Change data of a device: for REST, NETCONF, OVSDB and the like
    ///
    /// It is sent once, whatever happens: where the answer is lost, it is not known whether it took
    /// effect, and you are told so. What the device answers is printed as by `session get`.
    Set(data::Set),
    /// Run a program that is lent one session with a target
    ///
    /// All that the program starts may use it with `devgate session exec`, `get` and `set`, and so
    /// may the tasks of every `devgate task run` in it whose target is the same: they log in once.
    /// The exit code is the program's.
    Run(run::Run),
}

impl Session {
    /// Whether its results are those of targets, one item each.
    pub fn has_items(&self) -> bool {
        matches!(self, Self::Exec(exec) if exec.names_targets())
    }

    /// Carries it out: prints results, and gives the exit status.
    ///
    /// # Errors
    /// Why it could not be carried out at all.
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
