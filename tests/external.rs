//! Module programs as transports and resource types: the example, run once per call and as a persistent
//! process.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::http::{HttpResponse, Server};
use crate::support::programs::{PASSWORD, is_running, program, project};
use crate::support::project::Project;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/panel");

/// The example in its own project.
struct Panel {
    project: Project,
    file: PathBuf,
}

impl Panel {
    /// Creates the example with persistent programs, or with a process for each call.
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

    /// Applies a manifest, and returns the result of each resource by title, and the summary.
    fn apply(&mut self, resources: &Value, options: &str) -> (Value, Value) {
        let manifest = self.project.manifest(json!({ "panel_port": resources }));
        let run = format!("device -t panel1 --apply {manifest} --format json {options}");
        let report = self.project.devgate(&run).item()["value"].clone();
        (report["resources"].clone(), report["summary"].clone())
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
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

#[test]
fn a_program_is_a_transport_like_any_other() {
    for stays in [true, false] {
        let panel = Panel::new(stays);
        let project = &panel.project;
        project
            .devgate("transport list")
            .succeeded()
            .shows(&["panel ", "patch panel"]);
        project
            .devgate("transport show panel")
            .succeeded()
            .shows(&["password: String[1] (sensitive, required)", "task-timeout"]);
        project
            .devgate("family show panel")
            .succeeded()
            .shows(&["protocol: program", "panel_port"]);
        project.devgate("verify -t panel1").succeeded();
        // Each command first asks for the transport's schema.
        project
            .devgate("session exec -t panel1 show version")
            .failed()
            .shows(&["transport `panel` has no command line"]);
        project
            .devgate("session get -t panel1 /")
            .failed()
            .shows(&["transport `panel` has no data"]);
        project.devgate("session run -t panel1 -- true").succeeded();
        project
            .devgate("type list")
            .succeeded()
            .shows(&["panel/panel_port"]);
        let facts = project.devgate("facts -t panel1 --format json").succeeded();
        let facts = &facts.item()["value"];
        assert_eq!(facts["os"]["release"]["full"], "1.2", "{facts}");
        assert_eq!(facts["panel"]["ports"], 1, "{facts}");
        project
            .devgate("facts -t panel1 --log-level debug")
            .succeeded()
            .shows(&["debug: panel1: read "]);
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
            .shows(&["panel/panel_port"]);
        project
            .devgate("type show panel_port")
            .succeeded()
            .shows(&["serial: Optional[Integer] (read_only)"]);
        let document = project
            .devgate("device -t panel1 --resource panel_port a1 --format json")
            .succeeded();
        assert_eq!(
            document.item()["value"]["resources"][0]["label"],
            "CORE",
            "{document}"
        );
        project
            .devgate("device -t panel1 --resource panel_port a8")
            .failed()
            .shows(&["there is no panel_port[a8] on panel1"]);

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

        // Drift: a value that differs is corrected; a value that the provider accepts is left alone.
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
            let run = panel.project.run_program(&[path, words]).succeeded();
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
        .shows(&["2 unchanged"]);
    let starts = fs::read_to_string(project.path().join("starts")).expect("it was started");
    let [pid, "ended"] = *starts.lines().collect::<Vec<_>>() else {
        panic!("expected one start and its end: {starts}");
    };
    assert!(!is_running(pid));
}

#[test]
fn a_program_manages_resources_beside_what_is_declared_over_a_protocol() {
    let server = Server::start(|_| Some(HttpResponse::json(200, &json!({ "alive": true }))));
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
    assert!(!server.requests().is_empty(), "the protocol was spoken");
    let document = project
        .devgate("device -t t --resource a_port --format json")
        .succeeded();
    let name = format!("127.0.0.1 {}", PASSWORD.len());
    assert_eq!(
        document.item()["value"]["resources"],
        json!([{ "name": name }]),
        "{document}"
    );
    let got = project.devgate("session get -t t /").succeeded();
    assert!(got.stdout.contains("alive"), "{got}");
}
