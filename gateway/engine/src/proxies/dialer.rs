//! The connections of a session that goes through proxies.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use devgate_core::failure::Failure;
use devgate_transports::error::ForwardingObstacle;
use devgate_transports::hosted_program::{HostedProcess, HostedProgram, ProgramNotStarted};
use devgate_transports::{ByteStream, Context, Destination, Dial, Error};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};

use super::pool::HostPool;
use super::run_host::HostSlot;
use crate::hosts::ForwardError;

/// Opens the connections of one target's session through a proxy, and starts the programs of its family there.
///
/// It holds a slot of the proxy, so that the proxy's `concurrency` counts sessions and tasks alike. If the proxy fails,
/// or may not connect to the target, another one of its pool takes over.
pub(crate) struct ProxyDialer<'v> {
    pool: Arc<HostPool<'v>>,
    slot: AsyncMutex<Option<HostSlot<'v>>>,
}

impl<'v> ProxyDialer<'v> {
    /// Waits for a slot of a proxy.
    ///
    /// # Errors
    /// Fails when no proxy of the pool can be used.
    pub(super) async fn new(pool: Arc<HostPool<'v>>) -> Result<Self, Failure> {
        let slot = pool.slot().await?;
        Ok(Self {
            pool,
            slot: AsyncMutex::new(Some(slot)),
        })
    }
}

/// Opens the connections of one target's session through the host of a slot, and through no other: a task of this target
/// has the slot, so that the session needs none of its own.
pub(crate) struct SlotDialer<'s, 'v>(pub(crate) &'s HostSlot<'v>);

#[async_trait]
impl Dial for SlotDialer<'_, '_> {
    async fn dial(
        &self,
        _: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        deadline: Instant,
    ) -> devgate_transports::Result<Box<dyn ByteStream>> {
        let connecting = self.0.forward(to, limit, deadline).await;
        connecting.map_err(|error| match error {
            ForwardError::Destination(error) => error,
            ForwardError::Host(error) => {
                Error::NoProxy(format!("{}: {}", self.0.name(), Failure::from(error)))
            }
        })
    }

    async fn start_program(
        &self,
        _: &Context<'_>,
        program: &HostedProgram<'_>,
    ) -> Result<Option<HostedProcess>, ProgramNotStarted> {
        let started = self.0.host().start_program(program).await;
        started.map_err(|why| not_started(self.0.name(), why))
    }
}

impl fmt::Debug for SlotDialer<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SlotDialer").field(&self.0.name()).finish()
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
        let mut held = self.slot.lock().await;
        // Proxies that may not connect to this target.
        let mut forbidden: Vec<String> = Vec::new();
        let mut last = None;
        loop {
            if held.is_none() {
                let next = self.pool.slot_except(&forbidden);
                let Ok(next) = timeout_at(deadline, next).await else {
                    return Err(last.unwrap_or_else(|| no_slot(to, limit)));
                };
                *held = match (next, last.take()) {
                    (Ok(slot), before) => {
                        if let Some(error) = before {
                            ctx.notice(format!("{} is used instead: {error}", slot.name()));
                        }
                        Some(slot)
                    }
                    (Err(_), Some(error)) => return Err(error),
                    (Err(why), None) => return Err(Error::NoProxy(why.msg)),
                };
            }
            let slot = held.as_ref().expect("it was taken above");
            let error = match slot.forward(to, limit, deadline).await {
                Ok(stream) => return Ok(stream),
                Err(ForwardError::Destination(mut error)) => {
                    if let Error::ForwardingRefused(refused) = &mut error {
                        refused.via = format!("{} ({})", slot.name(), refused.via);
                    }
                    if !is_forbidden(&error) {
                        return Err(error);
                    }
                    forbidden.push(slot.name().to_owned());
                    *held = None;
                    error
                }
                Err(ForwardError::Host(error)) => {
                    let why = Failure::from(error);
                    let message = format!("{}: {why}", slot.name());
                    held.take().expect("it is held").mark_host_down(why);
                    Error::NoProxy(message)
                }
            };
            last = Some(error);
        }
    }

    async fn start_program(
        &self,
        ctx: &Context<'_>,
        program: &HostedProgram<'_>,
    ) -> Result<Option<HostedProcess>, ProgramNotStarted> {
        let mut held = self.slot.lock().await;
        // Proxies that cannot run this program.
        let mut unsuitable: Vec<String> = Vec::new();
        let mut last = None;
        loop {
            if held.is_none() {
                *held = match (self.pool.slot_except(&unsuitable).await, last) {
                    (Ok(slot), _) => Some(slot),
                    (Err(_), Some(why)) => return Err(why),
                    (Err(why), None) => {
                        return Err(ProgramNotStarted::Unreachable(Error::NoProxy(why.msg)));
                    }
                };
            }
            let slot = held.as_ref().expect("it was taken above");
            let why = match slot.host().start_program(program).await {
                Ok(started) => {
                    ctx.debug(format!("{} runs on {}", program.executable, slot.name()));
                    return Ok(started);
                }
                Err(why) => why,
            };
            let slot = held.take().expect("it is held");
            ctx.debug(format!("another proxy is tried: {}: {why}", slot.name()));
            last = Some(not_started(slot.name(), why.clone()));
            if why.is_of_connection() {
                slot.mark_host_down(why);
            } else {
                unsuitable.push(slot.name().to_owned());
            }
        }
    }
}

/// Returns why a program was not started on this proxy.
fn not_started(proxy: &str, why: Failure) -> ProgramNotStarted {
    if why.is_of_connection() {
        ProgramNotStarted::Unreachable(Error::NoProxy(format!("{proxy}: {why}")))
    } else {
        ProgramNotStarted::Unsuitable(why.msg)
    }
}

fn is_forbidden(error: &Error) -> bool {
    matches!(error, Error::ForwardingRefused(problem) if problem.obstacle == ForwardingObstacle::Forbidden)
}

/// Returns the error for a proxy without room for one more session.
fn no_slot(to: Destination<'_>, limit: Duration) -> Error {
    Error::NoProxy(format!(
        "no proxy had room for a connection to {to} within {limit:?}: raise its `concurrency`"
    ))
}

impl fmt::Debug for ProxyDialer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyDialer").finish_non_exhaustive()
    }
}
