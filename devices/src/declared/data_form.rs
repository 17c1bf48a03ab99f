//! The forms for data protocols: each change is a request, and requests that can be joined are sent as one.

use std::collections::VecDeque;
use std::fmt::Debug;

use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::error::Refused;
use devgate_transports::{Context, DataRequest, DataStore, Error as TransportError};

use super::crud::ChangeKind;
use super::on_device::TypeOnDevice;
use crate::template::Medium;
use crate::{Change, Error, Result, SecretVisibility};

/// How a form turns changes into requests.
pub(super) trait DataForm: Debug + Send + Sync {
    /// How its values are written.
    fn medium(&self) -> Medium;

    /// The request for a change; `number` is unique among the changes of a set.
    ///
    /// # Errors
    /// Fails with the reason why there is no request.
    fn request(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        number: usize,
    ) -> Result<DataRequest>;

    /// Whether an update is independent of the current state.
    fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool;

    /// Whether a request depends on the device's facts.
    fn uses_facts(&self) -> bool;

    /// Whether two requests can be sent as one, which the target accepts or refuses as a whole, although it does not take
    /// all requests of a set so.
    fn can_join(&self, _: &DataRequest, _: &DataRequest) -> bool {
        false
    }

    /// Joins several such requests.
    fn joined(&self, requests: Vec<&DataRequest>) -> DataRequest;

    /// The request that caused a refusal, if the target says so.
    fn culprit(&self, _: &[&DataRequest], _: &Refused) -> Option<usize> {
        None
    }

    /// Whether a refusal means that the resource to delete does not exist.
    fn is_already_absent(&self, _: &Refused) -> bool {
        false
    }

    /// The request for a change, for display.
    ///
    /// # Errors
    /// Fails as [`request`](Self::request) does.
    fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>>;
}

/// A change that is ready to be sent.
struct Prepared {
    name: Name,
    kind: ChangeKind,
    request: DataRequest,
}

/// Applies changes. A resource whose request is refused fails; the others continue.
///
/// # Errors
/// Fails when the session was lost. Every change that was not reported as done has failed, or is in doubt.
pub(super) async fn set(
    form: &dyn DataForm,
    ctx: &Context<'_>,
    kind: &TypeOnDevice<'_>,
    changes: Vec<(Name, Change)>,
) -> Result<()> {
    let mut prepared = Vec::new();
    for (number, (name, change)) in (1..).zip(changes) {
        match form.request(kind, &name, &change, number) {
            Ok(request) => prepared.push(Prepared {
                kind: ChangeKind::of(&change),
                name,
                request,
            }),
            Err(error) => ctx.failed(name.title(), error.to_string()),
        }
    }
    if ctx.noop() || prepared.is_empty() {
        return Ok(());
    }
    let store = ctx
        .data_store()
        .ok_or_else(|| Error::Unsupported("the open session has no data to change".to_owned()))?;
    send(form, ctx, store, prepared).await
}

/// Sends each group as one request. A refused group had no effect: the request that caused the refusal is left
/// out, and the rest is sent again.
async fn send(
    form: &dyn DataForm,
    ctx: &Context<'_>,
    store: &dyn DataStore,
    prepared: Vec<Prepared>,
) -> Result<()> {
    let is_atomic = store.all_or_nothing(ctx).await?;
    let mut groups = VecDeque::from(grouped(form, prepared, is_atomic));
    while let Some(mut group) = groups.pop_front() {
        let requests: Vec<&DataRequest> = group.iter().map(|one| &one.request).collect();
        let request = form.joined(requests.clone());
        let refused = match store.set(ctx, &request).await {
            Ok(_) => {
                group
                    .iter()
                    .for_each(|one| one.kind.report(ctx, one.name.title()));
                continue;
            }
            Err(TransportError::Refused(refused)) => refused,
            Err(error) => return Err(error.into()),
        };
        let culprit = match form.culprit(&requests, &refused) {
            _ if group.len() == 1 => Some(0),
            other => other.filter(|culprit| *culprit < group.len()),
        };
        match culprit {
            Some(culprit) => {
                let Prepared { name, kind, .. } = group.remove(culprit);
                if kind == ChangeKind::Delete && form.is_already_absent(&refused) {
                    kind.report(ctx, name.title());
                } else {
                    ctx.failed(name.title(), refused.to_string());
                }
            }
            None => {
                let second = group.split_off(group.len() / 2);
                groups.push_front(second);
            }
        }
        if !group.is_empty() {
            groups.push_front(group);
        }
    }
    Ok(())
}

/// Groups adjacent requests that can be joined, in order.
fn grouped(form: &dyn DataForm, prepared: Vec<Prepared>, is_atomic: bool) -> Vec<Vec<Prepared>> {
    let mut groups: Vec<Vec<Prepared>> = Vec::new();
    for one in prepared {
        match groups.last_mut() {
            Some(group) if is_atomic || form.can_join(&group[0].request, &one.request) => {
                group.push(one);
            }
            _ => groups.push(vec![one]),
        }
    }
    groups
}
