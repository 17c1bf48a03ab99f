//! The session of a command: its own one, or a shared session of this program.

use std::future::pending;
use std::sync::Arc;

use clap::Args;
use devgate_core::cancel::{GRACE, Stage};
use devgate_core::failure::Failure;
use devgate_engine::inventory::Target;
use devgate_engine::run::TargetJob;
use devgate_engine::session::{self, BorrowedSession, SessionHandle, Sessions};
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
use crate::targets::{DirectOption, words};
use crate::terminal_view::TerminalView;

/// Which session is used.
#[derive(Args, Debug)]
pub(super) struct SessionSource {
    /// One target; opens a session unless a shared session to this target exists
    #[arg(short, long, value_name = "TARGET", add = complete::targets())]
    target: Option<String>,
    #[command(flatten)]
    direct: DirectOption,
}

impl SessionSource {
    /// Does `work` in a session to the target, or in the shared session of this program.
    pub(super) async fn session(
        &self,
        global: &GlobalOptions,
        printer: &Printer,
        work: impl AsyncFnOnce(&mut SessionHandle<'_>) -> Result<(), Failure>,
    ) -> Result<ExitStatus, Failure> {
        let Some(target) = &self.target else {
            return with_shared_session(work).await;
        };
        let context = CommandContext::load(global, printer)?;
        let target = one_target(&context, target, self.direct).await?;
        with_own_session(&context, &target, printer, work).await
    }
}

/// Does `work` in the shared session of this program. It needs no project, because a task may run anywhere.
pub(super) async fn with_shared_session(
    work: impl AsyncFnOnce(&mut SessionHandle<'_>) -> Result<(), Failure>,
) -> Result<ExitStatus, Failure> {
    let mut lent =
        SessionHandle::Lent(BorrowedSession::from_environment(&Environment::of_process()).await?);
    work(&mut lent).await.map(|()| ExitStatus::Success)
}

/// Does `work` in a session to one target.
pub(super) async fn with_own_session(
    context: &CommandContext,
    target: &Target,
    printer: &Printer,
    work: impl AsyncFnOnce(&mut SessionHandle<'_>) -> Result<(), Failure>,
) -> Result<ExitStatus, Failure> {
    let run = context.begin(None);
    let job = run.job(target);
    let session_work = async {
        match &target.fault {
            Some(fault) => Err(Failure::from(&**fault)),
            None => {
                job.prepare().await?;
                let inventory = context.inventory().await?;
                let in_session = async |sessions: Sessions<'_, '_>| {
                    session::with_handle(sessions, &job, work).await
                };
                run.with_sessions(&inventory, in_session).await
            }
        }
    };
    // A session that does not close in time is not waited for.
    let session_work = async {
        tokio::select! {
            outcome = session_work => outcome,
            () = overdue(&job) => Err(job.interrupted(true)),
        }
    };
    // The first signal cancels the work and closes the session. The second one does not wait.
    let mut first = None;
    let on_signal = |signal| {
        if first.is_some() {
            return Some(Err(job.interrupted(true)));
        }
        first = Some(signal);
        run.leave(signals::reason(signal));
        None
    };
    let listener = Some(SignalListener::listen()?);
    let view = &mut TerminalView::new(&context.logger, printer);
    let outcome = follow_until(context, &run, view, session_work, listener, on_signal).await;
    match (outcome, first) {
        (Ok(()), _) => Ok(ExitStatus::Success),
        (Err(error), None) => Err(job.failure_without_secrets(error)),
        (Err(error), Some(signal)) => {
            printer.refuse(job.failure_without_secrets(error));
            Ok(ExitStatus::Interrupted(signal))
        }
    }
}

/// Waits until the work is cancelled, and then for the grace period.
async fn overdue(job: &TargetJob<'_>) {
    job.stop().reaches(Stage::End).await;
    let _ = timeout(GRACE, pending::<()>()).await;
}

/// The only target that a word names.
pub(super) async fn one_target(
    context: &CommandContext,
    name: &str,
    direct: DirectOption,
) -> Result<Arc<Target>, Failure> {
    let words = words(&[name.to_owned()])?;
    let inventory = context.inventory().await?;
    let overrides = direct.overrides();
    let chosen = context.choose(inventory, &words, &overrides).await?;
    match chosen.targets.as_slice() {
        [target] => Ok(Arc::clone(target)),
        others => match missing(&chosen.inventory) {
            Some(missing) if others.is_empty() => Err(Failure::new("devgate/no-targets", missing)),
            _ => Err(Failure::other(format!(
                "a session has one target, but `{name}` names {}",
                others.len()
            ))),
        },
    }
}
