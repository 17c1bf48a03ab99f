//! An idle session: its last user, how long it may be idle, and whether it still answers.

use std::rc::Rc;
use std::time::Duration;

use devgate_transports::{Context, RetryBudget, Transport};
use tokio::time::{Instant, timeout};

use super::connection_spec::SessionKey;
use devgate_core::redactor::{Redactor, Sink};

/// How long the test of an idle session may take.
const TEST: Duration = Duration::from_secs(10);

/// A session that is kept.
pub(super) struct Session {
    pub(super) transport: Box<dyn Transport>,
    pub(super) key: Rc<SessionKey>,
    /// Who used it last.
    pub(super) target: String,
    pub(super) used: Instant,
    /// When it was last known to be sound.
    pub(super) tested: Instant,
    /// How long it may be idle.
    pub(super) idle: Duration,
}

impl Session {
    /// Notes that it was used just now, for the target of this context.
    pub(super) fn was_used(&mut self, ctx: &Context<'_>) {
        let now = Instant::now();
        (self.used, self.tested) = (now, now);
        if self.target != ctx.target() {
            ctx.target().clone_into(&mut self.target);
        }
    }

    /// Whether it was idle for too long.
    pub(super) fn is_over(&self) -> bool {
        self.used.elapsed() >= self.idle
    }

    /// Whether it is sound.
    pub(super) async fn answers(&self, log: &dyn Sink) -> bool {
        let test = self.with_context(log, async |ctx| {
            match timeout(TEST, self.transport.verify(ctx)).await {
                Ok(Ok(())) => true,
                Ok(Err(error)) => {
                    ctx.debug(format!("the idle session is closed: {error}"));
                    false
                }
                Err(_) => {
                    ctx.debug("the idle session is closed: it does not answer");
                    false
                }
            }
        });
        test.await
    }

    /// Says goodbye on behalf of who used it last.
    pub(super) async fn close(self, log: &dyn Sink) {
        let listener = listener(log, &self.key);
        let retry_budget = RetryBudget::default();
        let ctx = Context::new(&self.target, &listener, &retry_budget);
        ctx.debug("the session is closed");
        self.transport.close(&ctx).await;
    }

    async fn with_context<T>(
        &self,
        log: &dyn Sink,
        work: impl AsyncFnOnce(&Context<'_>) -> T,
    ) -> T {
        let listener = listener(log, &self.key);
        let retry_budget = RetryBudget::default();
        work(&Context::new(&self.target, &listener, &retry_budget)).await
    }
}

/// Hears what is said of a session that nobody uses.
fn listener<'s>(log: &'s dyn Sink, key: &SessionKey) -> Redactor<'s> {
    let listener = Redactor::new(log);
    listener.hide(key.info.secrets());
    listener
}
