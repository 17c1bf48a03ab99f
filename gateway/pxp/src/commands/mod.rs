//! `devgate pxp`: hosts PXP modules, and acts as one.

mod attend;
mod cancel;
mod folders;
mod list;
mod nonblocking;
mod run;
mod serve;
mod show;
mod status;

use clap::Subcommand;
use devgate_core::cancel::{CancelSource, CancelToken, Stage};
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;
use devgate_front::signals::{self, SignalListener};

pub use serve::{name_is_not_allowed, words};

/// Show PXP modules, run their actions as pxp-agent does, or act as a PXP module
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  devgate pxp list --modules-dir modules\n  echo '{\"input\": {\"targets\": \"routers\"}}' | devgate pxp serve verify"
)]
pub enum Pxp {
    /// List the modules of a folder, their actions, and why a module is not available
    List(list::List),
    /// Show the metadata of a module
    Show(show::Show),
    /// Run an action of a module
    Run(run::Run),
    /// Show the status of a nonblocking action
    Status(status::Status),
    /// Cancel a nonblocking action
    Cancel(cancel::Cancel),
    #[command(hide = true)]
    #[expect(missing_docs, reason = "help would show it")]
    Attend(attend::Attend),
    #[expect(missing_docs, reason = "its own help would be lost")]
    Serve(serve::Serve),
}

impl Pxp {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        global: &GlobalOptions,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        // A process has one logger, and a module finds its log level itself.
        let logger = || Logger::new(global, global.color(), printer.queue());
        match self {
            Self::List(list) => {
                stoppable(async |stop| list.run(&logger(), printer, stop).await).await
            }
            Self::Show(show) => {
                stoppable(async |stop| show.run(&logger(), printer, stop).await).await
            }
            Self::Run(run) => stoppable(async |stop| run.run(&logger(), printer, stop).await).await,
            Self::Status(status) => status.run(&logger(), printer).await,
            Self::Cancel(cancel) => cancel.run(printer).await,
            Self::Attend(attend) => {
                let attend = async |stop: &CancelToken| Ok(attend.run(printer, stop).await);
                stopped_by(Signals::Request, attend).await
            }
            Self::Serve(serve) => Ok(serve.run(global, printer).await),
        }
    }
}

/// What repeated signals do.
enum Signals {
    /// They end the work at once.
    Terminate,
    /// They only request the end: the work has results to record.
    Request,
}

/// Does work that signals end, including its child processes.
async fn stoppable(
    work: impl AsyncFnOnce(&CancelToken) -> Result<ExitStatus, Failure>,
) -> Result<ExitStatus, Failure> {
    stopped_by(Signals::Terminate, work).await
}

async fn stopped_by(
    signals: Signals,
    work: impl AsyncFnOnce(&CancelToken) -> Result<ExitStatus, Failure>,
) -> Result<ExitStatus, Failure> {
    let mut listener = SignalListener::listen()?;
    let cancel_source = CancelSource::default();
    let stop = cancel_source.token();
    let mut work = std::pin::pin!(work(&stop));
    loop {
        tokio::select! {
            result = &mut work => {
                return match listener.first() {
                    None => result,
                    // It reports itself that it was interrupted.
                    Some(signal) => result.map(|_| ExitStatus::Interrupted(signal)),
                };
            }
            signal = listener.signal() => cancel_source.cancel(signals::reason(signal)),
            stage = cancel_source.next() => match stage {
                // Waiting does not help a module to finish: it is requested to end at once.
                Some(stage) => cancel_source.raise(stage.max(Stage::End), None),
                None => match signals {
                    Signals::Terminate => {
                        return Err(Failure::new("devgate/interrupted", "interrupted"))
                    }
                    Signals::Request => return work.await,
                },
            }
        }
    }
}
