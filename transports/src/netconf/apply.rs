//! Applying changes so that they cannot cut off the device for good: locked, validated, committed on
//! probation, checked, and only then confirmed.
//!
//! Any failure before the commit discards the change. After the commit, the device reverts the change by
//! itself when this session ends or the timeout expires (RFC 6241, 8.4). So no failure of the gateway or
//! of the network leaves the device unreachable.

use super::capabilities::Capability;
use super::change::{Change, Changed, Check};
use super::client::Client;
use super::operation::{Datastore, Operation};
use super::probation::Probation;
use super::procedure::ChangeProcedure;
use super::session::{NetconfSession, Open, Ready, SecondSession};
use crate::error::ChangeOutcome;
use crate::{Context, Result};

impl NetconfSession {
    /// Applies a change, which is kept only if `check` succeeds. Without a `check`, it must be possible to open
    /// a second session.
    ///
    /// If another session holds the lock, it waits within the context's retry budget. On
    /// [probation](Self::begin_probation), the change is neither checked nor confirmed yet.
    ///
    /// # Errors
    /// Fails with [`Error::Refused`](crate::Error::Refused) when the device refuses the change; then nothing has
    /// changed. Fails with [`Error::UnconfirmedChange`](crate::Error::UnconfirmedChange) when the check failed.
    /// [`Error::Interrupted`](crate::Error::Interrupted) says whether the change may have taken effect.
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

    /// Copies the running configuration to the startup configuration, if that is a separate datastore and the
    /// settings ask for it. Returns whether it did.
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

    /// Starts probation: changes are committed on probation from now on. [`confirm`](Self::confirm) makes them
    /// permanent; [`take_back`](Self::take_back) or the end of the session reverts all of them. Returns whether
    /// the device supports this.
    ///
    /// # Errors
    /// Fails as [`perform`](Self::perform) does, and when another session keeps the candidate locked.
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

    /// Confirms the changes on probation, if their check succeeds: by default, a second session must be possible.
    ///
    /// # Errors
    /// Fails with [`Error::UnconfirmedChange`](crate::Error::UnconfirmedChange) when the check fails, otherwise as
    /// [`perform`](Self::perform) does. Then call [`take_back`](Self::take_back).
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

    /// Reverts the changes on probation, and waits until the device has done so. Returns whether there were any.
    ///
    /// # Errors
    /// Fails with [`Error::UnconfirmedChange`](crate::Error::UnconfirmedChange) when the result cannot be verified. The error
    /// says when the device reverts them at the latest.
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
            .map_err(|error| procedure.unconfirmed(error, ChangeOutcome::WillRollBack(limit)))?;
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
        // This lock is denied as long as a commit waits for confirmation (RFC 6241, 7.5).
        let Ready { client, .. } = self.ready(procedure.ctx, open).await?;
        let unlock = procedure.lock(client, Datastore::Running).await?;
        procedure.unlock(client, unlock).await;
        Ok(())
    }
}
