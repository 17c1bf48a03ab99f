//! Programs of modules as transports and resource types: the example, asked one by one and line by line, and
//! programs that break their contract in every way.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::http::{Answer, Server};
use crate::support::project::Project;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/panel");

const PASSWORD: &str = "panel-canary-password";

/// The example in a project of its own.
struct Panel {
    project: Project,
    file: PathBuf,
}

impl Panel {
    /// Its programs stay, or are asked in a process each time.
    fn new(stays: bool) -> Self {
        let mut project = Project::new();
        copy(
            &Path::new(EXAMPLE).join("modules"),
            &project.path().join("modules"),
        );
        if !stays {
            let library = project.path().join("modules/panel/lib/panel.py");
            let text = fs::read_to_string(&library).expect("it was copied");
            let text = text.replace("PERSISTENT = True", "PERSISTENT = False");
            fs::write(&library, text).expect("it is ours");
        }
        let data = json!({
            "password": PASSWORD, "version": "1.2", "broken": ["c9"],
            "ports": {"a1": {"label": "CORE", "to": "b7", "speed": 1000, "serial": 1001}},
        });
        let file = project.write("panel.json", &data.to_string());
        let info = json!({ "remote-transport": "panel", "file": file, "password": PASSWORD });
        project.add_target("panel1", info);
        Self { project, file }
    }

    fn data(&self) -> Value {
        let text = fs::read_to_string(&self.file).expect("the panel is there");
        serde_json::from_str(&text).expect("it is JSON")
    }

    fn change(&self, change: impl FnOnce(&mut Value)) {
        let mut data = self.data();
        change(&mut data);
        fs::write(&self.file, data.to_string()).expect("it is ours");
    }

    /// What becomes of each resource of a manifest, by its title, and the summary.
    fn apply(&mut self, resources: &Value, options: &str) -> (Value, Value) {
        let manifest = self.project.manifest(json!({ "panel_port": resources }));
        let run = format!("device -t panel1 --apply {manifest} --format json {options}");
        let report = self.project.devgate(&run).item()["value"].clone();
        (report["resources"].clone(), report["summary"].clone())
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("it is a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "__pycache__" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).expect("a file can be copied");
        }
    }
}

/// A project whose targets `t` and `hasty` are of the family `bad`, with these programs: `transport`, `types/NAME`.
fn project(programs: &[(&str, &str)]) -> Project {
    let mut project = Project::new();
    for (name, text) in programs {
        program(&mut project, name, text);
    }
    let mut info = json!({ "remote-transport": "bad", "password": PASSWORD, "output-limit": 2000 });
    project.add_target("t", info.clone());
    info["task-timeout"] = json!(1);
    project.add_target("hasty", info);
    project
}

fn program(project: &mut Project, name: &str, text: &str) -> PathBuf {
    let path = project.write(&format!("modules/m/devices/bad/{name}"), text);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    path
}

const CONNECTION_INFO: &str =
    r#""connection_info": {"password": {"type": "String", "sensitive": true}}"#;

/// A transport that stays or not, and does this when it is asked anything else than what it is.
fn transport(stays: bool, script: &str) -> String {
    format!(
        "#!/bin/sh\ncase $1 in\nschema) echo '{{\"name\": \"bad\", \"desc\": \"x\", \"persistent\": {stays}, \
         {CONNECTION_INFO}}}';;\n*) {script};;\nesac\n"
    )
}

fn is_running(pid: &str) -> bool {
    let words = fs::read(format!("/proc/{}/cmdline", pid.trim()));
    words.is_ok_and(|words| !words.is_empty())
}

#[test]
fn a_program_is_a_transport_like_any_other() {
    for stays in [true, false] {
        let panel = Panel::new(stays);
        let project = &panel.project;
        project
            .devgate("transport list")
            .succeeded()
            .says(&["panel ", "patch panel"]);
        project
            .devgate("transport show panel")
            .succeeded()
            .says(&["password: String[1] (sensitive, required)", "task-timeout"]);
        project
            .devgate("family show panel")
            .succeeded()
            .says(&["protocol: program", "panel_port"]);
        project.devgate("verify -t panel1").succeeded();
        let facts = project.devgate("facts -t panel1 --format json").succeeded();
        let facts = &facts.item()["value"];
        assert_eq!(facts["os"]["release"]["full"], "1.2", "{facts}");
        assert_eq!(facts["panel"]["ports"], 1, "{facts}");
        project
            .devgate("facts -t panel1 --log-level debug")
            .succeeded()
            .says(&["debug: panel1: read "]);
        panel.change(|data| data["password"] = json!("another canary"));
        let refused = project.devgate("verify -t panel1 --format json").failed();
        let error = &refused.item()["value"]["_error"];
        assert_eq!(error["kind"], "panel/refused", "{error}");
        let words = error["msg"].as_str().unwrap_or_default();
        assert!(
            words.ends_with("transport verify: the panel refuses the password"),
            "{words}"
        );
    }
}

#[test]
fn a_program_is_a_resource_type_like_any_other() {
    for stays in [true, false] {
        let mut panel = Panel::new(stays);
        let project = &panel.project;
        project
            .devgate("type list")
            .succeeded()
            .says(&["panel/panel_port"]);
        project
            .devgate("type show panel_port")
            .succeeded()
            .says(&["serial: Optional[Integer] (read_only)"]);
        let shown = project
            .devgate("device -t panel1 --resource panel_port a1 --format json")
            .succeeded();
        assert_eq!(
            shown.item()["value"]["resources"][0]["label"],
            "CORE",
            "{shown}"
        );
        project
            .devgate("device -t panel1 --resource panel_port a8")
            .failed()
            .says(&["there is no panel_port[a8] on panel1"]);

        let wanted = json!({
            "a1": { "to": "b7", "speed": 100 },
            "a2": { "label": "printer", "to": "b9", "key": "cable-canary" },
        });
        let before = panel.data();
        let (resources, summary) = panel.apply(&wanted, "--noop");
        assert_eq!(
            (&resources[1]["noop"], &summary["failed"]),
            (&json!(true), &json!(0)),
            "{resources}"
        );
        assert_eq!(panel.data(), before);

        let (resources, _) = panel.apply(&wanted, "");
        let changed: Vec<_> = [0, 1].map(|at| resources[at]["changed"].clone()).into();
        assert_eq!(changed, [json!(false), json!(true)], "{resources}");
        assert_eq!(panel.data()["ports"]["a2"]["label"], "PRINTER");
        assert_eq!(panel.data()["ports"]["a2"]["key"], "cable-canary");

        let (_, summary) = panel.apply(&wanted, "");
        assert_eq!(summary["changed"], 0, "{summary}");

        // Drift: one value that differs is mended, one that the provider is content with is left.
        panel.change(|data| {
            data["ports"]["a2"]["to"] = json!("z1");
            data["ports"]["a1"]["speed"] = json!(10_000);
        });
        let (resources, summary) = panel.apply(&wanted, "");
        assert_eq!(summary["changed"], 1, "{resources}");
        assert_eq!(panel.data()["ports"]["a2"]["to"], "b9");

        panel.change(|data| data["ports"]["a1"]["speed"] = json!(10));
        let (resources, _) = panel.apply(&wanted, "");
        assert!(
            resources[0]
                .to_string()
                .contains("it does 10 Mbit/s, expected 100 or more"),
            "{resources}"
        );

        let (resources, _) = panel.apply(&json!({ "a2": { "ensure": "absent" } }), "");
        assert_eq!(resources[0]["changed"], true, "{resources}");
        assert_eq!(panel.data()["ports"].get("a2"), None);
    }
}

#[test]
fn a_resource_that_a_program_cannot_change_stops_no_other() {
    for stays in [true, false] {
        let mut panel = Panel::new(stays);
        let wanted = json!({ "c9": { "to": "b1" }, "d1": { "to": "b2" } });
        let (resources, summary) = panel.apply(&wanted, "");
        assert_eq!(
            (&summary["failed"], &summary["changed"]),
            (&json!(1), &json!(1)),
            "{resources}"
        );
        assert!(
            resources[0].to_string().contains("port c9 is broken"),
            "{resources}"
        );
        assert_eq!(panel.data()["ports"]["d1"]["to"], "b2");
    }
}

#[test]
fn the_example_keeps_to_the_contract_of_pxp_modules_too() {
    let panel = Panel::new(false);
    for name in ["transport", "types/panel_port"] {
        let path = panel
            .project
            .path()
            .join("modules/panel/devices/panel")
            .join(name);
        let path = path.to_str().expect("it is text");
        for words in ["", "metadata"] {
            let run = panel.project.start_alone(&[path, words]).succeeded();
            assert_eq!(run.stderr, "", "nothing may be on stderr");
            let metadata = run.json();
            assert!(metadata["description"].is_string(), "{metadata}");
            let actions = metadata["actions"].as_array().expect("a list");
            assert!(
                actions.iter().any(|action| action["name"] == "schema"),
                "{metadata}"
            );
            for action in actions {
                for key in ["input", "results"] {
                    assert!(action[key].is_object(), "{action}");
                }
            }
        }
    }
}

#[test]
fn a_program_that_breaks_its_contract_is_told_by_file_action_and_what_was_expected() {
    let once = [
        (
            "true",
            "expected one JSON object on stdout, it wrote nothing",
        ),
        (
            "echo 'hello canary'",
            "expected one JSON object on stdout: expected value at line 1",
        ),
        ("echo '[]'", "it wrote other JSON"),
        (
            "echo \"it is $(cat) down\" >&2; exit 3",
            "down (it ended with exit code 3)",
        ),
        (
            "exit 3",
            "it ended with exit code 3, without a word on stderr",
        ),
        ("kill -9 $$", "it was ended by signal 9"),
        (
            "sleep 600",
            "it gave no results within 1 s (`task-timeout`)",
        ),
        ("yes", "it gave no results within 1 s"),
        (
            "head -c 5000 /dev/zero",
            "it wrote more than 2000 bytes (`output-limit`)",
        ),
        (
            "echo '{\"_error\": {\"msg\": \"the pipe is cut\"}}'",
            "the pipe is cut",
        ),
        (
            "echo '{\"events\": [{\"level\": \"loud\", \"message\": \"x\"}]}'",
            "an event is an object of `level`",
        ),
        ("echo '{\"facts\": []}'", "expected `facts` as an object"),
    ];
    let staying = [
        (
            "read l; exit 7",
            "it ended with exit code 7 instead of answering",
        ),
        ("read l; echo \"no $l\" >&2; exit 7", "no {"),
        (
            "read l; kill -9 $$",
            "it was ended by SIGKILL instead of answering",
        ),
        ("read l; echo hello; sleep 600", "expected a line of JSON"),
        (
            "read l; echo '{\"id\": 9, \"results\": {}}'; sleep 600",
            "the request is 1, the line has another",
        ),
        (
            "read l; sleep 600",
            "it gave no results within 1 s (`task-timeout`)",
        ),
        ("yes", "expected a line of JSON"),
        (
            "read l; yes '{\"id\": 1, \"event\": {\"level\": \"debug\", \"message\": \"x\"}}'",
            "within 1 s",
        ),
        (
            "read l; head -c 5000 /dev/zero; sleep 600",
            "a line of more than 2000 bytes (`output-limit`)",
        ),
        (
            "read l; echo '{\"id\": 1, \"error\": {\"msg\": \"the pipe is cut\"}}'; sleep 600",
            "the pipe is cut",
        ),
        (
            "read l; echo '{\"id\": 1, \"results\": {}}'; read l",
            "expected `facts` as an object",
        ),
    ];
    let all = once
        .map(|case| (false, case))
        .into_iter()
        .chain(staying.map(|case| (true, case)));
    for (stays, (script, told)) in all {
        let script = format!("echo $$ > pid; {script}");
        let mut project = project(&[]);
        let path = program(&mut project, "transport", &transport(stays, &script));
        let target = if told.contains("within") {
            "hasty"
        } else {
            "t"
        };
        let failed = project
            .devgate(&format!("facts -t {target} --format json"))
            .failed();
        let words = failed.item()["value"]["_error"]["msg"].to_string();
        assert!(words.contains(told), "{script}: {words}");
        assert!(
            words.contains(&format!("{} facts: ", path.display())),
            "{script}: {words}"
        );
        let pid = fs::read_to_string(project.path().join("pid")).expect("it was started");
        assert!(!is_running(&pid), "{script} still runs");
    }
}

#[test]
fn a_program_that_does_not_say_what_it_is_stops_only_those_who_ask_for_it() {
    let schema = |definition: &str| format!("#!/bin/sh\necho '{definition}'\n");
    let good = transport(false, "echo '{}'");
    let kind = |name: &str| {
        schema(&format!(
            r#"{{"name": "{name}", "desc": "x", "attributes": {{"name": {{"type": "String", "behaviour": "namevar"}}}}}}"#
        ))
    };
    let family = "name: bad\ndesc: x\nprotocol: rest\n";
    for (programs, told) in [
        (
            vec![("transport", schema("no"))],
            "transport schema: expected one JSON object on stdout",
        ),
        (
            vec![(
                "transport",
                schema(r#"{"name": "good", "desc": "x", "connection_info": {}}"#),
            )],
            "it calls itself `good`: expected `bad`",
        ),
        (
            vec![("transport", schema(r#"{"name": "bad"}"#))],
            "requires `:connection_info`",
        ),
        (
            vec![(
                "transport",
                schema(
                    r#"{"name": "bad", "desc": "x", "persistent": "yes", "connection_info": {}}"#,
                ),
            )],
            "`persistent` as true or false",
        ),
        (
            vec![("transport", "echo '{}'\n".to_owned())],
            "a script begins with `#!`",
        ),
        (
            vec![("transport", "#!/no/such/interpreter\n".to_owned())],
            "is the interpreter in its first line (`#!`) installed?",
        ),
        (
            vec![
                ("transport", good.clone()),
                ("types/a_port", kind("b_port")),
            ],
            "it calls itself `b_port`: expected `a_port`",
        ),
        (
            vec![
                ("transport", good.clone()),
                ("family.yaml", family.to_owned()),
            ],
            "stands beside a family.yaml",
        ),
        (
            vec![
                ("family.yaml", family.to_owned()),
                (
                    "types/a_port",
                    schema(r#"{"name": "a_port", "attributes": {"name": {"type": "Strang"}}}"#),
                ),
            ],
            "a_port schema: at attributes.name",
        ),
    ] {
        let programs: Vec<_> = programs
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let project = project(&programs);
        project
            .devgate("verify -t t")
            .failed()
            .says(&["family `bad` cannot be used: ", told]);
        project
            .devgate("family list")
            .succeeded()
            .says(&["family of `bad`: ", told, "frr "]);
        project.devgate("transport show frr").succeeded();
    }
    let mut project = project(&[("transport", good.as_str())]);
    project.write("modules/m/devices/bad/types/a_port", &kind("a_port"));
    project
        .devgate("verify -t t")
        .failed()
        .says(&["types/a_port is not executable"]);
}

#[test]
fn rows_that_do_not_keep_to_their_type_are_told() {
    let script = r#"#!/bin/sh
case $1 in
schema) echo '{"name": "a_port", "desc": "x", "persistent": STAYS, "features": ["remote_resource", "canonicalize"],
    "attributes": {"name": {"type": "String", "behaviour": "namevar"}, "key": {"type": "Optional[String]", "sensitive": true}}}';;
serve) while read -r line; do id=$((id + 1)); printf '{"id": %d, "results": %s}\n' $id 'RESULTS'; done;;
*) echo 'RESULTS';;
esac
"#;
    let kind = |stays: bool, results: &str| {
        let script = script.replace("STAYS", &stays.to_string());
        script.replace("RESULTS", results)
    };
    for stays in [false, true] {
        for (results, told) in [
            (
                r#"{"resources": [{"name": 5, "key": "canary"}]}"#,
                "name: 5 (expects a String value, got Integer)",
            ),
            (
                r#"{"resources": [{"name": "a", "key": ["canary"]}]}"#,
                "key",
            ),
            (
                r#"{"resources": [{"name": "a", "colour": "red"}]}"#,
                "colour",
            ),
            (
                r#"{"resources": ["a"]}"#,
                "a_port get: expected `resources` as a list of objects",
            ),
            (
                "{}",
                "a_port get: expected `resources` as a list of objects",
            ),
        ] {
            let transport = transport(false, "echo '{}'");
            let project = project(&[
                ("transport", &transport),
                ("types/a_port", &kind(stays, results)),
            ]);
            project
                .devgate("device -t t --resource a_port")
                .failed()
                .says(&[told]);
        }
        let transport = transport(false, "echo '{}'");
        let kind = kind(stays, r#"{"resources": []}"#);
        let mut project = project(&[("transport", &transport), ("types/a_port", &kind)]);
        let manifest = project.manifest(json!({ "a_port": { "x": {} } }));
        project
            .devgate(&format!("device -t t --apply {manifest}"))
            .failed()
            .says(&[
                "a_port canonicalize: expected as many `resources` as it was given, 1, it gave 0",
            ]);
    }
}

#[test]
fn programs_that_are_one_file_share_one_process_which_ends_with_the_run() {
    let script = r#"#!/usr/bin/env python3
import json, os, sys
if sys.argv[1] == "schema":
    type_name = json.load(sys.stdin)["input"].get("type")
    attributes = {"name": {"type": "String", "behaviour": "namevar"}}
    both = {"desc": "x", "persistent": True}
    if type_name:
        print(json.dumps({**both, "name": type_name, "features": ["remote_resource"], "attributes": attributes}))
    else:
        info = {"password": {"type": "String", "sensitive": True}}
        print(json.dumps({**both, "name": "bad", "connection_info": info}))
    sys.exit()
with open("starts", "a") as starts:
    print(os.getpid(), file=starts)
for line in sys.stdin:
    request = json.loads(line)
    name = request["input"].get("type", "none") + " on " + request["input"]["_target"]["name"]
    results = {"resources": [{"name": name}]} if request["action"] == "get" else {"facts": {}}
    print(json.dumps({"id": request["id"], "results": results}), flush=True)
with open("starts", "a") as starts:
    print("ended", file=starts)
"#;
    let mut project = project(&[("transport", script)]);
    let folder = project.path().join("modules/m/devices/bad");
    fs::create_dir_all(folder.join("types")).expect("a folder can be made");
    for name in ["a_port", "b_port"] {
        symlink("../transport", folder.join("types").join(name)).expect("a link can be made");
    }
    let manifest = json!({ "a_port": { "a_port on t": {} }, "b_port": { "b_port on t": {} } });
    let manifest = project.manifest(manifest);
    project
        .devgate(&format!("device -t t --apply {manifest}"))
        .succeeded()
        .says(&["2 unchanged"]);
    let starts = fs::read_to_string(project.path().join("starts")).expect("it was started");
    let [pid, "ended"] = *starts.lines().collect::<Vec<_>>() else {
        panic!("expected one start and its end: {starts}");
    };
    assert!(!is_running(pid));
}

#[test]
fn a_program_manages_resources_beside_what_is_declared_over_a_protocol() {
    let server = Server::start(|_| Some(Answer::json(200, &json!({ "alive": true }))));
    let kind = "#!/usr/bin/env python3
import json, sys
given = json.load(sys.stdin)['input']
if sys.argv[1] == 'schema':
    attributes = {'name': {'type': 'String', 'behaviour': 'namevar'}}
    print(json.dumps({'name': 'a_port', 'desc': 'x', 'features': ['remote_resource'], 'attributes': attributes}))
else:
    target = given['_target']
    print(json.dumps({'resources': [{'name': target['host'] + ' ' + str(len(target['password']))}]}))
";
    let mut project = Project::new();
    program(
        &mut project,
        "family.yaml",
        "name: bad\ndesc: x\nprotocol: rest\n",
    );
    program(&mut project, "types/a_port", kind);
    let info = json!({
        "remote-transport": "bad", "host": "127.0.0.1", "port": server.port, "protocol": "http",
        "user": "me", "password": PASSWORD,
    });
    project.add_target("t", info);
    project.devgate("verify -t t").succeeded();
    assert!(!server.asked().is_empty(), "the protocol was spoken");
    let shown = project
        .devgate("device -t t --resource a_port --format json")
        .succeeded();
    let name = format!("127.0.0.1 {}", PASSWORD.len());
    assert_eq!(
        shown.item()["value"]["resources"],
        json!([{ "name": name }]),
        "{shown}"
    );
    let got = project.devgate("session get -t t /").succeeded();
    assert!(got.stdout.contains("alive"), "{got}");
}

#[test]
fn who_stops_a_run_ends_its_programs() {
    let script = "read l; echo $$ > pid; echo '{\"id\": 1, \"event\": {\"level\": \"notice\", \"message\": \"begun\"}}'; \
                  sleep 600 & wait";
    let mut project = project(&[("transport", &transport(true, script))]);
    let info = json!({ "remote-transport": "bad", "password": PASSWORD });
    project.add_target("slow", info);
    let mut run = project.start("verify -t slow");
    run.wait_for("begun");
    run.signal(Signal::SIGINT);
    run.wait_for("a second Ctrl-C kills");
    run.signal(Signal::SIGINT);
    let run = run.finish();
    assert_eq!(run.code(), Some(130), "{run}");
    let pid = fs::read_to_string(project.path().join("pid")).expect("it was started");
    assert!(!is_running(&pid), "it still runs");
}
