//! Changes that stand together or not at all: each is committed on probation, and only the end of them all
//! confirms them (RFC 6241, 8.4).
//!
//! Until then the device takes back everything by itself: when the session ends, so when the gateway
//! dies, and when the time is over, so when a change has cut the way to it. Each further commit begins the
//! time anew, and so does [`Probation::keep_up`], before any other request for which more than half of it
//! is gone. It is not named (`persist`): then it would outlive the session, and the device would wait for
//! the time to be over.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::Instant;

use super::change::{Change, Changed};
use super::client::Client;
use super::operation::{Datastore, Operation};
use super::procedure::ChangeProcedure;
use crate::error::Aftermath;
use crate::{Error, Result};

/// How much of its time a device has waited at the most when it is sure that it still does: from when it was
/// asked to until it is asked for more.
const SURE: f64 = 0.75;

/// Changes on probation, in one session.
#[derive(Debug)]
pub(super) struct Probation {
    /// After how long the device takes them back.
    pub(super) limit: Duration,
    /// Keeps others from what would be taken back with them; nothing on a device that has no locks.
    pub(super) unlock: Option<Operation>,
    /// Since when the device waits, where anything has been committed.
    since: Option<Instant>,
    /// Whether the session has ended that it belongs to.
    is_lost: bool,
}

impl Probation {
    /// Begins in a session; `None` where the device has no confirmed commit, or shall not use it.
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

    /// Makes a change; what is refused is discarded, and what was made before it stays on probation.
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

    /// Begins the time anew if much of it is gone: nothing may be in the candidate.
    pub(super) async fn keep_up(&mut self, procedure: &ChangeProcedure<'_>, client: &mut Client) {
        let is_due = self
            .since
            .is_some_and(|since| since.elapsed() > self.limit / 2);
        if is_due
            && self.holds(procedure).is_ok()
            && let Err(error) = self.commit(procedure, client).await
        {
            // The end finds out what the device makes of it.
            procedure.ctx.warning(error.to_string());
        }
    }

    /// Confirms everything, if it stands its check; else it is taken back, or will be.
    pub(super) async fn confirm(
        &mut self,
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
    ) -> Result<()> {
        if self.since.is_none() {
            return Ok(());
        }
        // The check has all the time.
        self.commit(procedure, client).await?;
        let confirmed = procedure.confirm(client, self.limit).await;
        if let Err(Error::Unconfirmed(unconfirmed)) = &confirmed
            && unconfirmed.then == Aftermath::TakenBack
        {
            self.since = None;
        }
        confirmed
    }

    /// Has the device take everything back. Whether it did so at once.
    pub(super) async fn take_back(
        &mut self,
        procedure: &ChangeProcedure<'_>,
        client: &mut Client,
    ) -> bool {
        match self.since {
            None => true,
            Some(_) if self.is_lost => false,
            Some(_) => procedure.take_back(client, self.limit).await == Aftermath::TakenBack,
        }
    }

    /// The session has ended that it belongs to, and the lock with it.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.unlock = None;
    }

    async fn commit(&mut self, procedure: &ChangeProcedure<'_>, client: &mut Client) -> Result<()> {
        self.holds(procedure)?;
        let sent = Instant::now();
        let committed = procedure.commit_for(client, self.limit).await;
        if let Err(Error::Unconfirmed(_)) = &committed {
            // Nobody knows whether it was: the device may be waiting.
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

    /// Whether the device still waits, for sure: what is committed to one that has already gone back would
    /// be taken for all there is, and confirmed.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`], saying why not.
    fn holds(&self, procedure: &ChangeProcedure<'_>) -> Result<()> {
        let Self { limit, since, .. } = *self;
        let then = Aftermath::WillBeTakenBack(limit);
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
