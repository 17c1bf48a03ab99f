//! A change that cannot cut its device off for good: locked, checked, committed on probation, tried
//! out, and only then confirmed.
//!
//! Whatever goes wrong before the commit is discarded. Behind it, the device takes the change back by
//! itself when this session ends or the time is over (RFC 6241, 8.4), so that no failure of the
//! gateway or of the way to the device leaves it unreachable.

#[cfg(test)]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};
use tokio::time::{Instant, timeout};

use super::capabilities::Capability;
use super::client::Client;
use super::operation::{
    Commit, Datastore, DefaultOperation, Edit, ErrorOption, Operation, TestOption,
};
use super::query::elements;
use super::session::{NetconfSession, probe};
use super::xml::Element;
use crate::error::{Aftermath, Phase, Unconfirmed};
use crate::{Context, Error, Request, Result};

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
struct SecondSession<'a>(&'a NetconfSession);

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
    /// It waits for a lock that somebody else has, within the context's patience.
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
        let mut client = self.hold(ctx).await?;
        let usual = SecondSession(self);
        let way = Way {
            ctx,
            peer: self.peer(),
            confirm_timeout: self.confirm_timeout,
            check: check.unwrap_or(&usual),
        };
        let mut changed = if client.capabilities().has(Capability::Candidate) {
            way.by_candidate(&mut client, change).await?
        } else {
            way.directly(&mut client, change).await?
        };
        if self.save && client.capabilities().has(Capability::Startup) {
            let save = Operation::copy_config(Datastore::Running, Datastore::Startup);
            client.perform(ctx, &save).await?;
            changed.saved = true;
        }
        Ok(changed)
    }
}

/// The way of one change through one session.
struct Way<'a> {
    ctx: &'a Context<'a>,
    peer: &'a str,
    confirm_timeout: Option<Duration>,
    check: &'a dyn Check,
}

impl Way<'_> {
    /// Lock, edit, commit, confirm; whatever the device refuses is discarded.
    async fn by_candidate(&self, client: &mut Client, change: &Change) -> Result<Changed> {
        let unlock = self.lock(client, Datastore::Candidate).await?;
        let result = self.edit_and_commit(client, change).await;
        if result.is_err() && client.is_usable() {
            self.tidy(client, &Operation::discard_changes()).await;
        }
        self.unlock(client, unlock).await;
        result
    }

    async fn edit_and_commit(&self, client: &mut Client, change: &Change) -> Result<Changed> {
        let Self { ctx, .. } = self;
        let Change {
            config,
            default_operation,
        } = change;
        let edit = Operation::edit_config(&Edit {
            target: Datastore::Candidate,
            default_operation: *default_operation,
            test_option: tested(client),
            error_option: None,
            config,
        });
        // It is checked here and by the commit. A `validate` of its own in between would check no
        // more, and netconfd of yuma123 2.13 commits nothing behind one, and says `ok`.
        client.perform(ctx, &edit).await?;
        let can_confirm = client.capabilities().has(Capability::ConfirmedCommit);
        let confirmed = self.confirm_timeout.filter(|_| can_confirm);
        let commit = Operation::commit(&Commit {
            confirmed,
            ..Commit::default()
        });
        let committed = client.perform(ctx, &commit).await;
        let Some(limit) = confirmed else {
            committed?;
            return Ok(Changed::by_commit(false));
        };
        match committed {
            Ok(_) => {}
            // Whether the commit was made or not: the device takes it back.
            Err(error @ Error::Interrupted(_)) => {
                return Err(self.unconfirmed(error, Aftermath::WillBeTakenBack(limit)));
            }
            Err(error) => return Err(error),
        }
        if let Err(error) = self.tried(client, limit).await {
            let then = self.take_back(client, limit).await;
            return Err(self.unconfirmed(error, then));
        }
        let confirming = Operation::commit(&Commit::default());
        client.perform(ctx, &confirming).await?;
        Ok(Changed::by_commit(true))
    }

    /// For devices without a candidate: what runs is changed at once.
    async fn directly(&self, client: &mut Client, change: &Change) -> Result<Changed> {
        let Change {
            config,
            default_operation,
        } = change;
        let unlock = self.lock(client, Datastore::Running).await?;
        let rolls_back = client.capabilities().has(Capability::RollbackOnError);
        let edit = Operation::edit_config(&Edit {
            target: Datastore::Running,
            default_operation: *default_operation,
            test_option: tested(client),
            error_option: rolls_back.then_some(ErrorOption::Rollback),
            config,
        });
        let edited = client.perform(self.ctx, &edit).await;
        let mut result = edited.map(|_| Changed {
            committed: false,
            confirmed: false,
            saved: false,
        });
        if let (Ok(_), Some(limit)) = (&result, self.confirm_timeout)
            && let Err(error) = self.tried(client, limit).await
        {
            result = Err(self.unconfirmed(error, Aftermath::Stands));
        }
        self.unlock(client, unlock).await;
        result
    }

    /// Locks, waiting for whoever has the lock, and tells what gives it back: nothing on a device that
    /// has no locks.
    async fn lock(&self, client: &mut Client, datastore: Datastore) -> Result<Option<Operation>> {
        let what = format!(
            "lock the {} configuration of {}",
            datastore.as_str(),
            self.peer
        );
        let mut attempts = self.ctx.patience().attempts(self.ctx, what);
        let lock = Operation::lock(datastore);
        loop {
            match attempts.within(client.perform(self.ctx, &lock)).await {
                Ok(_) => return Ok(Some(Operation::unlock(datastore))),
                Err(Error::Refused(refused)) if refused.status == "operation-not-supported" => {
                    self.ctx.notice(format!(
                        "{} has no lock for its {} configuration: the change is made without one",
                        self.peer,
                        datastore.as_str()
                    ));
                    return Ok(None);
                }
                Err(error @ Error::Refused(_)) => attempts.pause(error).await?,
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives a lock back, if there is one.
    async fn unlock(&self, client: &mut Client, unlock: Option<Operation>) {
        match unlock {
            Some(unlock) if client.is_usable() => self.tidy(client, &unlock).await,
            Some(_) => self
                .ctx
                .debug("the device gives the lock back with the session"),
            None => {}
        }
    }

    /// Makes the check, with time left to confirm.
    async fn tried(&self, client: &mut Client, limit: Duration) -> Result<()> {
        let limit = limit.mul_f64(0.75);
        let started = Instant::now();
        match timeout(limit, self.check.check(self.ctx, client)).await {
            Ok(checked) => checked?,
            Err(_) => {
                return Err(Error::TimedOut {
                    peer: self.peer.to_owned(),
                    phase: Phase::Request,
                    limit,
                    hint: ", which the check was waiting for (`confirm_timeout`)".to_owned(),
                });
            }
        }
        let took = started.elapsed().as_secs_f64();
        self.ctx.debug(format!(
            "the change stood its check, which took {took:.1} s"
        ));
        Ok(())
    }

    /// Takes an unconfirmed commit back; where it cannot be cancelled, the end of the session does it.
    async fn take_back(&self, client: &mut Client, limit: Duration) -> Aftermath {
        let cancels = client.capabilities().has(Capability::ConfirmedCommit11);
        if cancels && client.is_usable() {
            let cancelled = client.perform(self.ctx, &Operation::cancel_commit()).await;
            if cancelled.is_ok() {
                return Aftermath::TakenBack;
            }
        }
        client.end(self.ctx).await;
        Aftermath::WillBeTakenBack(limit)
    }

    /// Does what belongs to the end of a change; that it fails changes nothing any more.
    async fn tidy(&self, client: &mut Client, operation: &Operation) {
        if let Err(error) = client.perform(self.ctx, operation).await {
            self.ctx.warning(error.to_string());
        }
    }

    fn unconfirmed(&self, why: Error, then: Aftermath) -> Error {
        Error::Unconfirmed(Box::new(Unconfirmed {
            peer: self.peer.to_owned(),
            why: Box::new(why),
            then,
        }))
    }
}

/// A change is tested before it is made, where the device can do that.
fn tested(client: &Client) -> Option<TestOption> {
    let tests = client.capabilities().has(Capability::Validate);
    tests.then_some(TestOption::TestThenSet)
}

impl Changed {
    fn by_commit(confirmed: bool) -> Self {
        Self {
            committed: true,
            confirmed,
            saved: false,
        }
    }
}
