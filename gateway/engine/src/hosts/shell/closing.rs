//! The end of a host in a run: nothing of the run is left there, if the host still answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_transports::RetryBudget;
use tokio::time::timeout;

use super::Shell;
use super::programs::SHORT_SCRIPT_LIMIT;
use super::script::Script;

/// The longest time that closing the host may take.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

/// How long a host may take to prove that it is alive when it is closed.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);

impl Shell<'_> {
    /// Ends the tasks that still run, removes the run's directory and closes the connections. A host that does not answer
    /// is given up.
    pub(in crate::hosts) async fn close(&self) {
        let (ctx, access) = (self.host_context.ctx(), &self.programs.access);
        let what = match self.running().len() {
            0 => "",
            _ => "processes of tasks and ",
        };
        let closed = tokio::select! {
            biased;
            () = access.silence(ANSWER_LIMIT) => Err(no_answer(ANSWER_LIMIT)),
            closed = timeout(CLOSE_LIMIT, self.clean()) => {
                closed.unwrap_or_else(|_| Err(no_answer(CLOSE_LIMIT)))
            }
        };
        match closed {
            Ok(()) => access.close(&ctx).await,
            Err(why) => {
                ctx.warning(format!("{what}{} may still be there: {why}", self.dir));
                access.abandon();
            }
        }
    }

    /// Ends the tasks that still run, and removes the run's directory.
    ///
    /// # Errors
    /// Fails when the host cannot be reached any more.
    async fn clean(&self) -> Result<(), Failure> {
        let may_have_dir = self.may_have_dir.load(Ordering::Relaxed);
        if !may_have_dir && self.running().is_empty() {
            return Ok(());
        }
        // The connection may have been lost. Then there is one try to open another one.
        let retry_budget = RetryBudget::at_most(ANSWER_LIMIT);
        retry_budget.give_up();
        let ctx = self.host_context.ctx();
        let ctx = ctx.with_retry_budget(&retry_budget);
        self.programs.access.connect(&ctx).await?;
        let running: Vec<_> = self.running().drain().collect();
        for (mark, group) in running {
            match self.programs.end(&ctx, &mark, group, Duration::ZERO).await {
                Ok(left) if left.is_empty() => {}
                Ok(left) => ctx.warning(format!("processes of a task are still running: {left}")),
                Err(why) => {
                    ctx.warning(format!("processes of a task may still be running: {why}"));
                }
            }
        }
        if !may_have_dir {
            return Ok(());
        }
        if !self.settings.cleanup {
            ctx.notice(format!("{} is kept: `cleanup` is false", self.dir));
            return Ok(());
        }
        let remove = Script::remove(&self.dir);
        let removed = self.programs.run_short(&ctx, &remove, SHORT_SCRIPT_LIMIT);
        if let Err(why) = removed.await {
            ctx.warning(format!("{} could not be removed: {why}", self.dir));
        }
        Ok(())
    }
}

/// Returns the error for a host that does not answer when it is closed.
fn no_answer(limit: Duration) -> Failure {
    let message = format!("the host has not answered for {limit:?}");
    Failure::new("puppetlabs.tasks/connect-error", message)
}
