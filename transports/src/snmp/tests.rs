//! Tests with agents that misbehave: silence, lost datagrams, unrelated answers, loops.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, NullSink, RawConnectionInfo, Value};
use serde_json::json;
use tokio::net::UdpSocket;

use super::SnmpSession;
use super::oid::Oid;
use super::pdu::{Kind, Pdu};
use crate::{Context, Error, ProtocolSession, RetryBudget, Transport};

/// Starts a version 2c agent. `answer` creates the answers to each request.
async fn agent(answer: impl Fn(usize, Pdu) -> Vec<Vec<u8>> + Send + 'static) -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let port = socket.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        let mut buffer = [0; 2048];
        for count in 0.. {
            let (length, peer) = socket.recv_from(&mut buffer).await.expect("a request");
            let request = Pdu::of_community(&buffer[..length]).expect("it is one");
            for datagram in answer(count, request) {
                socket.send_to(&datagram, peer).await.expect("it is sent");
            }
        }
    });
    port
}

fn response(request: &Pdu, id: i32, oids: &[&[u32]]) -> Vec<u8> {
    let oids: Vec<Oid> = oids.iter().map(|oid| Oid::new(oid)).collect();
    let answer = Pdu {
        kind: Kind::Response,
        id,
        ..Pdu::get(&oids)
    };
    assert!(matches!(request.kind, Kind::Get | Kind::GetBulk));
    let mut message = answer.in_community("public");
    // Only requests can be encoded, whose values are null. An empty text has the same length.
    for at in 1..message.len() {
        if message[at - 1..=at] == [5, 0] {
            message[at - 1] = 4;
        }
    }
    message
}

fn info(settings: serde_json::Value) -> ConnectionInfo {
    let Value::Hash(raw) = Value::from(settings) else {
        panic!("settings are a hash");
    };
    let raw = RawConnectionInfo::new(raw);
    SnmpSession::schema()
        .read(raw, |_, _| {})
        .expect("it fits the schema")
}

async fn open(
    settings: serde_json::Value,
    retry_budget: &RetryBudget,
) -> crate::Result<SnmpSession> {
    let ctx = Context::new("sw1", &NullSink, retry_budget);
    SnmpSession::open(&ctx, &info(settings)).await
}

fn at(port: u16) -> serde_json::Value {
    json!({
        "host": "127.0.0.1", "port": port, "version": "v2c", "community": "public",
        "timeout": 0.2,
    })
}

#[tokio::test]
async fn lost_and_foreign_datagrams_do_not_matter() {
    let port = agent(|count, request| match count {
        // The first request is lost. Then noise, an answer to another request, and the answer arrive.
        0 => Vec::new(),
        _ => vec![
            b"noise".to_vec(),
            response(&request, request.id - 1, &[&[1, 3]]),
            request.in_community("public"),
            response(&request, request.id, &[&[1, 3, 6]]),
        ],
    })
    .await;
    let retry_budget = RetryBudget::at_most(Duration::from_secs(10));
    let session = open(at(port), &retry_budget).await.expect("it answers");
    let ctx = Context::new("sw1", &NullSink, &retry_budget);
    let objects = session
        .get(&ctx, &[Oid::new(&[1, 3])])
        .await
        .expect("an answer");
    assert_eq!(objects[0].oid, Oid::new(&[1, 3, 6]));
}

#[tokio::test]
async fn silence_says_what_it_may_mean() {
    let port = agent(|_, _| Vec::new()).await;
    let retry_budget = RetryBudget::at_most(Duration::from_secs(1));
    let error = open(at(port), &retry_budget)
        .await
        .expect_err("nobody answers");
    let Error::RetryBudgetSpent(_) = error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains("`community`"), "{error}");
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_told_from_silence() {
    // A socket bound to one peer receives nothing from others, and no other process can take the port.
    let held = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    held.connect("127.0.0.1:9").await.expect("a peer");
    let port = held.local_addr().expect("it is bound").port();
    let retry_budget = RetryBudget::at_most(Duration::from_secs(1));
    let error = open(at(port), &retry_budget)
        .await
        .expect_err("nobody listens");
    assert!(error.to_string().contains("connection refused"), "{error}");
}

#[tokio::test]
async fn a_walk_that_does_not_go_forward_ends() {
    let port = agent(|_, request| {
        let (first, second): (&[u32], &[u32]) = (&[1, 3, 6, 7], &[1, 3, 6, 6]);
        vec![response(&request, request.id, &[first, second])]
    })
    .await;
    let retry_budget = RetryBudget::new();
    let session = open(at(port), &retry_budget).await.expect("it answers");
    let ctx = Context::new("sw1", &NullSink, &retry_budget);
    let walked = session.walk(&ctx, &Oid::new(&[1, 3, 6])).await;
    let error = walked.expect_err("it goes back").to_string();
    assert!(error.contains("1.3.6.6 comes behind 1.3.6.7"), "{error}");
    session.verify(&ctx).await.expect("it still answers");
}

#[tokio::test]
async fn credentials_that_do_not_fit_together_are_told_before_anything_is_sent() {
    let host = json!({ "host": "192.0.2.1" });
    for (settings, expected) in [
        (json!({}), "user: is missing"),
        (json!({ "community": "public" }), "`version: v2c`"),
        (json!({ "version": "v2c" }), "community: is missing"),
        (
            json!({ "user": "me", "priv_password": "a-canary" }),
            "auth_password: is missing",
        ),
        (
            json!({
                "user": "me", "auth_password": "a-canary", "priv_password": "a-canary",
                "priv_protocol": "AES-256",
            }),
            "SHA-256 or longer",
        ),
    ] {
        let mut all = host.clone();
        for (key, value) in settings.as_object().expect("an object") {
            all[key] = value.clone();
        }
        let retry_budget = RetryBudget::new();
        let error = open(all, &retry_budget)
            .await
            .expect_err("refused")
            .to_string();
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("canary"), "{error}");
    }
}
