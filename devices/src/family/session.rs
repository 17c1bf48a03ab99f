//! A family's session: its protocol's session with the family's facts.

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::Facts;
use devgate_transports::{Context, Result, Transport};

use super::as_needed::AsNeeded;
use super::facts::FactSources;

/// An open session with a device of a family.
#[derive(Debug)]
pub(super) struct Session {
    inner: Box<dyn Transport>,
    facts: Arc<AsNeeded<FactSources>>,
}

impl Session {
    pub(super) fn new(inner: Box<dyn Transport>, facts: Arc<AsNeeded<FactSources>>) -> Self {
        Self { inner, facts }
    }
}

#[async_trait]
impl Transport for Session {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        self.inner.verify(ctx).await
    }

    /// Returns the protocol's facts, overlaid by the family's. A failing command affects no other facts.
    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = self.inner.facts(ctx).await?;
        let lent = ctx.with_transport(&*self.inner);
        self.facts.collect(&lent, &mut facts).await?;
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        self.inner.close(ctx).await;
    }

    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.inner)
    }
}
