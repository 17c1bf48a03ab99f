//! Servers that stop answering, or lose a session.

use std::time::{Duration, Instant};

use devgate_schemas::Value;
use devgate_transports::{DataStore, Transport};

use crate::device::{Device, SYSTEM, contact};

#[tokio::test]
async fn a_server_that_stands_still_is_detected_and_left_at_once() {
    let device = Device::lease("candidate");
    let more = [
        ("timeout", Value::from(5)),
        ("command_timeout", Value::from(2)),
    ];
    let session = device.session_of("admin", &more).await;
    device.fault("hang");
    let error = session
        .verify(&device.ctx())
        .await
        .expect_err("it is silent");
    assert!(
        error.to_string().contains("did not answer within 5 s"),
        "{error}"
    );
    let started = Instant::now();
    Box::new(session).close(&device.ctx()).await;
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_server_that_hangs_in_a_change_is_reported_as_what_may_have_taken_effect() {
    let device = Device::lease("running");
    let more = [("command_timeout", Value::from(2))];
    let session = device.session_of("admin", &more).await;
    session
        .get(&device.ctx(), SYSTEM)
        .await
        .expect("it answers");
    device.fault("hang");
    let error = session
        .set(&device.ctx(), &contact("x"))
        .await
        .expect_err("silent");
    assert!(error.to_string().contains("within 2 s: `lock`"), "{error}");
}

#[tokio::test]
async fn a_session_that_was_cut_fails_its_verification_and_is_opened_again_to_read() {
    let device = Device::lease("old");
    let session = device.session().await;
    device.fault("sever");
    session.verify(&device.ctx()).await.expect_err("it is cut");
    session
        .get(&device.ctx(), SYSTEM)
        .await
        .expect("a new session");
    device.fault("sever");
    // It is not known yet that this session is cut: a request that only reads is repeated.
    session
        .get(&device.ctx(), SYSTEM)
        .await
        .expect("a new session");
    session.verify(&device.ctx()).await.expect("it answers");
}
