//! The connections of a session that goes through proxies.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use devgate_core::failure::Failure;
use devgate_transports::error::{NoProxy, ProxyProblem};
use devgate_transports::hosted_program::{HostedProcess, HostedProgram, ProgramNotStarted};
use devgate_transports::{ByteStream, Context, Destination, Dial, Error, ProxyLink};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};
use tokio_util::io::InspectReader;

use super::pool::HostPool;
use super::run_host::HostSlot;
use crate::hosts::ForwardError;

/// Opens the connections of one target's session through a proxy, and starts the programs of its family there.
///
/// It holds a slot of the proxy, so that the proxy's `concurrency` counts sessions and tasks alike. If the proxy fails,
/// or does not connect to the target, another one of its pool takes over.
pub(crate) struct ProxyDialer<'v> {
    pool: Arc<HostPool<'v>>,
    place: AsyncMutex<Place<'v>>,
}

/// The proxy that is used, and those that are not.
struct Place<'v> {
    slot: Option<HostSlot<'v>>,
    /// Proxies whose connections were open, but carried nothing.
    silent: Vec<String>,
    /// All proxies that were left.
    setbacks: Vec<ProxyProblem>,
    /// Whether anything was asked of a proxy.
    is_used: bool,
    /// Whether the last connection was not opened because the other proxies were full.
    lacks_room: bool,
    /// How often room was waited for.
    waits: usize,
    /// Whether anything has come from the last connection, which shares this as long as it is open.
    last: Option<Arc<AtomicBool>>,
}

/// What kept a proxy that is up from doing what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setback {
    /// It may not do it, or cannot.
    Proxy,
    /// It found no way to the target.
    Target,
    /// It gave no answer.
    Silent,
}

/// The proxies that were asked for one thing in vain.
struct Tried<E> {
    /// The errors of proxies that are up.
    setbacks: Vec<(String, E)>,
    /// Why there is no further proxy. `None` if the only one was asked.
    reason: Option<Failure>,
}

/// How long a connection waits for room at another proxy. Whoever has the room may wait for the device, which the session
/// that needs the connection holds.
const ROOM: Duration = Duration::from_millis(200);

impl<'v> ProxyDialer<'v> {
    /// Waits for a slot of a proxy.
    ///
    /// # Errors
    /// Fails when no proxy of the pool can be used.
    pub(super) async fn new(pool: Arc<HostPool<'v>>) -> Result<Self, Failure> {
        let slot = Some(pool.slot().await?);
        let place = AsyncMutex::new(Place {
            slot,
            silent: Vec::new(),
            setbacks: Vec::new(),
            is_used: false,
            lacks_room: false,
            waits: 0,
            last: None,
        });
        Ok(Self { pool, place })
    }

    /// Takes a slot of a proxy that was not tried yet, unless a slot is held. Returns `None` if there is no such proxy.
    async fn slot<'p, E: fmt::Display>(
        &self,
        ctx: &Context<'_>,
        place: &'p mut Place<'v>,
        tried: &mut Tried<E>,
        deadline: Option<Instant>,
    ) -> Option<&'p HostSlot<'v>> {
        if self.is_alone() && !tried.setbacks.is_empty() {
            return None;
        }
        while place.slot.is_none() {
            let names = tried.setbacks.iter().map(|(name, _)| name);
            let except: Vec<String> = names.chain(&place.silent).cloned().collect();
            let next = self.pool.slot_except(&except);
            let next = match deadline {
                Some(deadline) if self.pool.has_full_member(&except) => {
                    let soon = deadline.min(Instant::now() + ROOM);
                    let next = timeout_at(soon, next).await;
                    place.lacks_room = next.is_err();
                    next
                }
                Some(deadline) => timeout_at(deadline, next).await,
                None => Ok(next.await),
            };
            match next.unwrap_or_else(|_| Err(self.pool.problems())) {
                Ok(slot) => place.slot = Some(slot),
                // A proxy that was silent is better than none, but not than one that has no room yet.
                Err(_) if !place.lacks_room && !place.silent.is_empty() => place.silent.clear(),
                Err(why) => {
                    tried.reason = Some(why);
                    return None;
                }
            }
        }
        place.is_used = true;
        let slot = place.slot.as_ref()?;
        if let Some((before, error)) = tried.setbacks.last() {
            self.pool.report_setback(ctx, before, error, slot.name());
        }
        Some(slot)
    }

    /// Returns the share of the time until the deadline that one proxy may take, so that some is left for the others.
    fn share<E>(&self, tried: &Tried<E>, deadline: Instant) -> Duration {
        let usable = self.pool.usable_count();
        let left = usable.saturating_sub(tried.setbacks.len()).max(1);
        let time = deadline.saturating_duration_since(Instant::now());
        time / u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn is_alone(&self) -> bool {
        self.pool.len() == 1
    }
}

impl Place<'_> {
    /// Leaves a proxy whose last connection carried nothing to this node until it was closed.
    fn leave_if_silent(&mut self, ctx: &Context<'_>) {
        let was_silent = |answered: Arc<AtomicBool>| {
            Arc::strong_count(&answered) == 1 && !answered.load(Ordering::Relaxed)
        };
        if self.last.take().is_some_and(was_silent)
            && let Some(slot) = self.slot.take()
        {
            ctx.debug(format!(
                "nothing came through {}: another proxy is tried",
                slot.name()
            ));
            self.silent.push(slot.name().to_owned());
            let problem = ProxyProblem::new(slot.name(), "nothing came through it");
            self.setbacks.push(problem);
            slot.doubt();
        }
    }

    /// Leaves a proxy that is up, but did not do what it was asked for. The only one is kept.
    fn leave<E: fmt::Display>(
        &mut self,
        error: E,
        setback: Setback,
        tried: &mut Tried<E>,
        is_alone: bool,
    ) {
        let Some(slot) = self.slot.take() else {
            return;
        };
        // If no other proxy can do better, only what is wrong with this one counts.
        if setback == Setback::Proxy || !is_alone {
            self.setbacks.push(ProxyProblem::new(slot.name(), &error));
        }
        tried.setbacks.push((slot.name().to_owned(), error));
        if is_alone {
            self.slot = Some(slot);
        } else if setback == Setback::Silent {
            slot.doubt();
        }
    }

    /// Leaves a proxy that is of no more use in this run.
    fn mark_host_down(&mut self, why: Failure) {
        if let Some(slot) = self.slot.take() {
            slot.mark_host_down(why);
        }
    }
}

#[async_trait]
impl Dial for ProxyDialer<'_> {
    async fn dial(
        &self,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> devgate_transports::Result<Box<dyn ByteStream>> {
        let mut place = self.place.lock().await;
        place.leave_if_silent(ctx);
        place.lacks_room = false;
        let mut tried = Tried::new();
        while let Some(slot) = self.slot(ctx, &mut place, &mut tried, Some(deadline)).await {
            let (limit, deadline) = match self.is_alone() {
                true => (limit, deadline),
                false => {
                    let share = self.share(&tried, deadline);
                    (share, Instant::now() + share)
                }
            };
            match slot.forward(to, limit, deadline).await {
                Ok(stream) if self.is_alone() => return Ok(stream),
                Ok(stream) => {
                    let answered = Arc::new(AtomicBool::new(false));
                    place.last = Some(Arc::clone(&answered));
                    let note = move |bytes: &[u8]| {
                        if !bytes.is_empty() {
                            answered.store(true, Ordering::Relaxed);
                        }
                    };
                    return Ok(Box::new(InspectReader::new(stream, note)));
                }
                Err(ForwardError::Destination(mut error)) => {
                    if let Error::ForwardingRefused(refused) = &mut error {
                        refused.proxy = Some(slot.name().to_owned());
                    }
                    let setback = match &error {
                        Error::TimedOut { .. } => Setback::Silent,
                        Error::ForwardingRefused(refused) if refused.is_of_jump_host() => {
                            Setback::Proxy
                        }
                        _ => Setback::Target,
                    };
                    place.leave(error, setback, &mut tried, self.is_alone());
                }
                Err(ForwardError::Host(error)) => place.mark_host_down(error.into()),
            }
        }
        Err(tried.into_error())
    }

    async fn start_program(
        &self,
        ctx: &Context<'_>,
        program: &HostedProgram<'_>,
    ) -> Result<Option<HostedProcess>, ProgramNotStarted> {
        let mut place = self.place.lock().await;
        let mut tried = Tried::new();
        while let Some(slot) = self.slot(ctx, &mut place, &mut tried, None).await {
            match slot.host().start_program(program).await {
                Ok(started) => return Ok(started),
                Err(why) if why.is_of_connection() => place.mark_host_down(why),
                Err(why) => {
                    place.leave(why, Setback::Proxy, &mut tried, self.is_alone());
                }
            }
        }
        Err(tried.into_not_started())
    }

    fn lacks_room(&self) -> bool {
        let place = self.place.try_lock();
        place.is_ok_and(|place| place.lacks_room && place.waits < self.pool.len())
    }

    async fn wait_for_room(&self) -> bool {
        let mut place = self.place.lock().await;
        place.waits += 1;
        place.lacks_room = false;
        let setbacks = place.setbacks.iter().map(|setback| &setback.name);
        let left: Vec<String> = setbacks.cloned().collect();
        place.slot = match self.pool.slot_except(&left).await {
            Ok(slot) => Some(slot),
            Err(_) => self.pool.slot_except(&place.silent).await.ok(),
        };
        place.slot.is_some()
    }

    fn link(&self) -> Option<ProxyLink> {
        let place = self.place.try_lock().ok()?;
        // A session may fail before it needs a connection.
        let slot = place.slot.as_ref().filter(|_| place.is_used)?;
        let link = slot.link()?;
        let setbacks = place.setbacks.clone();
        Some(ProxyLink { setbacks, ..link })
    }
}

impl Tried<Error> {
    /// Returns the error of a connection that no proxy has opened.
    fn into_error(mut self) -> Error {
        // A device that is down may come back, whatever else is wrong with one of the proxies.
        let temporary = self
            .setbacks
            .iter()
            .position(|(_, error)| error.is_transient());
        let only = self
            .setbacks
            .len()
            .checked_sub(1)
            .filter(|_| self.reason.is_none());
        match temporary.or(only) {
            Some(at) => self.setbacks.swap_remove(at).1,
            None => self.into_no_proxy(),
        }
    }
}

impl Tried<Failure> {
    /// Returns why no proxy has started a program.
    fn into_not_started(mut self) -> ProgramNotStarted {
        match self.setbacks.pop() {
            Some((proxy, why)) => ProgramNotStarted::Unsuitable(format!("{proxy}: {why}")),
            None => ProgramNotStarted::Unreachable(self.into_no_proxy()),
        }
    }
}

impl<E: fmt::Display> Tried<E> {
    fn new() -> Self {
        let (setbacks, reason) = (Vec::new(), None);
        Self { setbacks, reason }
    }

    /// Returns the error that lists what is wrong with each proxy.
    fn into_no_proxy(self) -> Error {
        let setbacks = self.setbacks.iter();
        let mut proxies: Vec<ProxyProblem> = setbacks
            .map(|(name, error)| ProxyProblem::new(name, error))
            .collect();
        let reason = self
            .reason
            .unwrap_or_else(|| Failure::other("no time was left"));
        let down = reason
            .details
            .get("proxies")
            .and_then(|down| down.as_object());
        let is_new =
            |name: &str, proxies: &[ProxyProblem]| proxies.iter().all(|known| known.name != name);
        for (name, why) in down.into_iter().flatten() {
            if is_new(name, &proxies) {
                let message = why.get("msg").and_then(|msg| msg.as_str());
                proxies.push(ProxyProblem::new(name, message.unwrap_or_default()));
            }
        }
        Error::NoProxy(match proxies.is_empty() {
            true => NoProxy::of_all(reason.msg),
            false => NoProxy::of_each(proxies),
        })
    }
}

impl fmt::Debug for ProxyDialer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyDialer").finish_non_exhaustive()
    }
}
