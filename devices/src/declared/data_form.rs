//! The forms for data: each change a request, and what belongs together sent as one.

use std::collections::VecDeque;
use std::fmt::Debug;

use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::error::Refused;
use devgate_transports::{Context, DataStore, Error as TransportError, Request};

use super::crud::ChangeKind;
use crate::template::Medium;
use crate::{Change, Error, Result, SecretVisibility};

/// How a form makes requests of changes.
pub(super) trait DataForm: Debug + Send + Sync {
    /// What its values are written as.
    fn medium(&self) -> Medium;

    /// The request that makes a change; `number` is no other change's of the same set.
    ///
    /// # Errors
    /// Why there is none.
    fn request(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        number: usize,
    ) -> Result<Request>;

    /// Whether an update to this is the same whatever the target holds.
    fn is_blind(&self, schema: &TypeSchema, should: &Resource) -> bool;

    /// Whether two requests can be sent as one, which the target takes or refuses as a whole.
    fn can_join(&self, one: &Request, other: &Request) -> bool;

    /// Several such requests as one.
    fn joined(&self, requests: Vec<&Request>) -> Request;

    /// Which of the requests was refused, where the target says so.
    fn culprit(&self, _: &[&Request], _: &Refused) -> Option<usize> {
        None
    }

    /// Whether a refusal means that what was to be deleted is not there.
    fn is_already_gone(&self, _: &Refused) -> bool {
        false
    }

    /// The request of a change as people read it.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>>;
}

/// A change that is ready to be sent.
struct Ready {
    name: Name,
    what: ChangeKind,
    request: Request,
}

/// Makes changes. A resource whose request is refused has failed, and the others go on.
///
/// # Errors
/// The loss of the session; what is not told as done has then failed, or is in doubt.
pub(super) async fn set(
    form: &dyn DataForm,
    ctx: &Context<'_>,
    schema: &TypeSchema,
    changes: Vec<(Name, Change)>,
) -> Result<()> {
    let mut ready = Vec::new();
    for (number, (name, change)) in (1..).zip(changes) {
        match form.request(schema, &name, &change, number) {
            Ok(request) => ready.push(Ready {
                what: ChangeKind::of(&change),
                name,
                request,
            }),
            Err(error) => ctx.failed(name.title(), error.to_string()),
        }
    }
    if ctx.noop() || ready.is_empty() {
        return Ok(());
    }
    let store = ctx
        .data_store()
        .ok_or_else(|| Error::Unsupported("the open session has no data to change".to_owned()))?;
    send(form, ctx, store, ready).await
}

/// Sends what belongs together at once. Of what is refused as a whole nothing took effect: what was
/// the reason is left out, and the rest sent again.
async fn send(
    form: &dyn DataForm,
    ctx: &Context<'_>,
    store: &dyn DataStore,
    ready: Vec<Ready>,
) -> Result<()> {
    let is_whole = store.all_or_nothing(ctx).await?;
    let mut groups = VecDeque::from(grouped(form, ready, is_whole));
    while let Some(mut group) = groups.pop_front() {
        let requests: Vec<&Request> = group.iter().map(|one| &one.request).collect();
        let request = form.joined(requests.clone());
        let refused = match store.set(ctx, &request).await {
            Ok(_) => {
                group
                    .iter()
                    .for_each(|one| one.what.tell(ctx, one.name.title()));
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
                let Ready { name, what, .. } = group.remove(culprit);
                if what == ChangeKind::Delete && form.is_already_gone(&refused) {
                    what.tell(ctx, name.title());
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

/// Neighbours that belong together, in groups; their order stays.
fn grouped(form: &dyn DataForm, ready: Vec<Ready>, is_whole: bool) -> Vec<Vec<Ready>> {
    let mut groups: Vec<Vec<Ready>> = Vec::new();
    for one in ready {
        match groups.last_mut() {
            Some(group) if is_whole || form.can_join(&group[0].request, &one.request) => {
                group.push(one);
            }
            _ => groups.push(vec![one]),
        }
    }
    groups
}
