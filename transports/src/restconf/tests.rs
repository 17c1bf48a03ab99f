//! Tests with servers that deviate from RFC 8040.

use devgate_schemas::{RawConnectionInfo, Value};
use serde_json::json;

use super::*;
use crate::cli::fake::Bench;
use crate::http::fake::{Do, Server};
use crate::{DataStore, ProtocolSession, Request};

async fn open(bench: &Bench, server: &Server) -> RestconfSession {
    let raw = json!({ "host": "127.0.0.1", "port": server.port, "protocol": "http" });
    let Value::Hash(raw) = Value::from(raw) else {
        unreachable!("it is an object")
    };
    let info = RestconfSession::schema().read(RawConnectionInfo::new(raw), |_, _| {});
    let opened = RestconfSession::open(&bench.ctx(), &info.expect("it fits")).await;
    opened.expect("a session")
}

#[tokio::test]
async fn a_server_that_leads_elsewhere_from_its_host_meta_may_have_the_usual_root() {
    let elsewhere = Do::Answer(302, "location: https://portal.example/login\r\n", "");
    let server = Server::start([elsewhere, Do::Answer(200, "", "{}")]).await;
    open(&Bench::default(), &server).await;
    let expected = ["GET /.well-known/host-meta", "GET /restconf"];
    assert_eq!(server.lines(), expected);
}

#[tokio::test]
async fn a_server_that_takes_no_json_is_asked_in_xml() {
    for status in [406, 415] {
        let unfit = Do::Answer(status, "", "");
        let found = Do::Answer(200, "", "<restconf/>");
        let server = Server::start([Do::Answer(404, "", ""), unfit, found]).await;
        open(&Bench::default(), &server).await;
        let asked = server.asked();
        assert_eq!(asked.len(), 3, "{asked:?}");
        assert!(asked[1].contains("yang-data+json") && asked[2].contains("yang-data+xml"));
    }
}

#[tokio::test]
async fn only_a_strong_entity_tag_is_expected_of_what_is_changed() {
    for (header, is_expected) in [("etag: \"1\"\r\n", true), ("etag: W/\"1\"\r\n", false)] {
        let root = Do::Answer(200, "", "{}");
        let found = Do::Answer(200, header, "{}");
        let changed = Do::Answer(204, "", "");
        let server = Server::start([Do::Answer(404, "", ""), root, found, changed]).await;
        let bench = Bench::default();
        let session = open(&bench, &server).await;
        session.get(&bench.ctx(), "a:b=x#\\y").await.expect("data");
        let request = Request {
            what: "a:b=x#\\y".to_owned(),
            ..Request::default()
        };
        session.set(&bench.ctx(), &request).await.expect("changed");
        // The whole key is sent, with the characters escaped that are special in a URL.
        let expected = "PATCH /restconf/data/a:b=x%23%5Cy";
        assert_eq!(server.lines()[3], expected);
        assert_eq!(server.asked()[3].contains("if-match"), is_expected);
    }
}
