//! The `devgate` of a task on a proxy, in Perl and in Python: it asks, prints and exits as the real one does.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The folder of the scripts.
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/engine/src/hosts/shell/relay");

/// Serves a session that has canned answers, and passes every request on.
fn serve(listener: UnixListener) -> Receiver<Value> {
    let (requests, received) = channel();
    thread::spawn(move || {
        for client in listener.incoming() {
            let requests = requests.clone();
            let client = client.expect("a client");
            thread::spawn(move || answer_all(client, &requests));
        }
    });
    received
}

fn answer_all(client: UnixStream, requests: &Sender<Value>) {
    let mut writer = client.try_clone().expect("a second handle");
    for line in BufReader::new(client).lines() {
        let Ok(line) = line else { return };
        let request: Value = serde_json::from_str(&line).expect("a request is JSON");
        let asked = |word: &str| request.to_string().contains(word);
        let mut answer = match &request {
            _ if asked("cut") => return,
            _ if asked("refused") => json!({"_error": {
                "kind": "devgate/device-error", "msg": "r1 refuses `x`:\n% \"Invalid\" \\ \u{e9}",
                "details": {"a": ["}", {"b": "\n"}]},
            }}),
            request if request.get("exec").is_some() => {
                json!({"output": "a \"b\" \\ \t\u{1}\u{7f} \u{e9} \u{1f600}\nlast"})
            }
            request if request.get("get").is_some() => json!({"data": {
                "z": [1, -2.5, 1e300, 1234567890123_u64, [], {}, {"a": null, "b": [true, false]}],
                "a \"b\"": "\u{e9}\n\t\u{1}/",
            }}),
            request if request.get("set").is_some() => json!({"text": "<ok/>"}),
            _ => json!({"done": true}),
        };
        answer["version"] = json!(1);
        // The test may have ended.
        drop(requests.send(request.clone()));
        if writeln!(writer, "{answer}").is_err() {
            return;
        }
    }
}

/// Returns the exit code, stdout, the first line of stderr and the requests.
fn asked(
    program: &[&str],
    words: &[&str],
    stdin: &str,
    socket: &str,
    requests: &Receiver<Value>,
) -> (Option<i32>, String, String, Vec<Value>) {
    #[expect(clippy::disallowed_methods, reason = "the tests run the programs")]
    let mut command = Command::new(program[0]);
    let mut child = command
        .args(&program[1..])
        .args(words)
        .env("DEVGATE_SESSION", socket)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let mut input = child.stdin.take().expect("it is piped");
    // Most forms do not read it.
    drop(input.write_all(stdin.as_bytes()));
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut sent = Vec::new();
    while let Ok(request) = requests.recv_timeout(Duration::from_millis(20)) {
        sent.push(request);
    }
    let complaint = text(&output.stderr);
    (output.status.code(), text(&output.stdout), complaint, sent)
}

#[test]
fn the_devgate_on_a_proxy_is_as_the_real_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let socket = folder.path().join("session");
    let requests = serve(UnixListener::bind(&socket).expect("a socket"));
    let socket = socket.to_str().expect("a text");
    let cases: &[&[&str]] = &[
        &["exec", "show", "version"],
        &["exec", "show \"x\" \\ \u{1} \u{e9}"],
        &["exec", "--answer", "y", "--answer=", "reload"],
        &["exec", "-"],
        &["exec", "--noop", "show version"],
        &["exec", "refused"],
        &["exec", "cut"],
        &["exec", "show", "--detail"],
        &["exec", "--", "show", "--detail", "--", "x"],
        &["exec", "ping", "-c", "3", "--", "--x"],
        &["exec", "--config", "interface swp1", " description \u{e9}"],
        &["exec", "--config", "--save", "a"],
        &["exec", "--config", "-"],
        &["exec", "--config", "--noop", "--save", "-"],
        &["get", "/servers?x=1"],
        &["get", "refused"],
        &["set", "/zones", r#"{"name": "a.", "ttl": [1, 2.5, null]}"#],
        &["set", "/zones", "{\"a\":\n [1,\n 2]}", "--method", "PATCH"],
        &["set", "/zones", "--method=DELETE"],
        &["set", "-"],
        &["set", "/zones", "-"],
        &["set", "/zones", "\"quoted\""],
        &["set", "/zones", "01"],
        &["set", "/zones", "-7"],
        &["set", "/zones", "NaN"],
        &["set", "/zones", "[1,]"],
        &["set", "/zones", "--noop", "--method", "PUT", r#"{"a":1}"#],
    ];
    let stdin = "show a\r\n\nshow \u{e9}\n\n";
    let real = [env!("CARGO_BIN_EXE_devgate")];
    let (perl, python) = (
        format!("{SCRIPTS}/devgate.pl"),
        format!("{SCRIPTS}/devgate.py"),
    );
    for case in cases {
        let words = [&["session"], *case].concat();
        let ask = |program: &[&str]| asked(program, &words, stdin, socket, &requests);
        let expected = ask(&real);
        for program in [["perl", perl.as_str()], ["python3", python.as_str()]] {
            assert_eq!(ask(&program), expected, "{program:?} {case:?}");
        }
    }
    // Forms that only the real one knows fail, or go to a real one.
    for program in [["perl", perl.as_str()], ["python3", python.as_str()]] {
        let other = folder.path().join("devgate");
        for words in [
            &["facts", "-t", "r1"][..],
            &["session", "exec", "-t", "r1", "x"],
        ] {
            drop(fs::remove_file(&other));
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            let through = ["env", &format!("PATH={path}"), program[0], program[1]];
            let (code, _, complaint, sent) = asked(&through, words, "", socket, &requests);
            assert_eq!((code, sent), (Some(1), Vec::new()), "{complaint}");
            assert!(complaint.contains("is not known here"), "{complaint}");
            fs::write(&other, "#!/bin/sh\necho \"other $*\"\n").expect("a file");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            fs::set_permissions(&other, mode).expect("it is ours");
            let (code, output, _, _) = asked(&through, words, "", socket, &requests);
            assert_eq!(code, Some(0));
            assert_eq!(output, format!("other {}\n", words.join(" ")));
        }
    }
    let ended = folder.path().join("none");
    let ended = ended.to_str().expect("a text");
    for program in [["perl", perl.as_str()], ["python3", python.as_str()]] {
        let (code, _, complaint, _) =
            asked(&program, &["session", "exec", "x"], "", ended, &requests);
        assert_eq!(code, Some(1));
        assert!(complaint.contains("it ends with its task"), "{complaint}");
    }
}

#[test]
fn the_devgate_on_a_proxy_explains_itself() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let socket = folder.path().join("session");
    let requests = serve(UnixListener::bind(&socket).expect("a socket"));
    let socket = socket.to_str().expect("a text");
    let (perl, python) = (
        format!("{SCRIPTS}/devgate.pl"),
        format!("{SCRIPTS}/devgate.py"),
    );
    for words in [
        &["--help"][..],
        &["session", "-h"],
        &["session", "exec", "--help"],
        &["--version"],
    ] {
        let said = [["perl", &perl], ["python3", &python]]
            .map(|program| asked(&program, words, "", socket, &requests));
        assert_eq!(said[0], said[1], "{words:?}");
        let (code, text, complaint, sent) = &said[0];
        assert_eq!((*code, complaint.as_str()), (Some(0), ""), "{words:?}");
        // The gateway puts its version there.
        assert!(text.starts_with("devgate @VERSION@"), "{text}");
        assert_eq!(text.contains("session set"), words != ["--version"]);
        assert_eq!(*sent, Vec::<Value>::new());
    }
}
