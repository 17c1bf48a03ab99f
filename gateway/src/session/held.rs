//! The one session that is held for all who ask: opened when it is first asked for, used in turns.

use std::mem;
use std::time::Duration;

use devgate_transports::{Context, Error, Result, Transport};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Reach;
use crate::failure::Failure;

/// How long a session may have been idle before it is tested, ere a command is risked on it.
const IDLE: Duration = Duration::from_secs(5);

/// A session that is held; its queue is first in, first out.
#[derive(Default)]
pub(super) struct Held(Mutex<State>);

#[derive(Default)]
enum State {
    /// Nobody has asked for it.
    #[default]
    Unasked,
    Open(Open),
    /// It cannot be opened. Nobody tries that again: it might lock an account.
    Refused(Failure),
}

struct Open {
    transport: Box<dyn Transport>,
    used: Instant,
}

impl Held {
    /// Waits for its turn, opens the session if nobody has yet, and does the work.
    ///
    /// A session that is lost in the work is opened anew by the next turn, within the target's
    /// patience.
    ///
    /// # Errors
    /// Why the target cannot be reached, or what the work failed with.
    pub(super) async fn turn<T>(
        &self,
        ctx: &Context<'_>,
        reach: &Reach<'_>,
        work: impl AsyncFnOnce(&Context<'_>) -> Result<T>,
    ) -> std::result::Result<T, Failure> {
        let mut state = self.0.lock().await;
        if let State::Unasked = *state {
            *state = match reach.connect(ctx).await {
                Ok(transport) => State::Open(Open::now(transport)),
                Err(error) => State::Refused(error.into()),
            };
        }
        let open = match &mut *state {
            State::Open(open) => open,
            State::Refused(failure) => return Err(failure.clone()),
            State::Unasked => unreachable!("it was asked for above"),
        };
        open.test(ctx).await;
        let done = work(&ctx.over(&*open.transport)).await;
        open.used = Instant::now();
        let error = match done {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let refused = matches!(error, Error::Authentication(_) | Error::HostKey(_));
        let failure = Failure::from(error);
        if refused
            && let State::Open(lost) = mem::replace(&mut *state, State::Refused(failure.clone()))
        {
            lost.transport.close(ctx).await;
        }
        Err(failure)
    }

    /// Closes the session, if it was opened.
    pub(super) async fn close(self, ctx: &Context<'_>) {
        if let State::Open(open) = self.0.into_inner() {
            open.transport.close(ctx).await;
        }
    }
}

impl Open {
    fn now(transport: Box<dyn Transport>) -> Self {
        Self {
            transport,
            used: Instant::now(),
        }
    }

    /// Tests a session that was idle: if it is lost, that is known now, and the command goes to a
    /// new one instead of into the dark.
    async fn test(&self, ctx: &Context<'_>) {
        if self.used.elapsed() > IDLE
            && let Err(error) = self.transport.verify(ctx).await
        {
            ctx.debug(format!("the session is opened anew: {error}"));
        }
    }
}
