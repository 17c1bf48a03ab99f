//! The sessions with one device: who gets the next, those that are idle, and what became of them.

use std::cell::{Cell, RefCell};
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Duration;

use devgate_transports::{Context, Error, Transport};
use futures_util::future::join_all;
use tokio::sync::{Mutex, MutexGuard, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::connection_spec::{ConnectionSpec, SessionKey};
use super::idle::Session;
use crate::job::RunId;
use devgate_core::failure::Failure;
use devgate_core::redactor::Sink;

/// How long a session may have been idle before it is tested, ere anything is risked on it.
const MOMENT: Duration = Duration::from_secs(5);

/// How long a session may be silent before it is tested, so that neither the device nor anything on
/// the way takes it for dead: less than the time-outs that are usual.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// What a session is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionAccess {
    /// To look at the device: several may at once.
    Read,
    /// To change it, or nobody can know: one at a time.
    Write,
}

/// A device, as the pool knows it.
pub(super) struct Device {
    /// How many may hold a lease.
    pub(super) leases: Cell<usize>,
    /// How many sessions may be open at once, as the first says who asks.
    limit: usize,
    room: Semaphore,
    writer: Mutex<()>,
    kept: RefCell<IdleSessions>,
    /// How long it was waited for in vain, by one after the other, since it last answered.
    in_vain: Cell<Duration>,
}

#[derive(Default)]
struct IdleSessions {
    idle: Vec<Session>,
    /// Left in the middle of something: only to be closed.
    left: Vec<Session>,
    /// Why nobody is let in with these credentials. It is not tried again in the same run: that might
    /// lock an account.
    refused: Vec<(RunId, Rc<SessionKey>, Failure)>,
}

/// The turn of one who asked for a session.
pub(super) struct SessionTurn<'d> {
    device: &'d Device,
    spec: &'d ConnectionSpec<'d>,
    asked: Instant,
    /// How long the device had been waited for in vain by then.
    in_vain: Duration,
    _room: SemaphorePermit<'d>,
    _writer: Option<MutexGuard<'d, ()>>,
}

/// A session in use; it counts as left in the middle unless it is put back or closed.
struct SessionInUse<'d> {
    device: &'d Device,
    session: Option<Session>,
}

/// What becomes of a session after something went wrong in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionFate {
    /// The device said no, and goes on.
    IdleSessions,
    Lost,
    /// The credentials are not taken, or it is not the device that it should be.
    Refused,
}

impl Device {
    pub(super) fn new(limit: NonZeroUsize) -> Self {
        let limit = limit.get().min(Semaphore::MAX_PERMITS);
        Self {
            leases: Cell::new(0),
            limit,
            room: Semaphore::new(limit),
            writer: Mutex::default(),
            kept: RefCell::default(),
            in_vain: Cell::default(),
        }
    }

    /// Waits until there is room for one more, and for those who write also until nobody else does.
    pub(super) async fn turn<'d>(
        &'d self,
        spec: &'d ConnectionSpec<'d>,
        access: SessionAccess,
    ) -> SessionTurn<'d> {
        let (asked, in_vain) = (Instant::now(), self.in_vain.get());
        let _writer = match access {
            SessionAccess::Read => None,
            SessionAccess::Write => Some(self.writer.lock().await),
        };
        let _room = self.room.acquire().await;
        SessionTurn {
            device: self,
            spec,
            asked,
            in_vain,
            _room: _room.expect("nobody closes it"),
            _writer,
        }
    }

    /// Tests idle sessions that have been silent, and closes what is of no more use.
    pub(super) async fn look_after(&self, log: &dyn Sink) {
        // Where there is no room all sessions are in use, and those who use them look after them.
        let Ok(_room) = self.room.try_acquire() else {
            return;
        };
        while let Some(left) = self.take_left() {
            left.close(log).await;
        }
        let is_due = |session: &Session| session.is_over() || session.tested.elapsed() > KEEP_ALIVE;
        while let Some(mut due) = self.take_idle(is_due) {
            if due.session().is_over() || !due.session().answers(log).await {
                due.take().close(log).await;
            } else {
                due.put_back(|session| session.tested = Instant::now());
            }
        }
    }

    /// Whether each of its sessions was idle for so long.
    pub(super) fn is_idle_for(&self, long: Duration) -> bool {
        let kept = self.kept.borrow();
        kept.idle
            .iter()
            .all(|session| session.used.elapsed() >= long)
    }

    /// Whether there are sessions that nobody uses.
    pub(super) fn has_sessions(&self) -> bool {
        let kept = self.kept.borrow();
        !kept.idle.is_empty() || !kept.left.is_empty()
    }

    /// Closes all sessions.
    pub(super) async fn close(&self, log: &dyn Sink) {
        let (all, _room) = self.take_all();
        join_all(all.into_iter().map(|session| session.close(log))).await;
    }

    /// The same, on behalf of a target.
    pub(super) async fn close_with(&self, ctx: &Context<'_>) {
        let (all, _room) = self.take_all();
        let all = all.into_iter();
        join_all(all.map(|session| session.transport.close(ctx))).await;
    }

    /// All sessions that nobody uses, and the room that they take on the device until they are closed.
    fn take_all(&self) -> (Vec<Session>, Option<SemaphorePermit<'_>>) {
        let mut kept = self.kept.borrow_mut();
        let mut all = std::mem::take(&mut kept.idle);
        all.append(&mut kept.left);
        let taken = u32::try_from(all.len().min(self.limit)).unwrap_or(u32::MAX);
        (all, self.room.try_acquire_many(taken).ok())
    }

    fn take_left(&self) -> Option<Session> {
        self.kept.borrow_mut().left.pop()
    }

    /// The idle session of this kind that was used last.
    fn take_idle(&self, is_meant: impl Fn(&Session) -> bool) -> Option<SessionInUse<'_>> {
        let mut kept = self.kept.borrow_mut();
        let at = kept.idle.iter().rposition(is_meant)?;
        let session = Some(kept.idle.remove(at));
        Some(SessionInUse {
            device: self,
            session,
        })
    }

    fn refusal(&self, spec: &ConnectionSpec<'_>) -> Option<Failure> {
        let kept = self.kept.borrow();
        let mut refused = kept.refused.iter();
        let (_, _, why) = refused.find(|(run, key, _)| *run == spec.run && *key == spec.key)?;
        Some(why.clone())
    }

    fn refuse(&self, spec: &ConnectionSpec<'_>, why: Failure) {
        let mut kept = self.kept.borrow_mut();
        kept.refused.push((spec.run, Rc::clone(&spec.key), why));
    }

    /// Who was refused in a run may be let in in another.
    pub(super) fn forget_refused(&self, run: RunId) {
        let mut kept = self.kept.borrow_mut();
        kept.refused.retain(|(refused, _, _)| *refused != run);
    }

    /// An idle session that must go so that one more can be opened: the one that was idle longest.
    fn take_surplus(&self) -> Option<Session> {
        let used = self.limit - self.room.available_permits();
        let mut kept = self.kept.borrow_mut();
        (!kept.idle.is_empty() && kept.idle.len() + used > self.limit).then(|| kept.idle.remove(0))
    }
}

impl SessionTurn<'_> {
    /// Does the work in a session: in an idle one that is sound, or in a new one.
    ///
    /// Who had to wait behind others while they waited for a device that is down has waited for it,
    /// too: that is taken from his patience, so that all of them end soon after the first.
    ///
    /// # Errors
    /// Why the target cannot be reached, or what the work failed with.
    pub(super) async fn work<T, E>(
        self,
        ctx: &Context<'_>,
        work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, E>,
    ) -> Result<T, Failure>
    where
        E: Into<Failure>,
        for<'e> SessionFate: From<&'e E>,
    {
        let (device, retry_budget) = (self.device, ctx.retry_budget());
        let waited = device.in_vain.get().saturating_sub(self.in_vain);
        let waited = waited.min(self.asked.elapsed());
        if !waited.is_zero() {
            retry_budget.share(waited);
            ctx.notice(format!(
                "other work has waited {:.0} s for this device without success: {:.0} s of patience are left",
                waited.as_secs_f64(),
                retry_budget.left().as_secs_f64()
            ));
        }
        let before = retry_budget.left();
        let outcome = self.work_once(ctx, work).await;
        device
            .in_vain
            .set(if outcome.is_err() && retry_budget.is_spent() {
                device.in_vain.get() + before
            } else {
                Duration::ZERO
            });
        outcome
    }

    async fn work_once<T, E>(
        self,
        ctx: &Context<'_>,
        work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, E>,
    ) -> Result<T, Failure>
    where
        E: Into<Failure>,
        for<'e> SessionFate: From<&'e E>,
    {
        let (device, spec) = (self.device, self.spec);
        while let Some(left) = device.take_left() {
            left.transport.close(ctx).await;
        }
        if let Some(why) = device.refusal(spec) {
            return Err(why);
        }
        let mut used = match self.sound(ctx).await {
            Some(sound) => sound,
            None => self.open(ctx).await?,
        };
        let transport = &*used.session().transport;
        let error = match work(&ctx.with_transport(transport), transport).await {
            Ok(done) => {
                used.put_back(|session| session.was_used(ctx));
                return Ok(done);
            }
            Err(error) => error,
        };
        let fate = SessionFate::from(&error);
        let failure = error.into();
        if fate == SessionFate::IdleSessions {
            used.put_back(|session| session.was_used(ctx));
            return Err(failure);
        }
        if fate == SessionFate::Refused {
            device.refuse(spec, failure.clone());
        }
        used.take().transport.close(ctx).await;
        Err(failure)
    }

    /// An idle session with the same credentials that answers, if there is one. If one is lost, that
    /// is known now, and what is asked for goes to another instead of into the dark.
    async fn sound(&self, ctx: &Context<'_>) -> Option<SessionInUse<'_>> {
        let is_ours = |session: &Session| session.key == self.spec.key;
        while let Some(mut idle) = self.device.take_idle(is_ours) {
            let session = idle.session();
            // What another target did in it, and how that went, is not known here.
            if session.target == ctx.target() && session.tested.elapsed() <= MOMENT {
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

    async fn open(&self, ctx: &Context<'_>) -> Result<SessionInUse<'_>, Failure> {
        while let Some(surplus) = self.device.take_surplus() {
            surplus.transport.close(ctx).await;
        }
        let spec = self.spec;
        let transport = match spec.connect.connect(ctx, &spec.key.info).await {
            Ok(transport) => transport,
            Err(error) => {
                let passes = error.is_transient() || matches!(error, Error::RetryBudgetSpent(_));
                let failure = Failure::from(error);
                if !passes {
                    self.device.refuse(spec, failure.clone());
                }
                return Err(failure);
            }
        };
        let now = Instant::now();
        let session = Session {
            transport,
            key: Rc::clone(&spec.key),
            target: ctx.target().to_owned(),
            used: now,
            tested: now,
            idle: spec.limits.idle,
        };
        Ok(SessionInUse {
            device: self.device,
            session: Some(session),
        })
    }
}

impl SessionInUse<'_> {
    fn session(&mut self) -> &mut Session {
        self.session.as_mut().expect("it was not taken yet")
    }

    fn take(mut self) -> Session {
        self.session.take().expect("it is taken once")
    }

    fn put_back(mut self, note: impl FnOnce(&mut Session)) {
        note(self.session());
        self.device
            .kept
            .borrow_mut()
            .idle
            .extend(self.session.take());
    }
}

impl Drop for SessionInUse<'_> {
    fn drop(&mut self) {
        self.device
            .kept
            .borrow_mut()
            .left
            .extend(self.session.take());
    }
}

impl From<&Error> for SessionFate {
    fn from(error: &Error) -> Self {
        match error {
            Error::Authentication(_) | Error::HostKey(_) => Self::Refused,
            Error::CommandFailed { .. } | Error::Configuration(_) | Error::Refused(_) => {
                Self::IdleSessions
            }
            Error::ControlCharacter { .. } | Error::Unsupported(_) => Self::IdleSessions,
            _ => Self::Lost,
        }
    }
}

impl From<&Failure> for SessionFate {
    fn from(failure: &Failure) -> Self {
        if failure.is_of_connection() {
            Self::Lost
        } else {
            Self::IdleSessions
        }
    }
}
