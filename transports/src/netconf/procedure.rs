//! The procedure of a change through one session: the sequence of requests, and the handling of a failed
//! step.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::capabilities::Capability;
use super::change::{Change, Changed, Check};
use super::client::Client;
use super::operation::{Commit, Datastore, Edit, ErrorOption, Operation, TestOption};
use crate::error::{ChangeOutcome, Phase, UnconfirmedChange};
use crate::{Context, Error, Result};

/// The procedure of changes through one session.
pub(super) struct ChangeProcedure<'a> {
    pub(super) ctx: &'a Context<'a>,
    pub(super) peer: &'a str,
    /// The timeout of confirmed commits; `None` turns them off.
    pub(super) confirm_timeout: Option<Duration>,
    pub(super) check: &'a dyn Check,
}

impl ChangeProcedure<'_> {
    /// Locks, edits, commits and confirms. Discards the change if the device refuses it.
    pub(super) async fn by_candidate(
        &self,
        client: &mut Client,
        change: &Change,
    ) -> Result<Changed> {
        let unlock = self.lock(client, Datastore::Candidate).await?;
        let result = self.edit_and_commit(client, change).await;
        if result.is_err() {
            self.discard(client).await;
        }
        self.unlock(client, unlock).await;
        result
    }

    async fn edit_and_commit(&self, client: &mut Client, change: &Change) -> Result<Changed> {
        self.edit(client, change).await?;
        let Some(limit) = self.confirms(client) else {
            let commit = Operation::commit(&Commit::default());
            client.perform(self.ctx, &commit).await?;
            return Ok(Changed::by_commit(false));
        };
        self.commit_for(client, limit).await?;
        self.confirm(client, limit).await?;
        Ok(Changed::by_commit(true))
    }

    /// Returns the timeout after which the device reverts an unconfirmed commit; `None` if it cannot or must
    /// not.
    pub(super) fn confirms(&self, client: &Client) -> Option<Duration> {
        let can_confirm = client.capabilities().has(Capability::ConfirmedCommit);
        self.confirm_timeout.filter(|_| can_confirm)
    }

    /// Edits the candidate.
    pub(super) async fn edit(&self, client: &mut Client, change: &Change) -> Result<()> {
        let Change {
            config,
            default_operation,
        } = change;
        let edit = Operation::edit_config(&Edit {
            target: Datastore::Candidate,
            default_operation: *default_operation,
            test_option: tested(client),
            error_option: None,
            config,
        });
        // The device validates here and at the commit. A separate `validate` in between would check no
        // more, and after one, netconfd of yuma123 2.13 commits nothing and replies `ok`.
        client.perform(self.ctx, &edit).await.map(drop)
    }

    /// Commits the candidate on probation.
    pub(super) async fn commit_for(&self, client: &mut Client, limit: Duration) -> Result<()> {
        let commit = Operation::commit(&Commit {
            confirmed: Some(limit),
            ..Commit::default()
        });
        match client.perform(self.ctx, &commit).await {
            Ok(_) => Ok(()),
            // The commit was made, and the device reverts it, or it was not made.
            Err(error @ Error::Interrupted(_)) => {
                Err(self.unconfirmed(error, ChangeOutcome::Unanswered(limit)))
            }
            Err(error) => Err(error),
        }
    }

    /// Confirms the commit on probation if the check succeeds. Otherwise reverts it.
    pub(super) async fn confirm(&self, client: &mut Client, limit: Duration) -> Result<()> {
        if let Err(error) = self.tried(client, limit).await {
            let then = self.take_back(client, limit).await;
            return Err(self.unconfirmed(error, then));
        }
        let confirming = Operation::commit(&Commit::default());
        client.perform(self.ctx, &confirming).await.map(drop)
    }

    /// Changes the running configuration directly, for devices without a candidate.
    pub(super) async fn directly(&self, client: &mut Client, change: &Change) -> Result<Changed> {
        let Change {
            config,
            default_operation,
        } = change;
        let unlock = self.lock(client, Datastore::Running).await?;
        let rolls_back = client.capabilities().has(Capability::RollbackOnError);
        let edit = Operation::edit_config(&Edit {
            target: Datastore::Running,
            default_operation: *default_operation,
            test_option: tested(client),
            error_option: rolls_back.then_some(ErrorOption::Rollback),
            config,
        });
        let edited = client.perform(self.ctx, &edit).await;
        let mut result = edited.map(|_| Changed {
            committed: false,
            confirmed: false,
            saved: false,
        });
        if let (Ok(_), Some(limit)) = (&result, self.confirm_timeout)
            && let Err(error) = self.tried(client, limit).await
        {
            result = Err(self.unconfirmed(error, ChangeOutcome::InEffect));
        }
        self.unlock(client, unlock).await;
        result
    }

    /// Locks a datastore, and waits while another session holds the lock. Returns the operation that releases it,
    /// or `None` on a device without locks.
    pub(super) async fn lock(
        &self,
        client: &mut Client,
        datastore: Datastore,
    ) -> Result<Option<Operation>> {
        let what = format!(
            "lock the {} configuration of {}",
            datastore.as_str(),
            self.peer
        );
        let mut attempts = self.ctx.retry_budget().attempts(self.ctx, what);
        let lock = Operation::lock(datastore);
        loop {
            match attempts.attempt(client.perform(self.ctx, &lock)).await {
                Ok(_) => return Ok(Some(Operation::unlock(datastore))),
                Err(Error::Refused(refused)) if refused.status == "operation-not-supported" => {
                    self.ctx.notice(format!(
                        "{} has no lock for its {} configuration: the change is made without one",
                        self.peer,
                        datastore.as_str()
                    ));
                    return Ok(None);
                }
                Err(error @ Error::Refused(_)) => attempts.pause(error).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Releases a lock, if there is one.
    pub(super) async fn unlock(&self, client: &mut Client, unlock: Option<Operation>) {
        match unlock {
            Some(unlock) if client.is_usable() => self.tidy(client, &unlock).await,
            Some(_) => self
                .ctx
                .debug("the device gives the lock back with the session"),
            None => {}
        }
    }

    /// Discards the changes in the candidate.
    pub(super) async fn discard(&self, client: &mut Client) {
        if client.is_usable() {
            self.tidy(client, &Operation::discard_changes()).await;
        }
    }

    /// Runs the check, and leaves some time to confirm.
    async fn tried(&self, client: &mut Client, limit: Duration) -> Result<()> {
        let limit = limit.mul_f64(0.75);
        let started = Instant::now();
        match timeout(limit, self.check.check(self.ctx, client)).await {
            Ok(checked) => checked?,
            Err(_) => {
                return Err(Error::TimedOut {
                    peer: self.peer.to_owned(),
                    phase: Phase::Request,
                    limit,
                    hint: ", which the check was waiting for (`confirm_timeout`)".to_owned(),
                });
            }
        }
        let took = started.elapsed().as_secs_f64();
        self.ctx.debug(format!(
            "the change passed its check, which took {took:.1} s"
        ));
        Ok(())
    }

    /// Reverts an unconfirmed commit. If it cannot be cancelled, ending the session reverts it.
    pub(super) async fn take_back(&self, client: &mut Client, limit: Duration) -> ChangeOutcome {
        let cancels = client.capabilities().has(Capability::ConfirmedCommit11);
        if cancels && client.is_usable() {
            let cancelled = client.perform(self.ctx, &Operation::cancel_commit()).await;
            if cancelled.is_ok() {
                return ChangeOutcome::RolledBack;
            }
        }
        client.end(self.ctx).await;
        ChangeOutcome::WillRollBack(limit)
    }

    /// Performs a cleanup operation at the end of a change. A failure no longer affects the result.
    async fn tidy(&self, client: &mut Client, operation: &Operation) {
        if let Err(error) = client.perform(self.ctx, operation).await {
            self.ctx.warning(error.to_string());
        }
    }

    pub(super) fn unconfirmed(&self, why: Error, outcome: ChangeOutcome) -> Error {
        Error::UnconfirmedChange(Box::new(UnconfirmedChange {
            peer: self.peer.to_owned(),
            why: Box::new(why),
            outcome,
        }))
    }
}

/// Returns the option that lets the device validate a change before making it, if it can.
fn tested(client: &Client) -> Option<TestOption> {
    let tests = client.capabilities().has(Capability::Validate);
    tests.then_some(TestOption::TestThenSet)
}
