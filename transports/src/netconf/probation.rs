//! Probation: changes that are kept all together or not at all. Each change is committed on probation, and
//! only a final confirmation makes them permanent (RFC 6241, 8.4).
//!
//! Until then, the device reverts everything by itself when the session ends (for example, when the gateway
//! dies) or when the timeout expires (for example, when a change has cut the connection). Each further commit
//! restarts the timeout. So does [`Probation::keep_up`] before any other request, if more than half of the
//! time has passed. The commit has no `persist` name: with one it would outlive the session, and the device
//! would wait for the timeout.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::Instant;

use super::change::{Change, Changed};
use super::client::Client;
use super::operation::{Datastore, Operation};
use super::procedure::ChangeProcedure;
use crate::error::ChangeOutcome;
use crate::{Error, Result};

/// The part of the timeout within which the device is certainly still waiting, measured from the last commit
/// request to the next one.
const SURE: f64 = 0.75;

/// The changes on probation in one session.
#[derive(Debug)]
pub(super) struct Probation {
    /// The timeout after which the device reverts them.
    pub(super) limit: Duration,
    /// The operation that releases the lock against other sessions' changes; `None` on a device without locks.
    pub(super) unlock: Option<Operation>,
    /// The time of the last commit request, if there was any.
    since: Option<Instant>,
    /// Whether the session has ended.
    is_lost: bool,
}

impl Probation {
    /// Starts probation in a session. Returns `None` if the device has no confirmed commit, or must not use it.
    pub(super) async fn begin(
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
    ) -> Result<Option<Self>> {
        let Some(limit) = procedure.confirms(client) else {
            return Ok(None);
        };
        Ok(Some(Self {
            limit,
            unlock: procedure.lock(client, Datastore::Candidate).await?,
            since: None,
            is_lost: false,
        }))
    }

    /// Makes a change. A refused change is discarded; earlier changes stay on probation.
    pub(super) async fn change(
        &mut self,
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
        change: &Change,
    ) -> Result<Changed> {
        self.holds(procedure)?;
        let mut made = procedure.edit(client, change).await;
        if made.is_ok() {
            made = self.commit(procedure, client).await;
        }
        if made.is_err() {
            procedure.discard(client).await;
        }
        made.map(|()| Changed::by_commit(false))
    }

    /// Restarts the timeout if half of it has passed. The candidate must be unchanged.
    pub(super) async fn keep_up(&mut self, procedure: &ChangeProcedure<'_>, client: &mut Client) {
        let is_due = self
            .since
            .is_some_and(|since| since.elapsed() > self.limit / 2);
        if is_due
            && self.holds(procedure).is_ok()
            && let Err(error) = self.commit(procedure, client).await
        {
            // The final confirmation shows how the device handled it.
            procedure.ctx.warning(error.to_string());
        }
    }

    /// Confirms everything if the check succeeds. Otherwise the changes are reverted, or will be.
    pub(super) async fn confirm(
        &mut self,
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
    ) -> Result<()> {
        if self.since.is_none() {
            return Ok(());
        }
        // This gives the check the full time.
        self.commit(procedure, client).await?;
        let confirmed = procedure.confirm(client, self.limit).await;
        if let Err(Error::UnconfirmedChange(unconfirmed)) = &confirmed
            && unconfirmed.outcome == ChangeOutcome::RolledBack
        {
            self.since = None;
        }
        confirmed
    }

    /// Asks the device to revert everything. Returns whether it did so at once.
    pub(super) async fn take_back(
        &mut self,
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
    ) -> bool {
        match self.since {
            None => true,
            Some(_) if self.is_lost => false,
            Some(_) => procedure.take_back(client, self.limit).await == ChangeOutcome::RolledBack,
        }
    }

    /// Records that the session has ended, and its lock with it.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.unlock = None;
    }

    async fn commit(&mut self, procedure: &ChangeProcedure<'_>, client: &mut Client) -> Result<()> {
        self.holds(procedure)?;
        let sent = Instant::now();
        let committed = procedure.commit_for(client, self.limit).await;
        if let Err(Error::UnconfirmedChange(_)) = &committed {
            // It is unknown whether the commit was made, so the device may be waiting.
            self.since.get_or_insert(sent);
        }
        committed?;
        self.since = Some(sent);
        procedure.ctx.debug(format!(
            "the commit waits {} s for its confirmation",
            self.limit.as_secs()
        ));
        Ok(())
    }

    /// Checks that the device is certainly still waiting. If it has reverted already, a further commit would
    /// contain only the last change, and would be confirmed as if it were complete.
    ///
    /// # Errors
    /// Fails with [`Error::Unconfirmed`], which gives the reason.
    fn holds(&self, procedure: &ChangeProcedure<'_>) -> Result<()> {
        let Self { limit, since, .. } = *self;
        let then = ChangeOutcome::WillRollBack(limit);
        if self.is_lost {
            let peer = procedure.peer.to_owned();
            let why = "the session ended, and with it the probation of what was changed".into();
            return Err(procedure.unconfirmed(Error::Lost { peer, why }, then));
        }
        if since.is_some_and(|since| since.elapsed() > limit.mul_f64(SURE)) {
            let why = Error::Unsupported(format!(
                "most of the {} s for which it waits passed in one step: set `confirm_timeout` to more",
                limit.as_secs()
            ));
            return Err(procedure.unconfirmed(why, then));
        }
        Ok(())
    }
}
