//! Malicious servers, and servers that echo their input: the effect on the operator's terminal, on memory
//! and on logs.

use serde_json::{Value, json};

use crate::support::http::{HttpRequest, HttpResponse, Server};
use crate::support::project::Project;
use crate::support::run::Run;

const TEXT: &str = "text/plain; charset=utf-8";

/// Clears the screen, sets a title and queries the terminal; also C1, bidirectional controls and carriage
/// return.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{1b}[c\u{202e}txt\u{2066} a\rb\u{7f}";

const SHOWN: &str = r"\u001b[2J\u001b]0;owned\u0007\u009b31m\u001b[c\u202etxt\u2066 a\u000db\u007f";

/// Creates a project with a device `device` of the transport `rest` with a password, simulated by `answer`.
fn rest(
    settings: Value,
    answer: impl FnMut(&HttpRequest) -> Option<HttpResponse> + Send + 'static,
) -> Project {
    let server = Server::start(answer);
    let mut info = json!({
        "remote-transport": "rest", "protocol": "http", "host": "127.0.0.1", "port": server.port,
        "user": "operator", "password": "canary p&ss?>",
    });
    for (key, value) in settings.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    let mut project = Project::new();
    project.add_target("device", info);
    project
}

/// Asserts that a terminal would only act on devgate's own colours.
fn is_harmless(run: &Run) {
    for text in [&run.stdout, &run.stderr] {
        let without = [
            "\u{1b}[31m",
            "\u{1b}[32m",
            "\u{1b}[33m",
            "\u{1b}[36m",
            "\u{1b}[0m",
        ]
        .iter()
        .fold(text.clone(), |text, colour| text.replace(colour, ""));
        let found = without
            .chars()
            .find(|c| (c.is_control() && !"\t\n".contains(*c)) || "\u{202e}\u{2066}".contains(*c));
        assert_eq!(found, None, "{text:?}");
    }
}

#[test]
fn what_a_terminal_would_act_upon_is_shown_in_results_and_errors() {
    let project = rest(json!({}), |request| {
        Some(match request.path.as_str() {
            "/text" => HttpResponse::new(200, TEXT, format!("one\ttwo\r\n{EVIL}\n")),
            "/json" => HttpResponse::json(200, &json!({ "a": EVIL })),
            _ => HttpResponse::new(500, TEXT, EVIL),
        })
    });
    for colour in ["never", "always"] {
        let get = |path: &str| {
            let run = project.devgate(&format!("session get -t device {path} --color {colour}"));
            is_harmless(&run);
            run
        };
        assert_eq!(
            get("/text").succeeded().stdout,
            format!("one\ttwo\n{SHOWN}\n")
        );
        let run = get("/json").succeeded();
        let json: Value = serde_json::from_str(&run.stdout).expect("it is still JSON");
        assert_eq!(json["a"], EVIL);
        let run = get("/error").failed();
        assert!(run.stderr.contains(r"\u001b[2J"), "{}", run.stderr);
        let run = project.devgate(&format!("verify -t device --color {colour}"));
        is_harmless(&run);
        assert!(run.failed().stdout.contains(r"\u001b[2J"));
    }
    let run = project.devgate("session get -t device /text --format json");
    is_harmless(&run);
    assert_eq!(run.json()["text"], format!("one\ttwo\r\n{EVIL}\n"));
}

#[test]
fn what_a_task_writes_is_shown_and_its_log_is_harmless() {
    let mut project = rest(json!({}), |_| None);
    project.write("modules/evil/tasks/init.json", r#"{"remote": true}"#);
    project.write(
        "modules/evil/tasks/init.sh",
        "#!/bin/sh\nprintf 'a\\033[2Jb\\302\\2331m'\nprintf 'c\\033]0;x\\007\\n' >&2\nexit 1\n",
    );
    for format in ["human", "json", "jsonl"] {
        let run = project.devgate(&format!(
            "task run evil -t device --stream --format {format}"
        ));
        is_harmless(&run);
        let run = run.failed();
        assert!(run.stdout.contains(r"\u001b[2Jb\u009b1m"), "{}", run.stdout);
    }
}

#[test]
fn an_answer_that_would_take_gigabytes_is_not_read() {
    // Each body has 12 MB; as parsed values, it would take hundreds.
    let bodies = [
        format!("[{}0]", "0,".repeat(6_000_000)),
        format!("<x>{}</x>", "<a/>".repeat(3_000_000)),
    ];
    let project = rest(json!({}), move |request| {
        let body = &bodies[usize::from(request.path == "/xml")];
        Some(HttpResponse::new(200, "application/json", body.clone()))
    });
    for path in ["/json", "/xml"] {
        project
            .devgate(&format!("session get -t device {path}"))
            .failed()
            .shows(&["sent more than 2000000 values", "`answer_limit`"]);
    }
}

#[test]
fn what_a_server_echoes_of_the_password_is_masked_in_keys_and_in_other_spellings() {
    let project = rest(json!({}), |request| {
        let password = "canary p&ss?>";
        let basic = request.header("authorization").to_owned();
        let body = json!({
            password: 1,
            "basic": basic,
            "url": "https://x/?p=canary%20p%26ss%3F%3E",
            "form": "p=canary+p%26ss%3F%3E",
            "shell": r"login canary\ p\&ss\?\>",
            "html": "<p>canary p&amp;ss?&gt;</p>",
            "user": "operator",
        });
        let status = if request.path == "/error" { 500 } else { 200 };
        Some(HttpResponse::json(status, &body))
    });
    for path in ["/x", "/error"] {
        for format in ["human", "json"] {
            let run = project.devgate(&format!("session get -t device {path} --format {format}"));
            for echo in ["p%26ss", "p&amp;ss", "p\\\\&ss", "Y2FuYXJ5", "FuYXJ5IHAmc"] {
                assert!(
                    !run.stdout.contains(echo) && !run.stderr.contains(echo),
                    "{run}"
                );
            }
            assert!(path == "/error" || run.stdout.contains("operator"), "{run}");
        }
    }
}
