//! A session in the pool: its last user, how long it may be idle, and whether it still answers.

use std::rc::Rc;
use std::time::Duration;

use devgate_core::redactor::{Redactor, Sink};
use devgate_transports::{Context, ProxyLink, RetryBudget, Transport};
use tokio::time::{Instant, timeout};

use super::connection_spec::{ConnectionSpec, SessionKey};

/// The longest time that the test of an idle session may take.
const TEST_TIMEOUT: Duration = Duration::from_secs(10);

/// An idle session in the pool.
pub(super) struct PooledSession {
    pub(super) transport: Box<dyn Transport>,
    pub(super) key: Rc<SessionKey>,
    /// The proxy that the session goes through.
    pub(super) link: Option<ProxyLink>,
    /// The name of the target that used the session last.
    pub(super) target: String,
    pub(super) last_used: Instant,
    /// When the session last answered.
    pub(super) tested: Instant,
    /// How long the session may be idle.
    pub(super) idle: Duration,
}

impl PooledSession {
    /// Creates the entry of a session that was just opened.
    pub(super) fn new(
        ctx: &Context<'_>,
        transport: Box<dyn Transport>,
        link: Option<ProxyLink>,
        spec: &ConnectionSpec<'_>,
    ) -> Self {
        let now = Instant::now();
        Self {
            transport,
            key: Rc::clone(&spec.key),
            link,
            target: ctx.target().to_owned(),
            last_used: now,
            tested: now,
            idle: spec.limits.idle,
        }
    }

    /// Records that the session was just used, for the target of this context.
    pub(super) fn mark_used(&mut self, ctx: &Context<'_>) {
        let now = Instant::now();
        (self.last_used, self.tested) = (now, now);
        if self.target != ctx.target() {
            ctx.target().clone_into(&mut self.target);
        }
    }

    /// Whether the session has been idle for too long.
    pub(super) fn is_expired(&self) -> bool {
        self.last_used.elapsed() >= self.idle
    }

    /// Tests whether the session answers.
    pub(super) async fn responds(&self, log: &dyn Sink) -> bool {
        let test = self.with_context(log, async |ctx| {
            match timeout(TEST_TIMEOUT, self.transport.verify(ctx)).await {
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

    /// Closes the session on behalf of the target that used it last.
    pub(super) async fn close(self, log: &dyn Sink) {
        let redactor = redactor(log, &self.key);
        let retry_budget = RetryBudget::default();
        let ctx = Context::new(&self.target, &redactor, &retry_budget);
        ctx.debug("the session is closed");
        self.transport.close(&ctx).await;
    }

    async fn with_context<T>(
        &self,
        log: &dyn Sink,
        work: impl AsyncFnOnce(&Context<'_>) -> T,
    ) -> T {
        let redactor = redactor(log, &self.key);
        let retry_budget = RetryBudget::default();
        work(&Context::new(&self.target, &redactor, &retry_budget)).await
    }
}

/// Returns a redactor for the messages of a session that is not in use.
fn redactor<'s>(log: &'s dyn Sink, key: &SessionKey) -> Redactor<'s> {
    let redactor = Redactor::new(log);
    redactor.hide(key.info.secrets());
    redactor
}
