//! A change that cannot cut its device off for good: locked, checked, committed on probation, tried
//! out, and only then confirmed.
//!
//! Whatever goes wrong before the commit is discarded. Behind it, the device takes the change back by
//! itself when this session ends or the time is over (RFC 6241, 8.4), so that no failure of the
//! gateway or of the way to the device leaves it unreachable.

use super::capabilities::Capability;
use super::change::{Change, Changed, Check};
use super::client::Client;
use super::operation::{Datastore, Operation};
use super::probation::Probation;
use super::procedure::ChangeProcedure;
use super::session::{NetconfSession, Open, Ready, SecondSession};
use crate::error::Aftermath;
use crate::{Context, Result};

impl NetconfSession {
    /// Makes a change, which stands only if `check` finds nothing wrong; without one, a second
    /// session must be possible.
    ///
    /// It waits for a lock that somebody else has, within the context's patience. On
    /// [probation](Self::begin_probation) it is neither checked nor confirmed yet.
    ///
    /// # Errors
    /// [`Error::Refused`](crate::Error::Refused) when the device refuses it: nothing has changed then.
    /// [`Error::Unconfirmed`](crate::Error::Unconfirmed) when it did not stand its check. [`Error::Interrupted`](crate::Error::Interrupted) says whether
    /// it may have taken effect.
    pub async fn change(
        &self,
        ctx: &Context<'_>,
        change: &Change,
        check: Option<&dyn Check>,
    ) -> Result<Changed> {
        let usual = SecondSession(self);
        let procedure = self.procedure(ctx, check.unwrap_or(&usual));
        let mut open = self.open.lock().await;
        let open = self.ready(ctx, &mut open).await?;
        if let Some(probation) = open.probation {
            return probation.change(&procedure, open.client, change).await;
        }
        let has_candidate = open.client.capabilities().has(Capability::Candidate);
        let mut changed = if has_candidate {
            procedure.by_candidate(open.client, change).await?
        } else {
            procedure.directly(open.client, change).await?
        };
        changed.saved = self.save_running(ctx, open.client).await?;
        Ok(changed)
    }

    /// Copies what runs to what the device starts with, where that is a configuration of its own and it
    /// shall follow. Whether it does.
    pub(super) async fn save_running(
        &self,
        ctx: &Context<'_>,
        client: &mut Client,
    ) -> Result<bool> {
        let saves = self.save && client.capabilities().has(Capability::Startup);
        if saves {
            let save = Operation::copy_config(Datastore::Running, Datastore::Startup);
            client.perform(ctx, &save).await?;
        }
        Ok(saves)
    }

    /// From now on changes are committed on probation: [`confirm`](Self::confirm) makes them stand,
    /// [`take_back`](Self::take_back) or the end of the session ends them all. Whether the device can do
    /// that.
    ///
    /// # Errors
    /// As [`perform`](Self::perform); that somebody else keeps the candidate locked.
    pub async fn begin_probation(&self, ctx: &Context<'_>) -> Result<bool> {
        let check = SecondSession(self);
        let procedure = self.procedure(ctx, &check);
        let mut open = self.open.lock().await;
        let Ready { client, probation } = self.ready(ctx, &mut open).await?;
        if probation.is_none() {
            *probation = Probation::begin(&procedure, client).await?;
        }
        Ok(probation.is_some())
    }

    /// Makes what is on probation stand, if a second session is possible.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`](crate::Error::Unconfirmed) when it does not stand, otherwise as [`perform`](Self::perform);
    /// [`take_back`](Self::take_back) sees to the rest.
    pub async fn confirm(&self, ctx: &Context<'_>) -> Result<()> {
        let check = SecondSession(self);
        let procedure = self.procedure(ctx, &check);
        let mut open = self.open.lock().await;
        let Ready { client, probation } = self.ready(ctx, &mut open).await?;
        if let Some(on_probation) = probation {
            on_probation.confirm(&procedure, client).await?;
            procedure.unlock(client, on_probation.unlock.take()).await;
            *probation = None;
            self.save_running(ctx, client).await?;
        }
        Ok(())
    }

    /// Has what is on probation taken back, and waits until the device has done so. Whether anything was.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`](crate::Error::Unconfirmed) when that cannot be seen, and when the device does it at the latest.
    pub async fn take_back(&self, ctx: &Context<'_>) -> Result<bool> {
        let check = SecondSession(self);
        let procedure = self.procedure(ctx, &check);
        let mut open = self.open.lock().await;
        let Some(limit) = open.probation.as_ref().map(|probation| probation.limit) else {
            return Ok(false);
        };
        let taken_back = self.see_taken_back(&procedure, &mut open).await;
        open.probation = None;
        taken_back
            .map_err(|error| procedure.unconfirmed(error, Aftermath::WillBeTakenBack(limit)))?;
        Ok(true)
    }

    async fn see_taken_back(&self, procedure: &ChangeProcedure<'_>, open: &mut Open) -> Result<()> {
        let Ready { client, probation } = self.ready(procedure.ctx, open).await?;
        if let Some(probation) = probation
            && probation.take_back(procedure, client).await
        {
            procedure.unlock(client, probation.unlock.take()).await;
            return Ok(());
        }
        // Nobody gets this lock while a commit waits to be confirmed (RFC 6241, 7.5).
        let Ready { client, .. } = self.ready(procedure.ctx, open).await?;
        let unlock = procedure.lock(client, Datastore::Running).await?;
        procedure.unlock(client, unlock).await;
        Ok(())
    }
}
