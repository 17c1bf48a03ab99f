//! Modules of others, in shell, Python and Ruby: good ones, and one for every way of being broken. The tables of
//! `tests/pxp/README.md` say what devgate must answer to each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::support::programs::is_running;
use crate::support::project::Project;
use crate::support::run::Run;

/// The folder of the modules.
fn pxp(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/pxp")
        .join(part)
}

/// What devgate must answer, by the name of the module or action: a verdict, and words that it says.
type Answers = BTreeMap<String, (String, Vec<String>)>;

/// The tables under these headings.
fn answers(headings: &[&str]) -> Answers {
    let text = fs::read_to_string(pxp("README.md")).expect("the tables are there");
    let parts = text.split("\n## ").filter(|part| {
        let heading = part.lines().next().unwrap_or_default();
        headings.contains(&heading)
    });
    let rows = parts.flat_map(|part| part.lines().filter(|line| line.starts_with("| `")));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let name = cells[0].trim_matches(['|', ' ', '`']).to_owned();
        let answer = cells
            .last()
            .expect("a row has cells")
            .trim_matches([' ', '|']);
        let words = answer.split('“').skip(1);
        let words = words.map(|words| words.split('”').next().unwrap_or_default().to_owned());
        let verdict = answer.split(':').next().unwrap_or_default();
        (name, (verdict.to_owned(), words.collect()))
    })
    .collect()
}

/// The names of a folder's modules.
fn files(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(pxp(folder))
        .expect("the folder is there")
        .flatten();
    let files = entries.filter(|entry| !entry.path().is_dir());
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.contains('.')).collect()
}

fn run(project: &Project, folder: &str, words: &str) -> Run {
    let (modules, config) = (pxp(folder), pxp("config"));
    project.devgate(&format!(
        "pxp {words} --modules-dir {} --config-dir {} --format json",
        modules.display(),
        config.display()
    ))
}

/// The process that a module has written down.
#[track_caller]
fn noted(project: &Project, name: &str) -> String {
    let pid = fs::read_to_string(project.path().join(format!("tmp/{name}.pid")));
    pid.unwrap_or_else(|error| panic!("{name} was not started: {error}"))
}

/// Ends what a module has left behind, which nobody else does where it has ended by itself.
fn end_what_is_left(project: &Project, name: &str) {
    let process = noted(project, name).trim().parse().expect("it is a number");
    let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
}

#[test]
fn every_broken_module_is_refused_with_its_cause_and_no_good_one_with_it() {
    let project = Project::new();
    let all = project.path().join("all");
    fs::create_dir(&all).expect("a folder can be made");
    for folder in ["modules", "broken"] {
        for name in files(folder) {
            symlink(pxp(folder).join(&name), all.join(&name)).expect("a link can be made");
        }
    }
    let document = project.devgate(&format!(
        "pxp list --modules-dir {} --config-dir {} --format json",
        all.display(),
        pxp("config").display()
    ));
    let document = document.succeeded().json();
    let listed = document["modules"].as_array().expect("modules is a list");
    let answers = answers(&["Metadata", "Programs", "Configuration"]);
    let mut seen = BTreeSet::new();
    for module in listed {
        let name = module["name"].as_str().expect("a module has a name");
        seen.insert(name.to_owned());
        let Some((verdict, words)) = answers.get(name) else {
            assert_eq!(module["available"], true, "{module:#}");
            continue;
        };
        let available = verdict == "available";
        assert_eq!(module["available"], available, "{module:#}");
        let said = if available {
            module["remarks"].to_string()
        } else {
            let message = module["_error"]["msg"].as_str();
            message.expect("an error has a message").to_owned()
        };
        for words in words {
            assert!(said.contains(words), "{name}: expected {words:?}: {said}");
        }
    }
    let expected: BTreeSet<_> = files("modules").union(&files("broken")).cloned().collect();
    assert_eq!(seen, expected);
    // Those whose actions are broken are in other tables.
    let actions = ["outputs", "files"].map(str::to_owned).into();
    let broken: BTreeSet<_> = files("broken").difference(&actions).cloned().collect();
    assert_eq!(answers.into_keys().collect::<BTreeSet<_>>(), broken);
    end_what_is_left(&project, "leaves_a_child");
    assert!(!is_running(&noted(&project, "hangs")), "it was not ended");
}

#[test]
fn a_broken_module_that_is_asked_for_is_told_as_it_is_listed() {
    let project = Project::new();
    for (words, kind, told) in [
        (
            "show warns",
            "devgate/module-not-available",
            "the library is deprecated",
        ),
        (
            "run warns run",
            "devgate/module-not-available",
            "the library is deprecated",
        ),
        (
            "show conf_misfit",
            "devgate/module-not-available",
            "at `/token`",
        ),
        (
            "show wanrs",
            "devgate/unknown-module",
            "did you mean `warns`?",
        ),
        (
            "run conf_none kesy",
            "devgate/unknown-action",
            "did you mean `keys`?",
        ),
    ] {
        let document = run(&project, "broken", words).failed().json();
        assert_eq!(document["_error"]["kind"], kind, "{document:#}");
        let message = document["_error"]["msg"].as_str().unwrap_or_default();
        assert!(message.contains(told), "{message}");
    }
}

#[test]
fn every_wrong_output_is_a_failure_with_its_cause() {
    let project = Project::new();
    let answers = answers(&["Results on streams"]);
    let shown = run(&project, "broken", "show outputs").succeeded().json();
    let actions = shown["metadata"]["actions"]
        .as_array()
        .expect("it is a list");
    let actions: Vec<&str> = actions
        .iter()
        .filter_map(|action| action["name"].as_str())
        .collect();
    assert_eq!(
        actions
            .iter()
            .map(|&name| name.to_owned())
            .collect::<BTreeSet<_>>(),
        answers.keys().cloned().collect()
    );
    for action in actions {
        let (verdict, words) = &answers[action];
        let limit = match action {
            "hangs" | "endless" => "--timeout 2s",
            _ => "",
        };
        let ended = run(&project, "broken", &format!("run outputs {action} {limit}"));
        let document = if verdict == "success" {
            let document = ended.succeeded().json();
            assert_eq!(document["results"]["done"], true, "{action}");
            document
        } else {
            ended.failed().json()
        };
        let said = format!("{} {}", document["_error"]["msg"], document["stderr"]);
        for words in words {
            assert!(said.contains(words), "{action}: expected {words:?}: {said}");
        }
    }
    end_what_is_left(&project, "child");
    assert!(!is_running(&noted(&project, "hangs")), "it was not ended");
}

#[test]
fn good_modules_of_all_languages_are_run() {
    let project = Project::new();
    for (words, results) in [
        (
            "greet greet --input {\"name\":\"Ada\"}",
            json!({ "greeting": "Hello Ada" }),
        ),
        (
            "reverse string --input {\"argument\":\"router\"}",
            json!({ "output": "retuor" }),
        ),
        (
            "tables wait --input {\"milliseconds\":300}",
            json!({ "waited": 300 }),
        ),
        (
            "tables rows --input {\"count\":2}",
            json!({ "rows": ["row 0 äöü", "row 1 äöü"] }),
        ),
        ("first_form nod", json!(true)),
        ("second_form nod", json!(true)),
        ("bare nothing", Value::Null),
        ("bare list", json!([1, "two", null])),
        ("bare pretty", json!({ "lines": 3 })),
        (
            "runner run --input {\"flags\":[\"--version\"]}",
            json!({ "kind": "apply", "status": "unchanged", "version": 1, "exitcode": 0 }),
        ),
    ] {
        let document = run(&project, "modules", &format!("run {words}"))
            .succeeded()
            .json();
        assert_eq!(document["results"], results, "{document:#}");
    }
    let large = run(
        &project,
        "modules",
        "run tables rows --input {\"count\":200000}",
    );
    let large = large.succeeded().json();
    assert_eq!(
        large.pointer("/results/rows/199999"),
        Some(&json!("row 199999 äöü"))
    );
}

#[test]
fn an_action_is_given_its_name_its_request_and_a_group_of_its_own() {
    let project = Project::new();
    let document = run(&project, "modules", "run tables given")
        .succeeded()
        .json();
    let given = &document["results"];
    assert_eq!(given["arguments"], json!(["given"]), "{given:#}");
    assert_eq!(
        given["keys"],
        json!(["input", "configuration"]),
        "{given:#}"
    );
    let configured = run(&project, "broken", "run loose_broken configured").succeeded();
    assert_eq!(configured.json()["results"], json!({ "configured": false }));
    for empty in [
        "conf_none keys",
        "loose_null configured",
        "loose_empty configured",
    ] {
        let document = run(&project, "broken", &format!("run {empty}"))
            .succeeded()
            .json();
        assert!(
            !document["results"].to_string().contains("configuration"),
            "{document:#}"
        );
    }
}

#[test]
fn results_that_fit_stand_beside_an_exit_code_that_says_otherwise() {
    let project = Project::new();
    let failing = "run tables fail --input {\"code\":4,\"message\":\"no-way\"}";
    let document = run(&project, "modules", failing).failed().json();
    assert_eq!(document["status"], "failure", "{document:#}");
    assert_eq!(document["exitcode"], 4, "{document:#}");
    assert_eq!(document["results"], json!({ "code": 4 }), "{document:#}");
    assert_eq!(document["stderr"], "no-way", "{document:#}");
    let message = document["_error"]["msg"].as_str().unwrap_or_default();
    assert!(message.contains("it ended with exit code 4"), "{message}");
}

#[test]
fn people_read_what_a_module_says_of_its_failure() {
    let project = Project::new();
    let modules = pxp("broken");
    let run = |action: &str| {
        let modules = modules.display();
        project.devgate(&format!("pxp run outputs {action} --modules-dir {modules}"))
    };
    run("code").failed().says(&[
        "stderr: the line is down",
        "module outputs, action code: it ended with exit code 3",
        "\"done\": true",
    ]);
    run("traceback")
        .failed()
        .says(&["stderr: KeyError: 'uplink'"]);
    let quiet = run("latin_words").succeeded();
    assert!(quiet.stderr.is_empty(), "{quiet}");
}

#[test]
fn input_that_does_not_fit_starts_nothing() {
    let mut project = Project::new();
    let action = r#"{"name": "go", "description": "x", "input": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}, "results": {}}"#;
    let script = format!(
        "#!/bin/sh\n[ $1 = metadata ] || touch {}/started\necho '{{\"description\": \"x\", \"actions\": [{action}]}}'\n",
        project.path().display()
    );
    let file = project.write("modules.d/counter", &script);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(file, executable).expect("it is ours");
    for (input, told) in [
        ("{}", "\"n\" is a required property"),
        ("{\"n\":\"a-canary\"}", "at `/n`"),
        ("{\"n\":1,\"m\":\"a-canary\"}", "'m' was unexpected"),
        ("[\"a-canary\"]", "--input: expected a JSON object"),
        ("{\"n\":a-canary}", "--input: expected a JSON object"),
    ] {
        let refused = project.devgate(&format!(
            "pxp run counter go --modules-dir modules.d --input {input} --format json"
        ));
        let document = refused.failed().json();
        assert_eq!(
            document["_error"]["kind"], "devgate/invalid-input",
            "{document:#}"
        );
        let message = document["_error"]["msg"].as_str().unwrap_or_default();
        assert!(message.contains(told), "{input}: {message}");
    }
    assert!(
        !project.path().join("started").exists(),
        "an action was started"
    );
}

#[test]
fn schemas_of_every_draft_mean_what_they_mean_there() {
    let project = Project::new();
    for draft in [
        "draft4",
        "draft6",
        "draft7",
        "draft2019",
        "draft2020",
        "unsaid",
        "unsaid_new",
    ] {
        let input = |n: u32| format!("run drafts {draft} --input {{\"n\":{n}}}");
        let document = run(&project, "modules", &input(9)).succeeded().json();
        assert_eq!(document["results"], json!({ "n": 9 }), "{draft}");
        let document = run(&project, "modules", &input(10)).failed().json();
        assert_eq!(
            document["_error"]["kind"], "devgate/invalid-input",
            "{document:#}"
        );
    }
    for wrong in [
        "draft2019 --input {\"m\":1}",
        "draft2020 --input {\"pair\":[\"a\",2]}",
    ] {
        run(&project, "modules", &format!("run drafts {wrong}")).failed();
    }
}
