//! Tests with servers that deviate from RFC 8040.

use devgate_schemas::{RawConnectionInfo, Value};
use serde_json::json;

use super::*;
use crate::cli::fake::TestBench;
use crate::http::fake::{FakeReaction, Server};
use crate::{DataRequest, DataStore, ProtocolSession};

async fn open(bench: &TestBench, server: &Server) -> RestconfSession {
    let raw = json!({ "host": "127.0.0.1", "port": server.port, "protocol": "http" });
    let Value::Hash(raw) = Value::from(raw) else {
        unreachable!("it is an object")
    };
    let info = RestconfSession::schema().read(RawConnectionInfo::new(raw), |_, _| {});
    let opened = RestconfSession::open(&bench.ctx(), &info.expect("it fits")).await;
    opened.expect("a session")
}

#[tokio::test]
async fn a_server_with_an_unusable_host_meta_may_have_the_default_root() {
    let elsewhere = FakeReaction::Answer(302, "location: https://portal.example/login\r\n", "");
    let server = Server::start([elsewhere, FakeReaction::Answer(200, "", "{}")]).await;
    open(&TestBench::default(), &server).await;
    let expected = ["GET /.well-known/host-meta", "GET /restconf"];
    assert_eq!(server.request_lines(), expected);
}

#[tokio::test]
async fn a_server_without_json_gets_requests_in_xml() {
    for status in [406, 415] {
        let unfit = FakeReaction::Answer(status, "", "");
        let found = FakeReaction::Answer(200, "", "<restconf/>");
        let server = Server::start([FakeReaction::Answer(404, "", ""), unfit, found]).await;
        open(&TestBench::default(), &server).await;
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{requests:?}");
        assert!(requests[1].contains("yang-data+json") && requests[2].contains("yang-data+xml"));
    }
}

#[tokio::test]
async fn only_a_strong_entity_tag_is_expected_of_what_is_changed() {
    for (header, is_expected) in [("etag: \"1\"\r\n", true), ("etag: W/\"1\"\r\n", false)] {
        let root = FakeReaction::Answer(200, "", "{}");
        let found = FakeReaction::Answer(200, header, "{}");
        let changed = FakeReaction::Answer(204, "", "");
        let server = Server::start([FakeReaction::Answer(404, "", ""), root, found, changed]).await;
        let bench = TestBench::default();
        let session = open(&bench, &server).await;
        session.get(&bench.ctx(), "a:b=x#\\y").await.expect("data");
        let request = DataRequest {
            what: "a:b=x#\\y".to_owned(),
            ..DataRequest::default()
        };
        session.set(&bench.ctx(), &request).await.expect("changed");
        // The whole key is sent, with the characters escaped that are special in a URL.
        let expected = "PATCH /restconf/data/a:b=x%23%5Cy";
        assert_eq!(server.request_lines()[3], expected);
        assert_eq!(server.requests()[3].contains("if-match"), is_expected);
    }
}
