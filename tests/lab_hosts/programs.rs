//! Programs of families, and modules in Ruby, on the proxy of their target.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::external::copy;
use crate::support::http::{HttpResponse, Server};
use crate::support::line::closed_port;
use crate::support::programs::{PASSWORD, program, transport};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/panel/modules");
const RUBY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ruby/modules");

/// A folder in the `/tmp` of a host, which its users may write to. It is removed when this is dropped.
struct Shared(PathBuf);

impl Shared {
    fn new(lab: &Lab, host: &str) -> Self {
        let tmp = lab.host(host)["tmp"].as_str().expect("a path");
        let folder = Path::new(tmp).join("shared");
        drop(fs::remove_dir_all(&folder));
        fs::create_dir(&folder).expect("a folder of the host");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("it is ours");
        Self(folder)
    }

    /// Writes a file that everybody on the host may change, and returns its path there.
    fn write(&self, name: &str, data: &Value) -> String {
        let file = self.0.join(name);
        fs::write(&file, data.to_string()).expect("a file");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("it is ours");
        format!("/tmp/shared/{name}")
    }

    fn read(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.0.join(name)).expect("a file");
        serde_json::from_str(&text).expect("it is JSON")
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn panel() -> Value {
    json!({
        "password": PASSWORD, "version": "1.2", "broken": [],
        "ports": {"a1": {"label": "CORE", "to": "b7", "speed": 1000, "serial": 1001}},
    })
}

#[test]
fn the_programs_of_a_family_run_on_the_proxy_with_all_that_they_need() {
    for stays in [true, false] {
        // Directly, as another user, and without SFTP.
        for (of, options) in [
            ("h1", json!({})),
            ("h1", json!({"run-as": "worker"})),
            ("h4", json!({})),
        ] {
            let mut lab = Lab::new();
            copy(Path::new(EXAMPLE), &lab.project.path().join("modules"));
            if !stays {
                let library = lab.project.path().join("modules/panel/lib/panel.py");
                let text = fs::read_to_string(&library).expect("it was copied");
                let text = text.replace("PERSISTENT = True", "PERSISTENT = False");
                fs::write(&library, text).expect("it is ours");
            }
            let shared = Shared::new(&lab, of);
            let file = shared.write("panel.json", &panel());
            lab.proxy("proxy", of, options);
            let info = json!({
                "remote-transport": "panel", "run-on": "proxy", "file": file, "password": PASSWORD,
            });
            lab.project.add_target("p1", info);
            let uploads = lab.uploads(of);
            lab.project.devgate("verify -t p1").succeeded();
            let facts = lab.project.devgate("facts -t p1 --format json").succeeded();
            assert_eq!(facts.item()["value"]["panel"]["ports"], 1, "{facts}");
            let read = lab.project.devgate("device -t p1 --resource panel_port");
            read.succeeded().shows(&["'CORE'"]);
            let port = json!({"a2": {"label": "PRINTER", "to": "b9", "ensure": "present"}});
            let manifest = lab.project.manifest(json!({"panel_port": port}));
            let apply = format!("device -t p1 --apply {manifest} --format json");
            let run = lab.project.devgate(&apply).succeeded();
            assert_eq!(run.item()["value"]["summary"]["changed"], 1, "{run}");
            assert_eq!(shared.read("panel.json")["ports"]["a2"]["label"], "PRINTER");
            let run = lab.project.devgate(&apply).succeeded();
            assert_eq!(run.item()["value"]["summary"]["unchanged"], 1, "{run}");
            assert!(lab.uploads(of) - uploads <= 5, "one for each run");
            lab.is_clean(of, "devices/panel/");
        }
    }
}

#[test]
fn a_secret_is_in_no_command_line_and_in_no_environment_on_a_proxy() {
    // The brackets keep the command line of `grep` from matching.
    let pattern = PASSWORD.replacen('-', "[-]", 1);
    let looks = format!(
        "grep -q canary || exit 7; \
         if cat /proc/[0-9]*/cmdline /proc/$$/environ 2>/dev/null | grep -q -a '{pattern}'; \
         then echo '{{\"_error\": \"it shows\"}}'; else echo '{{}}'; fi"
    );
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    program(&mut lab.project, "transport", &transport(false, &looks));
    let info = json!({"remote-transport": "bad", "run-on": "proxy", "password": PASSWORD});
    lab.project.add_target("t", info);
    lab.project.devgate("verify -t t").succeeded();
    lab.is_clean("h1", "devices/bad/");
}

#[test]
fn a_program_that_does_not_end_is_ended_on_the_proxy_with_all_that_it_has_started() {
    for stays in [true, false] {
        let mut lab = Lab::new();
        lab.proxy("proxy", "h1", json!({}));
        let script = "trap '' TERM; sleep 77021 & sleep 77021; sleep 77021";
        program(&mut lab.project, "transport", &transport(stays, script));
        let mut info = json!({"remote-transport": "bad", "run-on": "proxy", "password": PASSWORD});
        lab.project.add_target("t", info.clone());
        info["task-timeout"] = json!(1);
        lab.project.add_target("hasty", info);
        let run = lab.project.devgate("verify -t hasty").failed();
        run.shows(&["no results within 1 s", "task-timeout"]);
        lab.is_clean("h1", "77021");
        let mut run = lab.project.start("verify -t t --format json");
        let started = Instant::now();
        while !is_running("77021") {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing runs");
            pause(Duration::from_millis(50));
        }
        run.signal(Signal::SIGINT);
        run.wait_for("interrupted");
        run.signal(Signal::SIGINT);
        let run = run.finish();
        assert_eq!(run.code(), Some(130), "{run}");
        lab.is_clean("h1", "77021");
    }
}

#[test]
fn a_program_without_its_interpreter_is_named_with_its_proxy() {
    let mut lab = Lab::new();
    // A host has another `/tmp` than this node, where the interpreter is.
    let interpreter = lab.project.path().join("shell");
    symlink("/bin/sh", &interpreter).expect("a link");
    let interpreter = interpreter.display().to_string();
    let text = transport(false, "echo '{}'").replace("#!/bin/sh", &format!("#!{interpreter}"));
    program(&mut lab.project, "transport", &text);
    lab.proxy("proxy", "h1", json!({}));
    let info = json!({"remote-transport": "bad", "run-on": "proxy", "password": PASSWORD});
    lab.project.add_target("t", info);
    let run = lab.project.devgate("verify -t t").failed();
    let lacks = format!("the proxy proxy has no `{interpreter}`");
    run.shows(&[&lacks, "--direct"]);
    lab.project.devgate("verify -t t --direct").succeeded();
    lab.is_clean("h1", "devices/bad/");
}

#[test]
fn another_proxy_takes_over_only_before_a_program_has_begun() {
    let mut lab = Lab::new();
    let (_held, closed) = closed_port();
    lab.proxy("refuses", "h1", json!({"port": closed}));
    lab.proxy("works", "h1", json!({}));
    program(
        &mut lab.project,
        "transport",
        &transport(false, "echo '{}'"),
    );
    let info = json!({
        "remote-transport": "bad", "run-on": ["refuses", "works"], "password": PASSWORD,
    });
    lab.project.add_target("t", info.clone());
    lab.project.devgate("verify -t t").succeeded();
    // The program cuts the connection that it is asked over.
    for stays in [true, false] {
        let cuts = "read -r request; kill -9 $PPID; sleep 2";
        program(&mut lab.project, "transport", &transport(stays, cuts));
        let run = lab.project.devgate("verify -t t").failed();
        run.shows(&["the proxy works closed the connection during"]);
    }
    lab.is_clean("h1", "devices/bad/");
}

#[test]
fn the_protocol_and_the_programs_of_one_family_use_the_same_proxy() {
    let server = Server::start(|_| Some(HttpResponse::json(200, &json!({ "alive": true }))));
    let kind = "#!/bin/sh\ncase $1 in\n\
        schema) echo '{\"name\": \"a_port\", \"desc\": \"x\", \"features\": [\"remote_resource\"], \"attributes\": \
        {\"name\": {\"type\": \"String\", \"behaviour\": \"namevar\"}}}';;\n\
        *) cat >/dev/null; echo \"{\\\"resources\\\": [{\\\"name\\\": \\\"on $(hostname)\\\"}]}\";;\nesac\n";
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    let family = "name: bad\ndesc: x\nprotocol: rest\n";
    program(&mut lab.project, "family.yaml", family);
    program(&mut lab.project, "types/a_port", kind);
    let info = json!({
        "remote-transport": "bad", "run-on": "proxy", "host": "127.0.0.1", "port": server.port,
        "protocol": "http", "user": "me", "password": PASSWORD,
    });
    lab.project.add_target("t", info);
    let run = lab
        .project
        .devgate("device -t t --resource a_port --format json");
    let run = run.succeeded();
    assert_eq!(
        run.item()["value"]["resources"],
        json!([{"name": "on h1"}]),
        "{run}"
    );
    lab.project.devgate("verify -t t").succeeded();
    assert!(!server.requests().is_empty(), "the protocol was spoken");
    lab.is_clean("h1", "devices/bad/");
}

#[test]
fn modules_in_ruby_run_on_the_proxy_of_their_target() {
    let mut lab = Lab::new();
    let shared = Shared::new(&lab, "h1");
    let data = json!({
        "password": PASSWORD, "books": {"Emma": {"pages": 474}}, "slots": {}, "awkward": {}, "done": {},
    });
    let file = shared.write("shelf.json", &data);
    lab.proxy("proxy", "h1", json!({}));
    lab.proxy(
        "other",
        "h1",
        json!({"interpreters": {".rb": "/nowhere/ruby"}}),
    );
    for (name, run_on) in [("s1", "proxy"), ("s2", "other")] {
        let info = json!({
            "remote-transport": "shelf", "run-on": run_on, "file": file, "password": PASSWORD,
        });
        lab.project.add_target(name, info);
    }
    let devgate = |words: &str| lab.project.devgate(&format!("{words} --modulepath {RUBY}"));
    devgate("verify -t s1").succeeded();
    let facts = devgate("facts -t s1 --format json").succeeded();
    assert_eq!(facts.item()["value"]["books"], 1, "{facts}");
    let run = devgate("verify -t s2").failed();
    run.shows(&[
        "the proxy other has no `/nowhere/ruby`",
        "puppet-agent",
        "--direct",
    ]);
    let manifest = "shelf_book { 'Emma': pages => 475 }\n";
    let manifest = lab.project.write("m.pp", manifest).display().to_string();
    let devgate = |words: &str| lab.project.devgate(&format!("{words} --modulepath {RUBY}"));
    devgate(&format!("device -t s1 --apply {manifest}")).succeeded();
    assert_eq!(shared.read("shelf.json")["books"]["Emma"]["pages"], 475);
    lab.is_clean("h1", "host.rb shelf");
}
