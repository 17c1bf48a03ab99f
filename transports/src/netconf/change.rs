//! A change that cannot cut its device off for good: locked, checked, committed on probation, tried
//! out, and only then confirmed.
//!
//! Whatever goes wrong before the commit is discarded. Behind it, the device takes the change back by
//! itself when this session ends or the time is over (RFC 6241, 8.4), so that no failure of the
//! gateway or of the way to the device leaves it unreachable.

#[cfg(test)]
mod tests;
mod way;

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};

use super::capabilities::Capability;
use super::client::Client;
use super::operation::{Datastore, DefaultOperation, Operation};
use super::query::elements;
use super::session::{NetconfSession, probe};
use super::xml::Element;
use crate::{Context, Error, Request, Result};

pub(super) use way::Way;

/// A change to a device's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What goes into `<config>`.
    pub config: Vec<Element>,
    /// What becomes of the parts that say nothing themselves.
    pub default_operation: DefaultOperation,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether it went by a candidate configuration, as a whole.
    pub committed: bool,
    /// Whether it was tried out before it was confirmed.
    pub confirmed: bool,
    /// Whether what the device starts with was changed too, separately.
    pub saved: bool,
}

/// What must hold behind a change so that it is confirmed.
#[async_trait]
pub trait Check: Send + Sync {
    /// Tries the device out, on the session that made the change or otherwise.
    ///
    /// # Errors
    /// Why the change must not stand.
    async fn check(&self, ctx: &Context<'_>, client: &mut Client) -> Result<()>;
}

/// The usual check: somebody else can still log in and is answered.
pub(super) struct SecondSession<'a>(pub(super) &'a NetconfSession);

#[async_trait]
impl Check for SecondSession<'_> {
    async fn check(&self, ctx: &Context<'_>, _: &mut Client) -> Result<()> {
        let mut second = self.0.reach_once(ctx).await?;
        let answers = probe(ctx, &mut second, self.0.timeout()).await;
        second.close(ctx).await;
        answers
    }
}

impl Change {
    /// What a request asks for: its body is XML, its method the default operation.
    ///
    /// # Errors
    /// [`Error::Unsupported`], saying what it should be.
    pub(super) fn requested(request: &Request) -> Result<Self> {
        let default_operation = match request.method.as_deref() {
            None | Some("merge") => DefaultOperation::Merge,
            Some("replace") => DefaultOperation::Replace,
            Some("none") => DefaultOperation::None,
            Some(other) => {
                return Err(Error::Unsupported(format!(
                    "`{other}` is no default operation: expected merge, replace or none; or `rpc`, \
                     which sends the XML as an RPC of its own"
                )));
            }
        };
        let expected = "the elements for `<config>`, each with its namespace";
        let config = elements(xml(request, "change", expected)?, "config")?;
        if config.is_empty() {
            return Err(Error::Unsupported(
                "the XML for `config` holds no element: there is nothing to change".to_owned(),
            ));
        }
        Ok(Self {
            config,
            default_operation,
        })
    }
}

/// The XML of a request, which may stand where other protocols have a path.
///
/// # Errors
/// [`Error::Unsupported`], saying what was `expected`.
pub(super) fn xml<'r>(request: &'r Request, is: &str, expected: &str) -> Result<&'r str> {
    let body = match &request.body {
        Some(Value::Sensitive(secret)) => secret.reveal().as_str(),
        body => body.as_ref().and_then(Value::as_str),
    };
    match (request.what.trim(), body) {
        ("", Some(body)) => Ok(body),
        (what, None) if what.starts_with('<') => Ok(what),
        ("", None) => Err(Error::Unsupported(format!(
            "a NETCONF {is} is XML: expected {expected}"
        ))),
        _ => Err(Error::Unsupported(format!(
            "a NETCONF {is} is all in its XML: give that as the body, and nothing besides it"
        ))),
    }
}

impl Changed {
    pub(super) fn to_value(self) -> Value {
        let Self {
            committed,
            confirmed,
            saved,
        } = self;
        let told = [
            ("committed", committed),
            ("confirmed", confirmed),
            ("saved", saved),
        ];
        let told = told
            .into_iter()
            .map(|(key, value)| (key, Value::from(value)));
        Value::Hash(told.collect::<Hash>())
    }
}

impl NetconfSession {
    /// Makes a change, which stands only if `check` finds nothing wrong; without one, a second
    /// session must be possible.
    ///
    /// It waits for a lock that somebody else has, within the context's patience. On
    /// [probation](Self::begin_probation) it is neither checked nor confirmed yet.
    ///
    /// # Errors
    /// [`Error::Refused`] when the device refuses it: nothing has changed then.
    /// [`Error::Unconfirmed`] when it did not stand its check. [`Error::Interrupted`] says whether
    /// it may have taken effect.
    pub async fn change(
        &self,
        ctx: &Context<'_>,
        change: &Change,
        check: Option<&dyn Check>,
    ) -> Result<Changed> {
        let usual = SecondSession(self);
        let way = self.way(ctx, check.unwrap_or(&usual));
        let mut open = self.open.lock().await;
        let open = self.ready(ctx, &mut open).await?;
        if let Some(probation) = open.probation {
            return probation.change(&way, open.client, change).await;
        }
        let has_candidate = open.client.capabilities().has(Capability::Candidate);
        let mut changed = if has_candidate {
            way.by_candidate(open.client, change).await?
        } else {
            way.directly(open.client, change).await?
        };
        changed.saved = self.save_running(ctx, open.client).await?;
        Ok(changed)
    }

    /// The way of changes through this session.
    pub(super) fn way<'a>(&'a self, ctx: &'a Context<'a>, check: &'a dyn Check) -> Way<'a> {
        Way {
            ctx,
            peer: self.peer(),
            confirm_timeout: self.confirm_timeout,
            check,
        }
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
}

impl Changed {
    pub(super) fn by_commit(confirmed: bool) -> Self {
        Self {
            committed: true,
            confirmed,
            saved: false,
        }
    }
}
