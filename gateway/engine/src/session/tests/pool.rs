//! The pool: how sessions are lent, and what happens to them.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::time::Duration;

use devgate_core::events;
use devgate_core::failure::Failure;
use devgate_schemas::{ConnectionInfo, RawConnectionInfo, TransportSchema, Value};
use devgate_transports::error::{Interrupted, Interruption, PartialOutput};
use devgate_transports::{Context, Error, RetryBudget};
use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio::time::{advance, timeout};

use super::fake::{Device, NullSink};
use crate::engine::Engine;
use crate::job::RunId;
use crate::run::EngineConfig;
use crate::session::device::SessionAccess;
use crate::session::pool::SessionLease;
use crate::session::{ConnectionSpec, SessionPool};

/// Returns connection info with a password.
fn with_password(password: &str) -> ConnectionInfo {
    let schema = "{name: fake, desc: A fake., connection_info: {password: {type: String, sensitive: \
                  true}}}";
    let raw = [("password", Value::from(password))].into_iter().collect();
    let info = TransportSchema::built_in(schema).read(RawConnectionInfo::new(raw), |_, _| {});
    info.expect("it is checked")
}

/// Performs one piece of work in a session, on behalf of a target.
async fn use_once(
    lease: &SessionLease<'_>,
    target: &str,
    access: SessionAccess,
    work: impl AsyncFnOnce() -> Result<(), Error>,
) -> Result<(), Failure> {
    let (listen, retry_budget) = (NullSink, RetryBudget::new());
    let ctx = Context::new(target, &listen, &retry_budget);
    let turn = lease.turn(access).await;
    turn.perform(&ctx, async |_, _| work().await).await
}

async fn succeed(lease: &SessionLease<'_>, target: &str) -> Result<(), Failure> {
    use_once(lease, target, SessionAccess::Read, async || Ok(())).await
}

async fn end(lease: SessionLease<'_>) {
    let (listen, retry_budget) = (NullSink, RetryBudget::new());
    lease
        .release(&Context::new("a", &listen, &retry_budget))
        .await;
}

/// Lets time pass for the maintenance of sessions.
async fn wait_seconds(seconds: u64) {
    let _ = timeout(Duration::from_secs(seconds), pending::<()>()).await;
}

fn with_session_limit(spec: ConnectionSpec<'_>, sessions: usize) -> ConnectionSpec<'_> {
    let mut spec = spec;
    spec.limits.limit = NonZeroUsize::new(sessions).expect("some");
    spec
}

fn lost() -> Error {
    Error::Interrupted(Box::new(Interrupted {
        peer: "fake:22".to_owned(),
        operation: "it".to_owned(),
        changing: false,
        why: Interruption::Lost,
        partial: PartialOutput::default(),
    }))
}

#[tokio::test(start_paused = true)]
async fn names_with_the_same_credentials_share_a_session_and_others_never() -> Result<(), Failure> {
    let (device, pool) = (Device::new(), SessionPool::default());
    let [first, same, other] = ["canary-1", "canary-1", "canary-2"]
        .map(|password| device.spec("here", with_password(password)));
    let leases = [&first, &same, &other].map(|spec| pool.lease(spec));
    succeed(&leases[0], "a").await?;
    succeed(&leases[1], "b").await?;
    assert_eq!(device.counts(), [1, 0]);
    assert_eq!(
        device.seen.tests.load(Ordering::SeqCst),
        1,
        "another's is tested"
    );
    // There is room for one session only, so that the first must be closed.
    succeed(&leases[2], "c").await?;
    assert_eq!(device.counts(), [2, 1]);
    for lease in leases {
        assert_eq!(device.counts(), [2, 1], "somebody may come");
        end(lease).await;
    }
    assert_eq!(device.counts(), [2, 2]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn turns_are_taken_first_come_first_served_by_one_writer_and_several_readers() {
    let (device, pool) = (Device::new(), SessionPool::default());
    let spec = with_session_limit(device.spec("here", ConnectionInfo::default()), 3);
    let lease = pool.lease(&spec);
    let order = RefCell::new(Vec::new());
    let turn = async |name: &'static str, access| {
        let work = async || {
            order.borrow_mut().push(name);
            wait_seconds(10).await;
            Ok(())
        };
        use_once(&lease, "a", access, work).await
    };
    let (read, write) = (SessionAccess::Read, SessionAccess::Write);
    let requests = [
        ("w1", write),
        ("w2", write),
        ("r1", read),
        ("w3", write),
        ("r2", read),
        ("r3", read),
    ];
    let started = tokio::time::Instant::now();
    let all = join_all(requests.map(|(name, access)| turn(name, access)));
    assert!(all.await.iter().all(Result::is_ok));
    // Two readers run beside the first writer, then the second writer beside the third reader.
    assert_eq!(*order.borrow(), ["w1", "r1", "r2", "r3", "w2", "w3"]);
    assert_eq!(started.elapsed().as_secs() / 10, 3);
    assert_eq!(device.counts(), [3, 0]);
}

#[tokio::test(start_paused = true)]
async fn never_more_sessions_are_open_than_the_limit() {
    let (device, pool) = (Device::new(), SessionPool::default());
    let specs: Vec<_> = (0..20)
        .map(|who| {
            with_session_limit(
                device.spec("here", with_password(&format!("canary-{}", who % 5))),
                3,
            )
        })
        .collect();
    let most = Cell::new(0);
    let one = async |spec| {
        let lease = pool.lease(spec);
        let work = async || {
            let [logins, closes] = device.counts();
            most.set(most.get().max(logins - closes));
            wait_seconds(1).await;
            Ok(())
        };
        let done = use_once(&lease, "a", SessionAccess::Read, work).await;
        end(lease).await;
        done
    };
    assert!(
        join_all(specs.iter().map(one))
            .await
            .iter()
            .all(Result::is_ok)
    );
    assert_eq!(most.get(), 3);
    let [logins, closes] = device.counts();
    assert_eq!(logins, closes);
}

#[tokio::test(start_paused = true)]
async fn a_lost_session_is_replaced_and_one_with_a_refused_command_stays_open()
-> Result<(), Failure> {
    let (device, pool) = (Device::new(), SessionPool::default());
    let spec = device.spec("here", ConnectionInfo::default());
    let lease = pool.lease(&spec);
    let no = async || Err(Error::Unsupported("no".to_owned()));
    use_once(&lease, "a", SessionAccess::Write, no)
        .await
        .expect_err("it says no");
    succeed(&lease, "a").await?;
    assert_eq!(device.counts(), [1, 0]);
    let lose = async || Err(lost());
    use_once(&lease, "a", SessionAccess::Write, lose)
        .await
        .expect_err("it is lost");
    assert_eq!(device.counts(), [1, 1]);
    succeed(&lease, "a").await?;
    assert_eq!(device.counts(), [2, 1]);
    // The session dies while it is idle, so that the work goes to a new one.
    advance(Duration::from_secs(60)).await;
    device.seen.dead.store(true, Ordering::SeqCst);
    succeed(&lease, "a").await?;
    assert_eq!(device.counts(), [3, 2]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_not_tried_again_under_any_name() {
    let (mut device, pool) = (Device::new(), SessionPool::default());
    device.refuses = true;
    let [one, same, other] = ["canary-1", "canary-1", "canary-2"]
        .map(|password| device.spec("here", with_password(password)));
    let leases = [&one, &same, &other].map(|spec| pool.lease(spec));
    for _ in 0..2 {
        for lease in &leases {
            let failure = succeed(lease, "a").await.expect_err("it is refused");
            assert!(failure.msg.contains("the password is wrong"), "{failure}");
        }
    }
    assert_eq!(device.counts(), [2, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_target_behind_others_at_a_device_that_is_down_fails_soon_after_them() {
    let (mut device, pool) = (Device::new(), SessionPool::default());
    device.is_down = true;
    let specs: Vec<_> = (0..3)
        .map(|who| device.spec("here", with_password(&format!("canary-{who}"))))
        .collect();
    let one = async |spec| {
        let lease = pool.lease(spec);
        let done = succeed(&lease, "a").await;
        end(lease).await;
        done
    };
    let started = tokio::time::Instant::now();
    let done = join_all(specs.iter().map(one)).await;
    assert!(done.iter().all(Result::is_err));
    let waited = started.elapsed();
    assert!(
        waited < RetryBudget::LIMIT + Duration::from_secs(11),
        "{waited:?}"
    );
    // Each was tried, because the credentials of the earlier ones might have been the cause.
    assert_eq!(device.counts(), [3, 0]);
    // A request after the others are gone has waited for no other.
    let later = tokio::time::Instant::now();
    one(&specs[0]).await.expect_err("it is down");
    assert!(
        later.elapsed() > RetryBudget::LIMIT / 2,
        "{:?}",
        later.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn idle_sessions_are_tested_and_closed_when_their_time_is_over() -> Result<(), Failure> {
    let (device, engine) = (
        Device::new(),
        Engine::new(EngineConfig::for_tests(Duration::ZERO)),
    );
    let spec = device.spec("here", ConnectionInfo::default());
    let lease = engine.services.sessions.lease(&spec);
    let counted = async {
        succeed(&lease, "a").await?;
        wait_seconds(250).await;
        assert_eq!(device.counts(), [1, 0]);
        assert_eq!(device.seen.tests.load(Ordering::SeqCst), 4);
        wait_seconds(60).await;
        assert_eq!(device.counts(), [1, 1]);
        succeed(&lease, "a").await?;
        device.seen.dead.store(true, Ordering::SeqCst);
        wait_seconds(70).await;
        assert_eq!(device.counts(), [2, 2], "a dead one is found");
        Ok(())
    };
    engine.drive(counted).await
}

#[tokio::test(start_paused = true)]
async fn a_session_is_kept_open_for_expected_targets_and_no_longer() -> Result<(), Failure> {
    let (device, pool) = (Device::new(), SessionPool::default());
    let spec = device.spec("here", ConnectionInfo::default());
    let device_key = spec.device_key;
    let run = pool.expect(RunId::default(), &[device_key, device_key, device_key]);
    for expected in [[1, 0], [1, 0], [1, 1]] {
        let lease = pool.lease(&spec);
        succeed(&lease, "a").await?;
        end(lease).await;
        run.done(device_key);
        assert_eq!(device.counts(), expected);
    }
    // The second target never requests a session.
    let run = pool.expect(RunId::default(), &[device_key, device_key]);
    let lease = pool.lease(&spec);
    succeed(&lease, "a").await?;
    end(lease).await;
    run.done(device_key);
    assert_eq!(device.counts(), [2, 1]);
    run.done(device_key);
    let _ = timeout(Duration::from_secs(3), pool.maintain(&*events::silence())).await;
    assert_eq!(device.counts(), [2, 2]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_panic_and_work_that_is_dropped_leave_no_session_open() -> Result<(), Failure> {
    let (device, engine) = (
        Device::new(),
        Engine::new(EngineConfig::for_tests(Duration::ZERO)),
    );
    let pool = &engine.services.sessions;
    let spec = device.spec("here", ConnectionInfo::default());
    let panics = async {
        let lease = pool.lease(&spec);
        let work = async || panic!("it is meant to");
        use_once(&lease, "a", SessionAccess::Write, work).await
    };
    let panicked = AssertUnwindSafe(engine.drive(panics)).catch_unwind();
    assert!(panicked.await.is_err());
    assert_eq!(device.counts(), [1, 1]);

    let lease = pool.lease(&spec);
    let hangs = use_once(&lease, "a", SessionAccess::Write, async || pending().await);
    assert!(timeout(Duration::from_secs(1), hangs).await.is_err());
    assert_eq!(device.counts(), [2, 1]);
    // The next work does not use the session that was left in the middle.
    succeed(&lease, "a").await?;
    assert_eq!(device.counts(), [3, 2]);
    drop(lease);
    pool.close(&*events::silence()).await;
    assert_eq!(device.counts(), [3, 3]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_long_lived_engine_keeps_idle_sessions_open_for_a_limited_time() -> Result<(), Failure> {
    let device = Device::new();
    let engine = Engine::new(EngineConfig::for_tests(Duration::from_secs(120)));
    let pool = &engine.services.sessions;
    let spec = device.spec("here", ConnectionInfo::default());
    let runs = async {
        for _ in 0..3 {
            let lease = pool.lease(&spec);
            succeed(&lease, "a").await?;
            end(lease).await;
            wait_seconds(60).await;
            assert_eq!(device.counts(), [1, 0]);
        }
        wait_seconds(70).await;
        assert_eq!(device.counts(), [1, 1]);
        Ok(())
    };
    engine.drive(runs).await
}
