//! Tests of sessions with a fake server: credentials, retries, failures, pages.

mod logins;

use devgate_schemas::{ConnectionInfo, Hash, Level, RawConnectionInfo, Value};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::*;
use crate::cli::fake::TestBench;
use crate::error::{Interruption, Phase};
use crate::http::fake::{FakeReaction, Server};
use crate::{DataRequest, DataStore, Document, Error, ProtocolSession, Result, Transport};

/// Returns connection info for the server with additional attributes.
fn info(server: &Server, more: serde_json::Value) -> ConnectionInfo {
    let mut raw =
        json!({ "host": "127.0.0.1", "port": server.port, "protocol": "http", "timeout": 5 });
    for (key, value) in more.as_object().expect("settings are an object") {
        raw[key] = value.clone();
    }
    let Value::Hash(raw) = Value::from(raw) else {
        unreachable!("it is an object")
    };
    let read = RestSession::schema().read(RawConnectionInfo::new(raw), |_, _| {});
    read.expect("it fits")
}

async fn open(bench: &TestBench, server: &Server, more: serde_json::Value) -> Result<RestSession> {
    RestSession::open(&bench.ctx(), &info(server, more)).await
}

/// Returns the answer to a GET in a new session.
async fn get(server: &Server, more: serde_json::Value, what: &str) -> Result<Document> {
    let bench = TestBench::default();
    let session = open(&bench, server, more).await?;
    session.get(&bench.ctx(), what).await
}

fn data(json: serde_json::Value) -> Document {
    Document::Data(Value::from(json))
}

const OK: FakeReaction =
    FakeReaction::Answer(200, "content-type: application/json\r\n", "{\"a\": 1}");

#[tokio::test(start_paused = true)]
async fn only_reads_and_idempotent_changes_are_repeated_after_a_lost_connection() {
    for (method, again) in [
        ("GET", true),
        ("PUT", true),
        ("DELETE", true),
        ("POST", false),
        ("PATCH", false),
    ] {
        let server = Server::start([FakeReaction::Close, OK]).await;
        let bench = TestBench::default();
        let session = open(&bench, &server, json!({})).await.expect("a session");
        let request = DataRequest {
            what: "/x".into(),
            method: Some(method.into()),
            body: None,
        };
        let result = session.set(&bench.ctx(), &request).await;
        assert_eq!(
            server.request_lines().len(),
            1 + usize::from(again),
            "{method}"
        );
        assert_eq!(bench.notices().len(), usize::from(again), "{method}");
        match result {
            Ok(_) => assert!(again),
            Err(Error::Interrupted(why)) => {
                assert!(
                    why.changing && why.why == Interruption::Lost && !again,
                    "{why}"
                );
            }
            Err(error) => panic!("{method}: {error}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_put_with_if_match_is_sent_once() {
    let server = Server::start([FakeReaction::Close, OK]).await;
    let bench = TestBench::default();
    let session = open(&bench, &server, json!({})).await.expect("a session");
    let what = "/x\nIf-Match: \"1\"".to_owned();
    let request = DataRequest {
        what,
        method: Some("PUT".into()),
        body: Some(Value::from(1)),
    };
    let error = session.set(&bench.ctx(), &request).await.expect_err("lost");
    assert!(matches!(error, Error::Interrupted(_)), "{error:?}");
    let requests = server.requests();
    assert!(
        requests.len() == 1 && requests[0].contains("if-match: \"1\""),
        "{requests:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_gets_the_time_it_requests_within_the_retry_budget() {
    let busy = |headers| FakeReaction::Answer(503, headers, "{\"error\": \"restarting\"}");
    // The same wait as a date, relative to the server's own clock.
    let date =
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:44 GMT\r\n";
    for seven_seconds in ["retry-after: 7\r\n", date] {
        let server = Server::start([busy(seven_seconds), OK]).await;
        let started = tokio::time::Instant::now();
        get(&server, json!({}), "/x").await.expect("an answer");
        let waited = started.elapsed().as_secs_f64();
        assert!(waited >= 7.0, "{seven_seconds}: {waited}");
    }
    let server = Server::start([busy("retry-after: 120\r\n"), OK]).await;
    let error = get(&server, json!({}), "/x").await.expect_err("too long");
    let text = error.to_string();
    assert!(
        text.contains("restarting") && text.contains("asks to wait 120 s"),
        "{text}"
    );
    assert_eq!(server.request_lines().len(), 1);
    let server = Server::start([busy("retry-after: 1\r\n"), OK]).await;
    let bench = TestBench::default();
    let session = open(&bench, &server, json!({})).await.expect("a session");
    let request = DataRequest {
        what: "/x".into(),
        ..DataRequest::default()
    };
    session
        .set(&bench.ctx(), &request)
        .await
        .expect_err("it may have begun");
    assert_eq!(server.request_lines(), ["POST /x"]);
}

#[tokio::test]
async fn the_error_message_of_a_server_is_reported() {
    let server = Server::start([FakeReaction::Answer(
        404,
        "",
        r#"{"error": "no such zone"}"#,
    )])
    .await;
    let error = get(&server, json!({ "base_path": "api/v1/" }), "/x y")
        .await
        .expect_err("refused");
    assert!(!error.is_transient());
    let text = error.to_string();
    assert!(
        text.contains("refuses `GET /x y` (404 Not Found): no such zone"),
        "{text}"
    );
    assert_eq!(server.request_lines(), ["GET /api/v1/x%20y"]);
    let Error::Refused(refused) = error else {
        panic!("{error:?}")
    };
    let details = json!({ "status": 404, "body": { "error": "no such zone" } });
    assert_eq!(refused.details, Some(Value::from(details)));
}

#[tokio::test]
async fn a_failure_reported_with_200_is_an_error() {
    let settings = json!({ "failure": { "at": "/0/result", "ok": [0, 3], "text": "/0/text" } });
    for (result, fails) in [(0, false), (3, false), (1, true)] {
        let body = format!(r#"[{{"result": {result}, "text": "unknown"}}]"#);
        let server = Server::start([FakeReaction::Answer(200, "", body.leak())]).await;
        let result = get(&server, settings.clone(), "/").await;
        assert_eq!(result.is_err(), fails);
        if let Err(error) = result {
            assert!(error.to_string().contains("(result 1): unknown"), "{error}");
        }
    }
}

#[tokio::test]
async fn pages_are_put_together_by_link_or_by_pointer() {
    let link = "link: </x?page=2>; rel=\"next\"\r\n";
    let server = Server::start([
        FakeReaction::Answer(200, link, "[1, 2]"),
        FakeReaction::Answer(200, "", "[3]"),
    ])
    .await;
    assert_eq!(
        get(&server, json!({}), "/x").await.expect("all"),
        data(json!([1, 2, 3]))
    );
    assert_eq!(server.request_lines(), ["GET /x", "GET /x?page=2"]);
}

#[tokio::test]
async fn a_list_with_an_invalid_page_is_an_error() {
    let link = "link: </x?page=2>; rel=\"next\"\r\n";
    for (second, found) in [
        (r#"{"error": "gone"}"#, "another object, saying `gone`"),
        ("<html>later</html>", "no whole JSON"),
        ("", "nothing"),
        ("[3, 4", "no whole JSON"),
    ] {
        let script = [
            FakeReaction::Answer(200, link, "[1, 2]"),
            FakeReaction::Answer(200, "", second),
        ];
        let server = Server::start(script).await;
        let error = get(&server, json!({}), "/x").await;
        let error = error.expect_err("it is not whole").to_string();
        assert!(error.contains("`GET /x`, on page 2, it answers"), "{error}");
        assert!(error.contains(found), "{error}");
        assert!(error.contains("expected JSON that is a list"), "{error}");
    }
}

#[tokio::test]
async fn an_unrequested_encoding_is_named_and_not_read() {
    let encoded = "content-encoding: gzip\r\n";
    for status in [200, 404] {
        let server = Server::start([FakeReaction::Answer(status, encoded, "xyz")]).await;
        let error = get(&server, json!({}), "/x").await;
        let error = error.expect_err("it is not read").to_string();
        assert!(error.contains("`Content-Encoding: gzip`"), "{error}");
    }
    let server = Server::start([FakeReaction::Answer(
        200,
        "content-encoding: identity\r\n",
        "[1]",
    )])
    .await;
    let list = get(&server, json!({}), "/x").await;
    assert_eq!(list.expect("it is plain"), data(json!([1])));
}

#[tokio::test]
async fn the_exceeded_limit_of_headers_is_named_and_the_request_is_not_repeated() {
    let head = "HTTP/1.1 200 x\r\n";
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    let many = "x: y\r\n".repeat(101);
    let long = "y".repeat(500_000);
    for (answer, limit) in [
        (format!("{head}{many}"), "408 KiB, or 100 lines, of headers"),
        (
            format!("{head}x: {long}"),
            "408 KiB, or 100 lines, of headers",
        ),
        (
            format!("{chunked}1;{long}"),
            "16 KiB of extensions of chunks",
        ),
        (format!("{chunked}0\r\nx: {long}"), "16 KiB of trailers"),
        (format!("{chunked}0\r\n{many}"), "100 trailers"),
    ] {
        let server = Server::start([FakeReaction::Write(answer.leak())]).await;
        let error = get(&server, json!({}), "/x").await;
        let error = error.expect_err("it is too much").to_string();
        assert!(
            error.contains(&format!("sent more than {limit}")),
            "{error}"
        );
        assert_eq!(server.request_lines(), ["GET /x"]);
    }
}

#[tokio::test]
async fn a_list_of_too_many_pages_is_an_error() {
    let link = "link: </x>; rel=\"next\"\r\n";
    let server = Server::start((0..1001).map(|_| FakeReaction::Answer(200, link, "[1]"))).await;
    let error = get(&server, json!({}), "/x").await;
    let error = error.expect_err("it does not end").to_string();
    assert!(
        error.contains("sent more than 1000 pages during `GET /x`"),
        "{error}"
    );
}

#[tokio::test]
async fn all_pages_together_share_the_limits_of_one_answer() {
    let link = "link: </x>; rel=\"next\"\r\n";
    let server = Server::start((0..20).map(|_| FakeReaction::Late(200, link, "[1]"))).await;
    let error = get(&server, json!({ "command_timeout": 0.5 }), "/x").await;
    let error = error.expect_err("they do not end").to_string();
    assert!(
        error.contains("did not end within 0.5 s: `GET /x`, on page"),
        "{error}"
    );

    let page: &str = Box::leak(format!("[{}0]", "0,".repeat(900)).into_boxed_str());
    let server = Server::start([
        FakeReaction::Answer(200, link, page),
        FakeReaction::Answer(200, link, page),
    ])
    .await;
    let error = get(&server, json!({ "answer_limit": 1000 }), "/x").await;
    let error = error.expect_err("they are too many").to_string();
    assert!(
        error.contains("more than 1000 values during `GET /x`, on page 2"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_of_too_many_values_is_not_read_and_the_error_names_the_setting() {
    for body in ["[0,0,0]", "<a><b/><b/></a>", "{\"a\":{\"b\":{\"c\":[]}}}"] {
        let many: &str =
            Box::leak(format!("[{}{body}]", format!("{body},").repeat(400)).into_boxed_str());
        let many = match body.strip_prefix('<') {
            Some(_) => Box::leak(format!("<x>{}</x>", body.repeat(400)).into_boxed_str()),
            None => many,
        };
        let server = Server::start([
            FakeReaction::Answer(200, "", many),
            FakeReaction::Answer(200, "", many),
        ])
        .await;
        let error = get(&server, json!({ "answer_limit": 1000 }), "/x").await;
        let error = error.expect_err("it is too much").to_string();
        assert!(
            error.contains("sent more than 1000 values during `GET /x` (`answer_limit`"),
            "{error}"
        );
        let read = get(&server, json!({ "answer_limit": 10_000 }), "/x").await;
        read.expect("it is allowed");
    }
}

#[tokio::test]
async fn nothing_goes_to_another_server() {
    let server = Server::start([
        FakeReaction::Answer(302, "location: /there\r\n", ""),
        OK,
        FakeReaction::Answer(302, "location: http://192.0.2.1/\r\n", ""),
        FakeReaction::Answer(200, "link: <http://192.0.2.1/>; rel=next\r\n", "[1]"),
    ])
    .await;
    let settings = json!({ "token": "canary" });
    get(&server, settings.clone(), "/here")
        .await
        .expect("followed");
    assert_eq!(server.request_lines(), ["GET /here", "GET /there"]);
    for what in ["/redirected", "/paged"] {
        let error = get(&server, settings.clone(), what)
            .await
            .expect_err("elsewhere")
            .to_string();
        assert!(error.contains("another server than 127.0.0.1:"), "{error}");
    }
}

#[tokio::test]
async fn answers_that_are_not_http_or_incomplete_are_errors() {
    let server = Server::start([FakeReaction::Write("SSH-2.0-x\r\n")]).await;
    let error = get(&server, json!({}), "/x").await.expect_err("no HTTP");
    assert!(
        matches!(
            error,
            Error::Protocol {
                phase: Phase::Request,
                ..
            }
        ),
        "{error}"
    );
    let server = Server::start([FakeReaction::Write(
        "HTTP/1.1 200 x\r\ncontent-length: 9\r\n\r\nhalf",
    )])
    .await;
    let bench = TestBench::default();
    let session = open(&bench, &server, json!({})).await.expect("a session");
    let error = session
        .set(&bench.ctx(), &DataRequest::default())
        .await
        .expect_err("half");
    assert_eq!(error.partial_output(), Some("half"), "{error}");
    let server = Server::start([FakeReaction::Hang]).await;
    let error = get(
        &server,
        json!({ "idle_timeout": 0.1, "timeout": 0.1 }),
        "/x",
    )
    .await;
    let error = error.expect_err("silence").to_string();
    assert!(error.contains("sent nothing for 0.1 s"), "{error}");
}

#[tokio::test]
async fn a_server_without_http2_is_reported_if_only_http2_is_allowed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let serving = async {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        stream.write_all(answer).await.expect("written");
        std::future::pending::<()>().await
    };
    let (bench, server) = (TestBench::default(), Server::start([]).await);
    let ctx = bench.ctx();
    let settings = json!({ "port": port, "http2_only": true });
    let session = open(&bench, &server, settings).await.expect("a session");
    let error = tokio::select! {
        () = serving => unreachable!("it serves for ever"),
        answer = session.get(&ctx, "/x") => answer.expect_err("no HTTP/2").to_string(),
    };
    assert!(error.contains("leave `http2_only` out"), "{error}");
}

#[tokio::test]
async fn invalid_requests_are_not_sent() {
    let server = Server::start([]).await;
    for what in [
        "/a\tb",
        "/a\u{7}",
        "/a\nno header",
        "https://me:canary@other.example.com/a",
    ] {
        get(&server, json!({}), what).await.expect_err("refused");
    }
    let bench = TestBench::default();
    let session = open(&bench, &server, json!({})).await.expect("a session");
    let request = |what: &str| DataRequest {
        what: what.into(),
        body: Some(Value::from("{\"key\": canary}")),
        ..DataRequest::default()
    };
    let error = session.set(&bench.ctx(), &request("/a")).await;
    let error = error.expect_err("no JSON").to_string();
    assert!(
        error.contains("line 1 column 9") && !error.contains("canary"),
        "{error}"
    );
    assert!(server.request_lines().is_empty());
    let request = DataRequest {
        method: Some("ge t".into()),
        ..DataRequest::default()
    };
    let error = session
        .set(&bench.ctx(), &request)
        .await
        .expect_err("no method")
        .to_string();
    assert!(error.contains("`GE T` is not an HTTP method"), "{error}");
    assert_eq!(server.request_lines(), [""; 0]);
}

#[tokio::test]
async fn any_answer_of_the_api_verifies_a_server() {
    for (status, well) in [
        (200, true),
        (404, true),
        (302, true),
        (401, false),
        (403, false),
        (500, false),
    ] {
        let server = Server::start([FakeReaction::Answer(status, "server: x/1\r\n", "")]).await;
        let bench = TestBench::default();
        let session = open(&bench, &server, json!({})).await.expect("a session");
        assert_eq!(session.verify(&bench.ctx()).await.is_ok(), well, "{status}");
    }
    let server = Server::start([FakeReaction::Answer(404, "server: x/1\r\n", "")]).await;
    let bench = TestBench::default();
    let session = open(&bench, &server, json!({})).await.expect("a session");
    let facts = session.facts(&bench.ctx()).await.expect("facts");
    let expected: Hash = [
        ("server", Value::from("x/1")),
        ("version", Value::from("1.1")),
    ]
    .into_iter()
    .collect();
    assert_eq!(facts.get("http"), Some(&Value::Hash(expected)));
}
