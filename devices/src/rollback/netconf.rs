//! Rollback over NETCONF. Where the device supports confirmed commits, the changes of a run are confirmed at its
//! end: without that, the device reverts them itself. Elsewhere the saved configuration replaces the running one.

use async_trait::async_trait;
use devgate_schemas::{Sensitive, Value};
use devgate_transports::netconf::Element;
use devgate_transports::{Context, DataRequest, DataStore, Document, NetconfSession};

use super::device_rollback::{DeviceRollback, RestorePoint};
use crate::{Error, Result};

/// Cancels the confirmed commit, if there is one. Then replaces the top-level elements that differ, and no others.
#[derive(Debug)]
pub(crate) struct NetconfRollback;

/// The datastore that is read.
const RUNNING: &str = "running";

async fn running(ctx: &Context<'_>) -> Result<RestorePoint> {
    match store(ctx)?.get(ctx, RUNNING).await? {
        Document::Text(text) => Ok(RestorePoint(Sensitive::new(text))),
        Document::Data(_) => Err(Error::Unsupported(
            "the device does not show its configuration as XML".to_owned(),
        )),
    }
}

fn store<'a>(ctx: &Context<'a>) -> Result<&'a dyn DataStore> {
    ctx.data_store()
        .ok_or_else(|| Error::Unsupported("the open session has no data to change".to_owned()))
}

/// The top-level elements of a configuration.
fn elements(restore_point: &RestorePoint) -> Result<Vec<Element>> {
    let roots = Element::parse_all(restore_point.0.reveal());
    let roots = roots.map_err(|error| {
        let message = format!("it is not the XML that it should be: {error}");
        Error::Answer {
            query: RUNNING.to_owned(),
            row: None,
            message,
        }
    })?;
    let elements = roots.into_iter().flat_map(Element::into_children);
    Ok(elements.collect())
}

fn is_same(one: &Element, other: &Element) -> bool {
    one.name() == other.name() && one.namespace() == other.namespace()
}

/// The elements of one configuration that are missing or different in another.
fn differing<'e>(from: &'e [Element], to: &'e [Element]) -> impl Iterator<Item = &'e Element> {
    from.iter().filter(move |element| {
        let same = to.iter().find(|other| is_same(element, other));
        same.is_none_or(|same| same.to_string() != element.to_string())
    })
}

#[async_trait]
impl DeviceRollback for NetconfRollback {
    /// The running configuration is saved in both cases, to verify the rollback.
    async fn begin(&self, ctx: &Context<'_>) -> Result<RestorePoint> {
        let Some(session) = ctx.transport::<NetconfSession>() else {
            return running(ctx).await;
        };
        if !session.begin_probation(ctx).await? {
            ctx.debug(
                "the device has no confirmed commit, or `confirm_timeout` is 0: only this gateway \
                 can bring it back",
            );
        }
        let restore_point = running(ctx).await;
        if restore_point.is_err() {
            session.take_back(ctx).await?;
        }
        restore_point
    }

    async fn keep(&self, ctx: &Context<'_>, _: &RestorePoint) -> Result<()> {
        match ctx.transport::<NetconfSession>() {
            Some(session) => Ok(session.confirm(ctx).await?),
            None => Ok(()),
        }
    }

    /// A `default-operation` of `replace` would be shorter, but netconfd of yuma123 2.13 keeps elements
    /// that the request does not name.
    async fn restore(&self, ctx: &Context<'_>, restore_point: RestorePoint) -> Result<()> {
        if let Some(session) = ctx.transport::<NetconfSession>() {
            session.take_back(ctx).await?;
        }
        let (current, saved) = (elements(&running(ctx).await?)?, elements(&restore_point)?);
        let mut change = String::new();
        for element in differing(&saved, &current) {
            let element = element.clone().attribute("nc:operation", "replace");
            change.push_str(&element.to_string());
        }
        for element in current
            .iter()
            .filter(|element| !saved.iter().any(|saved| is_same(element, saved)))
        {
            let namespace = element.namespace().unwrap_or_default();
            let deletion = Element::in_namespace(namespace, element.name())
                .attribute("nc:operation", "delete");
            change.push_str(&deletion.to_string());
        }
        if change.is_empty() {
            return Ok(());
        }
        let request = DataRequest {
            body: Some(Value::from(change).into_sensitive()),
            ..DataRequest::default()
        };
        store(ctx)?.set(ctx, &request).await?;
        let current = elements(&running(ctx).await?)?;
        let remaining: Vec<String> = differing(&saved, &current)
            .chain(differing(&current, &saved))
            .map(|element| format!("`{}`", element.name()))
            .collect();
        if remaining.is_empty() {
            return Ok(());
        }
        Err(Error::NotRestored(format!(
            "{} differs",
            remaining.join(", ")
        )))
    }
}
