//! The contract of transports, tested with every transport and a real peer (Resource API, "Transports").
//!
//! The type system ensures that a session is closed only once: `close` consumes it.

use std::time::Duration;

use devgate_schemas::{Event, EventSink, RawConnectionInfo, Value};
use devgate_transports::{Connect, Context, RetryBudget, Transport, all};
use tokio::time::timeout;

use crate::support::peers::{ALL, Peer};

/// More than closing a session may take, and far less than the timeout of any answer.
const AT_ONCE: Duration = Duration::from_secs(4);

/// More than the time spent on a dead peer: the timeout of an answer and the retries.
const SOON: Duration = Duration::from_secs(20);

#[derive(Debug)]
struct IgnoreEvents;

impl EventSink for IgnoreEvents {
    fn emit(&self, _: Event) {}
}

#[test]
fn every_transport_has_a_peer() {
    let mut peers: Vec<&str> = ALL.iter().map(|(protocol, _)| *protocol).collect();
    peers.dedup();
    let transports = all();
    let mut names: Vec<&str> = transports
        .iter()
        .map(|connect| connect.schema().name())
        .collect();
    peers.sort_unstable();
    names.sort_unstable();
    assert_eq!(peers, names);
}

#[tokio::test]
async fn a_session_verifies_reports_typed_facts_and_closes() {
    for_all_sessions(async |peer, ctx, session| {
        session.verify(ctx).await.expect("it is alive");
        let facts = session.facts(ctx).await.expect("it tells facts");
        let facts = Value::Hash(facts.into_hash()).to_json();
        let (fact, has_type) = peer.fact;
        let message = facts.pointer(fact);
        assert!(
            message.is_some_and(has_type),
            "{fact} of {}: {facts:#}",
            peer.protocol
        );
        closes_at_once(peer, ctx, session).await;
    })
    .await;
}

#[tokio::test]
async fn a_peer_that_has_died_is_detected_and_left_at_once() {
    for_all_sessions(async |peer, ctx, session| {
        peer.link.fault("reset");
        dead(peer, ctx, &*session).await;
        closes_at_once(peer, ctx, session).await;
    })
    .await;
}

#[tokio::test]
async fn a_peer_that_has_fallen_silent_is_detected_and_left_at_once() {
    for_all_sessions(async |peer, ctx, session| {
        peer.link.fault("halfopen");
        dead(peer, ctx, &*session).await;
        closes_at_once(peer, ctx, session).await;
    })
    .await;
}

#[tokio::test]
async fn a_session_with_a_peer_that_is_gone_closes_without_asking_it() {
    for_all_sessions(async |peer, ctx, session| {
        peer.link.fault("halfopen");
        closes_at_once(peer, ctx, session).await;
    })
    .await;
}

async fn dead(peer: &Peer, ctx: &Context<'_>, session: &dyn Transport) {
    let verdict = timeout(SOON, session.verify(ctx)).await;
    let verdict = verdict.unwrap_or_else(|_| panic!("verify hangs on {}", peer.protocol));
    assert!(verdict.is_err(), "{} verifies a dead peer", peer.protocol);
}

async fn closes_at_once(peer: &Peer, ctx: &Context<'_>, session: Box<dyn Transport>) {
    let closed = timeout(AT_ONCE, session.close(ctx)).await;
    assert!(closed.is_ok(), "close hangs on {}", peer.protocol);
}

/// Opens a session with every peer, and passes it to `act`.
async fn for_all_sessions(act: impl AsyncFn(&Peer, &Context<'_>, Box<dyn Transport>)) {
    let transports = all();
    let opened = ALL.iter().map(|(protocol, make)| {
        let found = transports
            .iter()
            .find(|connect| connect.schema().name() == *protocol);
        let connect = found.unwrap_or_else(|| panic!("there is no transport {protocol}"));
        for_session(&**connect, make(), &act)
    });
    futures_util::future::join_all(opened).await;
}

async fn for_session(
    connect: &dyn Connect,
    mut peer: Peer,
    act: &impl AsyncFn(&Peer, &Context<'_>, Box<dyn Transport>),
) {
    peer.use_short_limits();
    let Value::Hash(info) = Value::from(peer.info.clone()) else {
        panic!("connection info is an object");
    };
    let info = connect
        .schema()
        .read(RawConnectionInfo::new(info), |_, _| {});
    let info = info.unwrap_or_else(|error| panic!("{}: {error}", peer.protocol));
    // All peers and clients start at once: connecting has plenty of time, only the session's actions have
    // little.
    let retry_budget = RetryBudget::new();
    let ctx = Context::new("peer", &IgnoreEvents, &retry_budget);
    let session = connect.connect(&ctx, &info).await;
    let session = session.unwrap_or_else(|error| panic!("{}: {error}", peer.protocol));
    let retry_budget = RetryBudget::at_most(Duration::from_secs(3));
    let ctx = Context::new("peer", &IgnoreEvents, &retry_budget);
    act(&peer, &ctx, session).await;
}
