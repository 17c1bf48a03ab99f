//! The sessions with one device: who gets the next one, which are idle, and which have failed.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::redactor::Sink;
use devgate_transports::{Context, Error, Transport};
use futures_util::future::join_all;
use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::after_error::AfterError;
use super::connection_spec::{ConnectionSpec, SessionKey};
use super::pooled_session::PooledSession;
use super::proxy_error::with_proxy;
use crate::job::RunId;

/// After how much idle time a session is tested before it is used.
const RETEST_AFTER: Duration = Duration::from_secs(5);

/// After how much silence a session is tested, so that neither the device nor anything on the way takes it for dead. It
/// is shorter than the usual time-outs.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// What a session is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAccess {
    /// Reading from the device: several sessions at once may do that.
    Read,
    /// Changing the device, or work that may change it: one session at a time.
    Write,
}

/// A device in the pool.
pub(super) struct Device {
    /// The number of leases.
    pub(super) leases: Cell<usize>,
    /// How many sessions may be open at once, as the first request for the device says.
    limit: usize,
    permits: Semaphore,
    writer: Mutex<()>,
    unused: RefCell<UnusedSessions>,
    /// How long the device was waited for in vain since it last answered, one request after the other.
    failed_wait: Cell<Duration>,
}

#[derive(Default)]
struct UnusedSessions {
    idle: Vec<PooledSession>,
    /// Sessions that were left in the middle of something and can only be closed.
    abandoned: Vec<PooledSession>,
    /// Why credentials were refused. They are not tried again in the same run, because that might lock an account.
    refused: Vec<(RunId, Rc<SessionKey>, Failure)>,
}

/// The turn of a request for a session.
pub(super) struct SessionTurn<'d> {
    device: &'d Device,
    spec: &'d ConnectionSpec<'d>,
    requested: Instant,
    /// How long the device had been waited for in vain when the turn was requested.
    failed_wait: Duration,
    access: SessionAccess,
    right: Option<Right<'d>>,
}

/// The right to use the device: one of its sessions and, for write access, that nobody else writes.
type Right<'d> = (SemaphorePermit<'d>, Option<MutexGuard<'d, ()>>);

/// A session in use. Unless it is put back or closed, it counts as left in the middle of something.
struct SessionInUse<'d> {
    device: &'d Device,
    session: Option<PooledSession>,
}

impl Device {
    pub(super) fn new(limit: NonZeroUsize) -> Self {
        let limit = limit.get().min(Semaphore::MAX_PERMITS);
        Self {
            leases: Cell::new(0),
            limit,
            permits: Semaphore::new(limit),
            writer: Mutex::default(),
            unused: RefCell::default(),
            failed_wait: Cell::default(),
        }
    }

    /// Waits until one more session may be in use and, for write access, until nobody else writes.
    pub(super) async fn turn<'d>(
        &'d self,
        spec: &'d ConnectionSpec<'d>,
        access: SessionAccess,
    ) -> SessionTurn<'d> {
        let (requested, failed_wait) = (Instant::now(), self.failed_wait.get());
        SessionTurn {
            device: self,
            spec,
            requested,
            failed_wait,
            access,
            right: Some(self.right(access).await),
        }
    }

    async fn right(&self, access: SessionAccess) -> Right<'_> {
        let writer = match access {
            SessionAccess::Read => None,
            SessionAccess::Write => Some(self.writer.lock().await),
        };
        let permit = self.permits.acquire().await;
        (permit.expect("nobody closes it"), writer)
    }

    /// Tests idle sessions that have been silent, and closes those that are of no more use.
    pub(super) async fn maintain(&self, log: &dyn Sink) {
        // When no permit is left, all sessions are in use, and their users maintain them.
        let Ok(_permit) = self.permits.try_acquire() else {
            return;
        };
        while let Some(abandoned) = self.take_abandoned() {
            abandoned.close(log).await;
        }
        let is_due =
            |session: &PooledSession| session.is_expired() || session.tested.elapsed() > KEEP_ALIVE;
        while let Some(mut due) = self.take_idle(is_due) {
            if due.session().is_expired() || !due.session().responds(log).await {
                due.take().close(log).await;
            } else {
                due.put_back(|session| session.tested = Instant::now());
            }
        }
    }

    /// Whether each session has been idle for this long.
    pub(super) fn is_idle_for(&self, duration: Duration) -> bool {
        let unused = self.unused.borrow();
        unused
            .idle
            .iter()
            .all(|session| session.last_used.elapsed() >= duration)
    }

    /// Whether there are sessions that are not in use.
    pub(super) fn has_sessions(&self) -> bool {
        let unused = self.unused.borrow();
        !unused.idle.is_empty() || !unused.abandoned.is_empty()
    }

    /// Closes all sessions.
    pub(super) async fn close(&self, log: &dyn Sink) {
        let (all, _permit) = self.take_all();
        join_all(all.into_iter().map(|session| session.close(log))).await;
    }

    /// Closes all sessions on behalf of a target.
    pub(super) async fn close_for(&self, ctx: &Context<'_>) {
        let (all, _permit) = self.take_all();
        let all = all.into_iter();
        join_all(all.map(|session| session.transport.close(ctx))).await;
    }

    /// Takes all sessions that are not in use, and a permit that keeps their room on the device until they are closed.
    fn take_all(&self) -> (Vec<PooledSession>, Option<SemaphorePermit<'_>>) {
        let mut unused = self.unused.borrow_mut();
        let mut all = std::mem::take(&mut unused.idle);
        all.append(&mut unused.abandoned);
        let taken = u32::try_from(all.len().min(self.limit)).unwrap_or(u32::MAX);
        (all, self.permits.try_acquire_many(taken).ok())
    }

    fn take_abandoned(&self) -> Option<PooledSession> {
        self.unused.borrow_mut().abandoned.pop()
    }

    /// Takes the matching idle session that was used last.
    fn take_idle(&self, is_wanted: impl Fn(&PooledSession) -> bool) -> Option<SessionInUse<'_>> {
        let mut unused = self.unused.borrow_mut();
        let at = unused.idle.iter().rposition(is_wanted)?;
        let session = Some(unused.idle.remove(at));
        Some(SessionInUse {
            device: self,
            session,
        })
    }

    fn refusal(&self, spec: &ConnectionSpec<'_>) -> Option<Failure> {
        let unused = self.unused.borrow();
        let mut refused = unused.refused.iter();
        let (_, _, why) = refused.find(|(run, key, _)| *run == spec.run && *key == spec.key)?;
        Some(why.clone())
    }

    fn refuse(&self, spec: &ConnectionSpec<'_>, why: Failure) {
        let mut unused = self.unused.borrow_mut();
        unused.refused.push((spec.run, Rc::clone(&spec.key), why));
    }

    /// Forgets the refused credentials of a run, because they may be accepted in another.
    pub(super) fn forget_refusals(&self, run: RunId) {
        let mut unused = self.unused.borrow_mut();
        unused.refused.retain(|(refused, _, _)| *refused != run);
    }

    /// Takes the session that was idle longest, if it must be closed before one more can be opened.
    fn take_surplus(&self) -> Option<PooledSession> {
        let in_use = self.limit - self.permits.available_permits();
        let mut unused = self.unused.borrow_mut();
        (!unused.idle.is_empty() && unused.idle.len() + in_use > self.limit)
            .then(|| unused.idle.remove(0))
    }
}

impl<'d> SessionTurn<'d> {
    /// Performs the work in a session: an idle one that still answers, or a new one.
    ///
    /// A request that had to wait while earlier ones waited for a device that is down has waited for the device, too.
    /// That time is taken from its retry budget, so that all of them end soon after the first.
    ///
    /// # Errors
    /// Fails when the target cannot be reached, or as the work fails.
    pub(super) async fn perform<T, E>(
        self,
        ctx: &Context<'_>,
        work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, E>,
    ) -> Result<T, Failure>
    where
        E: Into<Failure>,
        for<'e> AfterError: From<&'e E>,
    {
        let (device, retry_budget) = (self.device, ctx.retry_budget());
        let waited = device.failed_wait.get().saturating_sub(self.failed_wait);
        let waited = waited.min(self.requested.elapsed());
        if !waited.is_zero() {
            retry_budget.share(waited);
            ctx.notice(format!(
                "other work has waited {:.0} s for this device without success ({:.0} s left)",
                waited.as_secs_f64(),
                retry_budget.left().as_secs_f64()
            ));
        }
        let before = retry_budget.left();
        let outcome = self.perform_once(ctx, work).await;
        device
            .failed_wait
            .set(if outcome.is_err() && retry_budget.is_spent() {
                device.failed_wait.get() + before
            } else {
                Duration::ZERO
            });
        outcome
    }

    async fn perform_once<T, E>(
        mut self,
        ctx: &Context<'_>,
        work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, E>,
    ) -> Result<T, Failure>
    where
        E: Into<Failure>,
        for<'e> AfterError: From<&'e E>,
    {
        let (device, spec) = (self.device, self.spec);
        while let Some(abandoned) = device.take_abandoned() {
            abandoned.transport.close(ctx).await;
        }
        if let Some(why) = device.refusal(spec) {
            return Err(why);
        }
        let mut in_use = match self.take_working(ctx).await {
            Some(session) => session,
            None => self.open(ctx).await?,
        };
        let transport = &*in_use.session().transport;
        let error = match work(&ctx.with_transport(transport), transport).await {
            Ok(done) => {
                in_use.put_back(|session| session.mark_used(ctx));
                return Ok(done);
            }
            Err(error) => error,
        };
        let after_error = AfterError::from(&error);
        if after_error == AfterError::Usable {
            in_use.put_back(|session| session.mark_used(ctx));
            return Err(error.into());
        }
        let failure = with_proxy(error.into(), in_use.session().link.as_ref()).await;
        if after_error == AfterError::Refused {
            device.refuse(spec, failure.clone());
        }
        in_use.take().transport.close(ctx).await;
        Err(failure)
    }

    /// Returns an idle session with the same credentials that answers, if there is one. A lost session is thus found
    /// before the work begins, and the work goes to another one.
    async fn take_working(&self, ctx: &Context<'_>) -> Option<SessionInUse<'d>> {
        let is_ours = |session: &PooledSession| session.key == self.spec.key;
        while let Some(mut idle) = self.device.take_idle(is_ours) {
            let session = idle.session();
            // It is not known what another target did in the session, and how that went.
            if session.target == ctx.target() && session.tested.elapsed() <= RETEST_AFTER {
                return Some(idle);
            }
            match session.transport.verify(ctx).await {
                Ok(()) => return Some(idle),
                Err(error) => ctx.debug(format!("reopening the session: {error}")),
            }
            idle.take().transport.close(ctx).await;
        }
        None
    }

    async fn open(&mut self, ctx: &Context<'_>) -> Result<SessionInUse<'d>, Failure> {
        while let Some(surplus) = self.device.take_surplus() {
            surplus.transport.close(ctx).await;
        }
        let spec = self.spec;
        let mut connected = spec.connect.connect(ctx, &spec.key.info).await;
        while let (Err(_), Some(dialer)) = (&connected, ctx.dialer())
            && dialer.lacks_room()
        {
            // Whoever has the room may wait for this device.
            self.right = None;
            let has_room = dialer.wait_for_room().await;
            self.right = Some(self.device.right(self.access).await);
            if !has_room {
                break;
            }
            connected = spec.connect.connect(ctx, &spec.key.info).await;
        }
        let link = ctx.dialer().and_then(|dialer| dialer.link());
        let transport = match connected {
            Ok(transport) => transport,
            Err(error) => {
                let passes = error.is_transient() || matches!(error, Error::RetryBudgetSpent(_));
                let failure = with_proxy(error.into(), link.as_ref()).await;
                if !passes {
                    self.device.refuse(spec, failure.clone());
                }
                return Err(failure);
            }
        };
        Ok(SessionInUse {
            device: self.device,
            session: Some(PooledSession::new(ctx, transport, link, spec)),
        })
    }
}

impl SessionInUse<'_> {
    fn session(&mut self) -> &mut PooledSession {
        self.session.as_mut().expect("it was not taken yet")
    }

    fn take(mut self) -> PooledSession {
        self.session.take().expect("it is taken once")
    }

    fn put_back(mut self, note: impl FnOnce(&mut PooledSession)) {
        note(self.session());
        self.device
            .unused
            .borrow_mut()
            .idle
            .extend(self.session.take());
    }
}

impl Drop for SessionInUse<'_> {
    fn drop(&mut self) {
        self.device
            .unused
            .borrow_mut()
            .abandoned
            .extend(self.session.take());
    }
}
