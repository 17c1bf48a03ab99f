//! `rest` against real servers: PowerDNS, etcd, Caddy and Kea, with every method of authentication.

use serde_json::{Value, json};

use crate::support::lab::{command_for, lab, lock_exclusively, output, text};
use crate::support::project::Project;
use crate::support::run::Run;
use crate::support::tls::TlsServer;

/// Returns connection info for a server of the lab without TLS, with additional settings.
fn connection_info(lab: &Value, more: Value) -> Value {
    let mut info = json!({
        "remote-transport": "rest",
        "host": text(lab, "host"),
        "port": lab["port"],
        "protocol": "http",
    });
    for (key, value) in more.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    info
}

/// Creates a project with one target, `server`.
fn project(lab: &Value, more: Value) -> Project {
    let mut project = Project::new();
    project.add_target("server", connection_info(lab, more));
    project
}

/// Runs a script in which `devgate` queries the server, at this log level.
fn script(project: &mut Project, lines: &str, level: &str) -> Run {
    let path = project.write("script.sh", lines);
    let run = format!(
        "session run -t server --log-level {level} -- sh {}",
        path.display()
    );
    project.devgate(&run)
}

#[test]
fn powerdns_is_changed_with_a_key_and_says_no_with_reasons() {
    let lab = lab("pdns");
    let settings = json!({ "apikey": lab["key"], "base_path": "/api/v1/servers/localhost", "verify_path": "/zones" });
    let mut server = project(&lab, settings);
    let verified = server.devgate("verify -t server").succeeded();
    verified.shows(&["accepts the credentials."]);
    // The public part of the API says nothing about the key.
    let settings = json!({ "apikey": "a-wrong-canary-key", "base_path": "/api" });
    let open = project(&lab, settings)
        .devgate("verify -t server")
        .succeeded();
    open.shows(&[
        "is reachable; whether it accepts the credentials is not known",
        "`verify_path`",
    ]);
    let run = script(
        &mut server,
        r#"set -e
        # A lab that has been tested before has the zone.
        devgate session set /zones/example.test. --method DELETE || true
        devgate session set /zones '{"name": "example.test.", "kind": "Native", "nameservers": ["ns1.example.test."]}'
        devgate session set /zones/example.test. --method PATCH '{"rrsets": [{"name": "www.example.test.", "type": "A",
            "ttl": 60, "changetype": "REPLACE", "records": [{"content": "192.0.2.77", "disabled": false}]}]}'
        devgate session get /zones/example.test. | grep 192.0.2.77
        devgate session set /zones '{"name": "example.test.", "kind": "Native"}' || echo twice
        devgate session get /zones/nowhere.test. || echo unknown
        devgate session set /zones/example.test. nonsense --method PUT || echo nonsense"#,
        "info",
    )
    .succeeded();
    let run = run.shows(&[
        "refuses `POST /zones` (409 Conflict): Conflict",
        "twice",
        "192.0.2.77",
    ]);
    run.shows(&[
        "refuses `GET /zones/nowhere.test.` (404 Not Found)",
        "unknown",
        "(400 Bad Request)",
        "nonsense",
    ]);
    let database = format!("{}/pdns.db", text(&lab, "dir"));
    let stored = "select content from records where name = 'www.example.test'";
    let stored = output(command_for("sqlite3").args([&database, stored]));
    assert_eq!(stored.trim(), "192.0.2.77");

    let without = project(
        &lab,
        json!({ "base_path": "/api/v1/servers/localhost", "verify_path": "/zones" }),
    );
    let item = without
        .devgate("verify -t server --format json")
        .failed()
        .item();
    assert_eq!(
        item["value"]["_error"]["details"]["status"], "401 Unauthorized",
        "{item}"
    );
    let wrong = project(
        &lab,
        json!({ "apikey": "a-wrong-canary-key", "base_path": "/api/v1/servers/localhost", "verify_path": "/zones" }),
    );
    wrong
        .devgate("verify -t server")
        .failed()
        .shows(&["(header x-api-key)", "check `apikey`"]);
}

#[test]
fn etcd_gives_a_token_for_a_login_which_is_repeated_when_it_has_expired() {
    let lab = lab("etcd");
    let login = json!({
        "path": "/v3/auth/authenticate",
        "body": { "name": "{user}", "password": "{password}" },
        "token": "/token",
        "value": "{token}",
    });
    let settings =
        |password: &str| json!({ "user": lab["user"], "password": password, "login": login });
    let mut server = project(&lab, settings(text(&lab, "password")));
    let run = script(
        &mut server,
        r#"set -e
        key=$(printf /lab/colour | base64) value=$(printf amber | base64)
        devgate session set /v3/kv/put "{\"key\": \"$key\", \"value\": \"$value\"}"
        sleep 4
        devgate session set /v3/kv/range "{\"key\": \"$key\"}" | grep "$value"
        devgate session set /v3/kv/put "{\"key\": \"$(printf /other | base64)\", \"value\": \"$value\"}" || echo other"#,
        "debug",
    );
    let run = run.succeeded().shows(&[
        "has expired",
        "(403 Forbidden): etcdserver: permission denied",
        "other",
    ]);
    assert_eq!(run.stderr.matches("logged in at").count(), 2, "{run}");

    let wrong = project(&lab, settings("a-wrong-canary-pass"));
    let run = wrong.devgate("verify -t server").failed();
    run.shows(&[
        "refuses the login of `lab` (POST /v3/auth/authenticate)",
        "authentication failed",
    ]);
}

#[test]
fn a_server_that_wants_a_certificate_takes_that_of_its_authority_alone() {
    for (name, port, version) in [("etcd", "tls_port", "2"), ("caddy", "client_port", "2")] {
        let lab = lab(name);
        let pki = |file: &str| format!("{}/{file}", text(&lab, "pki"));
        let with = |identity: &str| {
            let mut settings = json!({ "protocol": "https", "port": lab[port], "ssl_ca_file": pki("ca.pem"), "verify_path": "/config/" });
            if !identity.is_empty() {
                settings["ssl_cert_file"] = pki(&format!("{identity}.pem")).into();
                settings["ssl_key_file"] = pki(&format!("{identity}.key")).into();
            }
            project(&lab, settings)
        };
        let facts = with("client")
            .devgate("facts -t server --format json")
            .succeeded()
            .item();
        assert_eq!(facts["value"]["http"]["version"], version, "{facts}");
        for identity in ["stranger", ""] {
            let run = with(identity).devgate("verify -t server").failed();
            let run = run.shows(&["rejects our certificate", "`ssl_cert_file`"]);
            assert!(
                !run.stderr.contains("follows in"),
                "it is not tried again: {run}"
            );
        }
    }
}

#[test]
fn caddy_is_changed_only_as_it_was_when_it_was_read() {
    let lab = lab("caddy");
    let _exclusive = lock_exclusively(&lab);
    let mut server = project(
        &lab,
        json!({ "user": lab["user"], "password": lab["password"] }),
    );
    let log = r#"devgate session set /config/logging '{"logs": {"default": {"level": "WARN"}}}'"#;
    script(&mut server, log, "info").succeeded();
    let read = server.devgate("session get -t server /config/logging --log-level info");
    let read = read.succeeded().shows(&["WARN"]);
    let (_, etag) = read
        .stderr
        .split_once("the ETag of `GET /config/logging` is ")
        .expect("an ETag");
    let etag = etag.lines().next().expect("a line");
    let change = format!(
        r#"set -e
        change() {{ devgate session set '/config/logging
If-Match: {etag}' '{{"logs": {{"default": {{"level": "ERROR"}}}}}}' --method PATCH; }}
        change
        change || echo changed meanwhile
        devgate session get /config/logging | grep ERROR"#
    );
    let run = script(&mut server, &change, "info");
    run.succeeded()
        .shows(&["(412 Precondition Failed)", "changed meanwhile", "ERROR"]);

    let wrong = project(
        &lab,
        json!({ "user": lab["user"], "password": "a-wrong-canary-pass" }),
    );
    wrong
        .devgate("verify -t server")
        .failed()
        .shows(&["refuses the login of `admin` (basic)"]);
}

#[test]
fn a_certificate_is_refused_with_its_reason_and_taken_where_it_is_pinned() {
    let lab = lab("caddy");
    let with = |port: &str, more: Value| {
        let mut settings = json!({ "protocol": "https", "port": lab[port] });
        for (key, value) in more.as_object().expect("settings are an object") {
            settings[key] = value.clone();
        }
        project(&lab, settings).devgate("verify -t server")
    };
    let authority = json!({ "ssl_ca_file": format!("{}/ca.pem", text(&lab, "pki")) });
    with("server_port", authority.clone()).succeeded();
    with("server_port", json!({}))
        .failed()
        .shows(&["not signed by a trusted authority", "`ssl_ca_file`"]);
    with("elsewhere_port", authority.clone())
        .failed()
        .shows(&["is not for that name but for sw9.example.com"]);
    with("expired_port", authority.clone())
        .failed()
        .shows(&["has expired"]);
    with("stranger_port", authority.clone()).failed().shows(&[
        "or pin it with `ssl_fingerprint`",
        text(&lab, "fingerprint"),
    ]);
    with(
        "stranger_port",
        json!({ "ssl_fingerprint": lab["fingerprint"] }),
    )
    .succeeded();
    let pinned = json!({ "ssl_fingerprint": lab["fingerprint"] });
    with("server_port", pinned).failed().shows(&[
        "is not the one that `ssl_fingerprint` pins",
        "It shows SHA256",
    ]);
    with("stranger_port", json!({ "ssl_verify": false }))
        .succeeded()
        .shows(&["is not verified (`ssl_verify: false`)"]);
    with("port", authority)
        .failed()
        .shows(&["what it answers is no TLS: check `port`"]);
    let plain = with("server_port", json!({ "protocol": "http" }));
    plain
        .failed()
        .shows(&["the server uses TLS: set `protocol: https`"]);
}

#[test]
fn a_certificate_that_is_not_valid_yet_and_a_tls_that_is_too_old_are_reported() {
    for (from, options, expected) in [
        (
            "tomorrow",
            [].as_slice(),
            ["is not valid yet", "the clocks of both sides"],
        ),
        (
            "yesterday",
            &["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
            ["no common TLS version", "enable one of them"],
        ),
    ] {
        let server = TlsServer::start(from, "+9 days", options);
        let mut project = Project::new();
        project.add_target(
            "server",
            json!({
                "remote-transport": "rest", "host": "127.0.0.1", "port": server.port,
                "ssl_ca_file": server.authority(),
            }),
        );
        let run = project.devgate("verify -t server --format json").failed();
        let run = run.shows(&expected);
        assert!(!run.stderr.contains("follows in"), "{run}");
    }
}

#[test]
fn http2_is_spoken_where_both_can_or_where_it_is_requested() {
    let lab = lab("caddy");
    let authority = format!("{}/ca.pem", text(&lab, "pki"));
    let version = |settings: Value| {
        let facts = project(&lab, settings).devgate("facts -t server --format json");
        facts.succeeded().item()["value"]["http"]["version"].clone()
    };
    let plain = json!({ "user": lab["user"], "password": lab["password"] });
    let mut only = plain.clone();
    only["http2_only"] = json!(true);
    let tls = json!({ "protocol": "https", "port": lab["server_port"], "ssl_ca_file": authority });
    let mut tls_only = tls.clone();
    tls_only["http2_only"] = json!(true);
    assert_eq!(
        [plain, only, tls, tls_only].map(version),
        ["1.1", "2", "2", "2"]
    );
}

#[test]
fn a_change_under_noop_is_shown_without_secrets_and_not_sent() {
    let lab = lab("pdns");
    let key = text(&lab, "key");
    let mut server = project(&lab, json!({ "apikey": key }));
    let zone = "/api/v1/servers/localhost/zones";
    let body = json!({ "name": "never.test.", "kind": "Native", "nameservers": [], "tsig": key });
    server.write("zone.json", &body.to_string());
    let set = format!("session set -t server {zone} - --method POST --noop --format json");
    let document = server.start_under(&["sh", "-c", "exec \"$@\" <zone.json", "sh"], &set);
    let document = document.finish().succeeded().json();
    assert_eq!(document["noop"], json!(true), "{document:#}");
    assert_eq!(document["body"]["name"], "never.test.", "{document:#}");
    assert_eq!(
        document["body"]["tsig"], "Sensitive [value redacted]",
        "{document:#}"
    );
    let zone = server.devgate(&format!("session get -t server {zone}/never.test."));
    zone.failed().shows(&["(404 Not Found)"]);
}

#[test]
fn keas_failures_are_seen_though_its_status_says_that_all_is_well() {
    let lab = lab("kea");
    let settings = json!({
        "user": lab["user"],
        "password": lab["password"],
        "failure": { "at": "/0/result", "ok": [0, 3], "text": "/0/text" },
    });
    let mut server = project(&lab, settings);
    let run = script(
        &mut server,
        r#"set -e
        ask() { devgate session set / "{\"command\": \"$1\", \"service\": [\"dhcp4\"]}"; }
        ask config-get | grep 198.18.0.0/24
        ask nonsense || echo refused"#,
        "info",
    );
    run.succeeded().shows(&[
        "refuses `POST /` (result 2): 'nonsense' command not supported",
        "refused",
    ]);
}

#[test]
fn at_the_finest_log_level_no_run_shows_a_token() {
    let (pdns, etcd, caddy) = (lab("pdns"), lab("etcd"), lab("caddy"));
    let mut project = Project::new();
    project.add_target(
        "pdns",
        connection_info(&pdns, json!({ "apikey": pdns["key"] })),
    );
    let login = json!({
        "path": "/v3/auth/authenticate", "token": "/token", "value": "{token}",
        "body": { "name": "{user}", "password": "{password}" },
    });
    let user = json!({ "user": etcd["user"], "password": etcd["password"], "login": login });
    project.add_target("etcd", connection_info(&etcd, user));
    let user = json!({ "user": caddy["user"], "password": caddy["password"] });
    project.add_target("caddy", connection_info(&caddy, user));
    for format in ["human", "json"] {
        let trace = |arguments: &str| {
            let run = project.devgate(&format!("{arguments} --log-level trace --format {format}"));
            // The Basic encoding of the password, which would reveal the canary as well.
            assert!(
                !run.stderr.contains("Basic ") && !run.stderr.contains("bearer "),
                "{run}"
            );
            run
        };
        trace("verify -t all").succeeded();
        trace("facts -t all").succeeded();
        trace("session set -t etcd /v3/kv/put {}").failed();
        trace("session get -t caddy /config/nowhere/x").failed();
    }
}
