//! The connections of a task's session.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use devgate_core::failure::Failure;
use devgate_transports::error::{NoProxy, ProxyProblem};
use devgate_transports::hosted_program::{HostedProcess, HostedProgram, ProgramNotStarted};
use devgate_transports::{ByteStream, Context, Destination, Dial, Error, ProxyLink};
use tokio::time::Instant;

use super::run_host::HostSlot;
use crate::hosts::ForwardError;

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
            ForwardError::Host(error) => self.no_proxy(Failure::from(error)),
        })
    }

    async fn start_program(
        &self,
        _: &Context<'_>,
        program: &HostedProgram<'_>,
    ) -> Result<Option<HostedProcess>, ProgramNotStarted> {
        let started = self.0.host().start_program(program).await;
        started.map_err(|why| match why.is_of_connection() {
            true => ProgramNotStarted::Unreachable(self.no_proxy(why)),
            false => ProgramNotStarted::Unsuitable(why.msg),
        })
    }

    fn link(&self) -> Option<ProxyLink> {
        self.0.link()
    }
}

impl SlotDialer<'_, '_> {
    fn no_proxy(&self, why: Failure) -> Error {
        Error::NoProxy(NoProxy::of_each(vec![ProxyProblem::new(
            self.0.name(),
            why,
        )]))
    }
}

impl fmt::Debug for SlotDialer<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SlotDialer").field(&self.0.name()).finish()
    }
}
