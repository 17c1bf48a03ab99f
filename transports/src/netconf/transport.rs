//! The session traits, implemented with NETCONF.

use async_trait::async_trait;
use devgate_schemas::{Facts, Value};

use super::capabilities::Capability;
use super::change::Change;
use super::query::{self, Query};
use super::session::{NetconfSession, probe};
use super::{facts, modules, rpc};
use crate::error::Phase;
use crate::{Context, DataRequest, DataStore, Document, Error, Result, Transport};

#[async_trait]
impl Transport for NetconfSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        let mut open = self.open.lock().await;
        match open.client.as_mut() {
            Some(client) => probe(ctx, client, self.client_settings.timeout).await,
            None => self.ready(ctx, &mut open).await.map(drop),
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        {
            let client = self.hold(ctx).await?;
            facts.set("netconf.version", Value::from(client.version()));
            let capabilities = client.capabilities().iter().map(Value::from).collect();
            facts.set("netconf.capabilities", Value::Array(capabilities));
            if let Some(version) = client.ssh_version() {
                facts.set("ssh.version", Value::from(version));
            }
        }
        facts::collect(ctx, self, &mut facts).await?;
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        if let Some(client) = self.open.into_inner().client {
            client.close(ctx).await;
        }
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}

#[async_trait]
impl DataStore for NetconfSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let query = Query::parse(what)?;
        let prefixes = query.modules();
        let modules = match prefixes.as_slice() {
            [] => Vec::new(),
            names => modules::namespaces(ctx, self, names).await?,
        };
        let is_known = |prefix: &&String| modules.iter().any(|(name, _)| name == *prefix);
        let unknown = prefixes.iter().find(|prefix| !is_known(prefix)).cloned();
        let operation = query.operation(modules);
        let reply = self.perform(ctx, &operation).await;
        let reply = reply.map_err(|error| match error {
            Error::Refused(mut refused) if !prefixes.is_empty() && refused.hint.is_empty() => {
                refused.hint = query::about_prefixes(unknown.as_deref());
                Error::Refused(refused)
            }
            error => error,
        })?;
        let data = reply.data().ok_or_else(|| Error::Protocol {
            peer: self.client_settings.peer.clone(),
            protocol: "NETCONF",
            phase: Phase::Request,
            problem: format!("its answer to `{}` has no `data`", operation.name()),
        })?;
        Ok(Document::Text(data.to_pretty()))
    }

    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        if request.method.as_deref() == Some(rpc::METHOD) {
            let reply = self.perform(ctx, &rpc::requested(request)?).await?;
            return Ok(rpc::answer(&reply));
        }
        let change = Change::requested(request)?;
        let changed = self.change(ctx, &change, None).await?;
        Ok(Document::Data(changed.to_value()))
    }

    /// True if the device has a candidate, or rolls back by itself what it did before an error.
    async fn all_or_nothing(&self, ctx: &Context<'_>) -> Result<bool> {
        let client = self.hold(ctx).await?;
        let has = |capability| client.capabilities().has(capability);
        Ok(has(Capability::Candidate) || has(Capability::RollbackOnError))
    }
}
