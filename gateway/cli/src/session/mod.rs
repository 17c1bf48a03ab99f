//! `devgate session`: using a session with a device, and lending one to a program.

mod data;
mod exec;
mod run;

use std::future::pending;
use std::sync::Arc;

use clap::{Args, Subcommand};
use devgate_core::cancel::{GRACE, Stage};
use devgate_core::failure::Failure;
use devgate_engine::inventory::Target;
use devgate_engine::run::TargetJob;
use devgate_engine::session::{self, Asked, Borrowed};
use devgate_engine::workspace::missing;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::follow_until;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;
use devgate_front::signals::{self, SignalListener};
use devgate_transports::Environment;
use tokio::time::timeout;

use crate::complete;
use crate::targets::{Direct, words};
use crate::terminal_view::TerminalView;

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

/// Whose session is used.
#[derive(Args, Debug)]
struct With {
    /// The target, one: a session is opened for it, unless one with it is lent to this program
    #[arg(short, long, value_name = "TARGET", add = complete::targets())]
    target: Option<String>,
    #[command(flatten)]
    direct: Direct,
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

impl With {
    /// Does `work` with a session with the target, or with the one that is lent to this program.
    async fn session(
        &self,
        global: &GlobalOptions,
        printer: &Printer,
        work: impl AsyncFnOnce(&mut Asked<'_>) -> Result<(), Failure>,
    ) -> Result<ExitStatus, Failure> {
        let Some(target) = &self.target else {
            return lent(work).await;
        };
        let context = CommandContext::load(global, printer)?;
        let target = one(&context, target, self.direct).await?;
        alone(&context, &target, printer, work).await
    }
}

/// Does `work` with the session that is lent to this program. It needs no project: a task may run anywhere.
async fn lent(
    work: impl AsyncFnOnce(&mut Asked<'_>) -> Result<(), Failure>,
) -> Result<ExitStatus, Failure> {
    let mut lent = Asked::Lent(Borrowed::from_environment(&Environment::of_process()).await?);
    work(&mut lent).await.map(|()| ExitStatus::Success)
}

/// Does `work` with a session with one target.
async fn alone(
    context: &CommandContext,
    target: &Target,
    printer: &Printer,
    work: impl AsyncFnOnce(&mut Asked<'_>) -> Result<(), Failure>,
) -> Result<ExitStatus, Failure> {
    let run = context.begin(None);
    let job = run.job(target);
    let asking = async {
        match &target.fault {
            Some(fault) => Err(Failure::from(&**fault)),
            None => {
                job.prepare().await?;
                session::own(&job, work).await
            }
        }
    };
    // A session that does not end in time when the work is left is not waited for.
    let asking = async {
        tokio::select! {
            outcome = asking => outcome,
            () = overdue(&job) => Err(job.interrupted(true)),
        }
    };
    // The first signal leaves the work and closes the session, the second does not wait.
    let mut first = None;
    let on_signal = |signal| {
        if first.is_some() {
            return Some(Err(job.interrupted(true)));
        }
        first = Some(signal);
        run.leave(signals::reason(signal));
        None
    };
    let listener = Some(SignalListener::hear()?);
    let shown = &mut TerminalView::new(&context.logger, printer);
    let outcome = follow_until(context, &run, shown, asking, listener, on_signal).await;
    match (outcome, first) {
        (Ok(()), _) => Ok(ExitStatus::Success),
        (Err(error), None) => Err(job.failure_without_secrets(error)),
        (Err(error), Some(signal)) => {
            printer.refuse(job.failure_without_secrets(error));
            Ok(ExitStatus::Interrupted(signal))
        }
    }
}

/// Waits until the work was to be left, and for as long as what runs may take to come to its end then.
async fn overdue(job: &TargetJob<'_>) {
    job.stop().reaches(Stage::End).await;
    let _ = timeout(GRACE, pending::<()>()).await;
}

/// The one target that a word names.
async fn one(context: &CommandContext, word: &str, direct: Direct) -> Result<Arc<Target>, Failure> {
    let words = words(&[word.to_owned()])?;
    let inventory = context.inventory().await?;
    let overrides = direct.overrides();
    let chosen = context.choose(inventory, &words, &overrides).await?;
    match chosen.targets.as_slice() {
        [target] => Ok(Arc::clone(target)),
        others => match missing(&chosen.inventory) {
            Some(missing) if others.is_empty() => Err(Failure::new("devgate/no-targets", missing)),
            _ => Err(Failure::other(format!(
                "a session is with one target, and `{word}` names {}",
                others.len()
            ))),
        },
    }
}
