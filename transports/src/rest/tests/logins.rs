//! Tests of credentials in requests, and of logins with a token or cookies.

use super::*;

#[tokio::test]
async fn credentials_are_sent_in_each_supported_way() {
    for (settings, header) in [
        (
            json!({ "user": "me", "password": "canary" }),
            "authorization: Basic bWU6Y2FuYXJ5",
        ),
        (json!({ "token": "canary" }), "authorization: Bearer canary"),
        (json!({ "apikey": "canary" }), "x-api-key: canary"),
        (
            json!({ "apikey": "canary", "apikey_header": "X-Auth" }),
            "x-auth: canary",
        ),
    ] {
        let server = Server::start([OK]).await;
        let bench = TestBench::default();
        let session = open(&bench, &server, settings).await.expect("a session");
        let answer = session.get(&bench.ctx(), "/x").await.expect("an answer");
        assert_eq!(answer, data(json!({ "a": 1 })));
        let requests = server.requests().concat();
        assert!(requests.contains(header), "{requests}");
        assert!(bench.messages(Level::Warning)[0].contains("are sent in clear text"));
        assert!(!format!("{session:?}").contains("canary"));
    }
}

#[tokio::test]
async fn credentials_that_are_refused_are_tried_once() {
    let refusal = || {
        [FakeReaction::Answer(
            401,
            "www-authenticate: Basic realm=x\r\n",
            "no",
        )]
    };
    let server = Server::start(refusal()).await;
    let error = get(&server, json!({ "user": "me", "password": "canary" }), "/x").await;
    let error = error.expect_err("refused");
    assert!(matches!(error, Error::Authentication(_)), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("refuses the login of `me` (basic), saying `no`"),
        "{error}"
    );
    assert_eq!(server.request_lines(), ["GET /x"]);
    let server = Server::start(refusal()).await;
    let error = get(&server, json!({}), "/x")
        .await
        .expect_err("refused")
        .to_string();
    assert!(error.contains("it wants credentials (Basic)"), "{error}");
}

#[tokio::test]
async fn a_login_gives_a_token_that_is_renewed_once_when_it_expires() {
    let token = |text| FakeReaction::Answer(200, "", text);
    let server = Server::start([
        token(r#"{"t": "canary-1"}"#),
        OK,
        FakeReaction::Answer(401, "", "expired"),
        token(r#"{"t": "canary-2"}"#),
        OK,
        FakeReaction::Answer(401, "", "expired"),
        token(r#"{"t": "canary-3"}"#),
        FakeReaction::Answer(401, "", "no canary-3"),
    ])
    .await;
    let bench = TestBench::default();
    let settings = json!({
        "user": "me", "password": "can\"ary",
        "login": {
            "path": "/login", "body": { "name": "{user}", "password": "{password}" },
            "token": "/t", "value": "{token}",
        },
    });
    let session = open(&bench, &server, settings).await.expect("a session");
    for _ in 0..2 {
        session.get(&bench.ctx(), "/x").await.expect("an answer");
    }
    let error = session
        .get(&bench.ctx(), "/x")
        .await
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("refuses the login of `me` (POST /login)"),
        "{error}"
    );
    assert!(!error.contains("canary"), "{error}");
    let requests = server.requests();
    assert!(
        requests[0].ends_with(r#"{"name":"me","password":"can\"ary"}"#),
        "{}",
        requests[0]
    );
    assert!(!requests[0].contains("authorization"), "{}", requests[0]);
    let tokens: Vec<bool> = [(1, "1"), (2, "1"), (4, "2"), (5, "2"), (7, "3")]
        .map(|(at, number)| requests[at].contains(&format!("authorization: canary-{number}\r\n")))
        .to_vec();
    assert_eq!(tokens, [true; 5], "{requests:#?}");
}

#[tokio::test]
async fn a_login_gives_cookies() {
    let cookies =
        "set-cookie: a=1; Path=/; HttpOnly\r\nset-cookie: b=2\r\nset-cookie: old=; Max-Age=0\r\n";
    let server = Server::start([FakeReaction::Answer(204, cookies, ""), OK]).await;
    let settings = json!({
        "user": "me", "password": "can&ary",
        "login": { "path": "/login", "body": "u={user}&p={password}" },
    });
    get(&server, settings, "/x").await.expect("an answer");
    let requests = server.requests();
    assert!(requests[0].ends_with("u=me&p=can%26ary"), "{}", requests[0]);
    assert!(
        requests[1].contains("cookie: a=1; b=2\r\n"),
        "{}",
        requests[1]
    );
}
