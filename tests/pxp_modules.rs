//! Broken third-party modules, one for each defect: the tables of `tests/pxp/README.md` give devgate's
//! expected answer to each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::programs::is_running;
use crate::support::project::Project;
use crate::support::pxp::{pxp, run, wait_for_end};

/// The expected answers by module or action: a verdict, and parts of its message.
type Answers = BTreeMap<String, (String, Vec<String>)>;

/// Reads the tables under these headings.
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

/// Returns the names of a folder's modules.
fn files(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(pxp(folder))
        .expect("the folder is there")
        .flatten();
    let files = entries.filter(|entry| !entry.path().is_dir());
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.contains('.')).collect()
}

/// Returns the process ID that a module has written.
#[track_caller]
fn recorded(project: &Project, name: &str) -> String {
    let pid = fs::read_to_string(project.path().join(format!("tmp/{name}.pid")));
    pid.unwrap_or_else(|error| panic!("{name} was not started: {error}"))
}

/// Ends what a module leaves behind. If the module has ended by itself, nothing else does.
struct LeftBy<'p>(&'p Project, &'static str);

impl Drop for LeftBy<'_> {
    fn drop(&mut self) {
        let recorded = fs::read_to_string(self.0.path().join(format!("tmp/{}.pid", self.1)));
        if let Some(process) = recorded
            .ok()
            .and_then(|recorded| recorded.trim().parse().ok())
        {
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
    }
}

#[test]
fn every_broken_module_is_refused_with_its_cause_and_no_good_one_with_it() {
    let project = Project::new();
    let _left = LeftBy(&project, "leaves_a_child");
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
        let output = if available {
            module["remarks"].to_string()
        } else {
            let message = module["_error"]["msg"].as_str();
            message.expect("an error has a message").to_owned()
        };
        for words in words {
            assert!(
                output.contains(words),
                "{name}: expected {words:?}: {output}"
            );
        }
    }
    let expected: BTreeSet<_> = files("modules").union(&files("broken")).cloned().collect();
    assert_eq!(seen, expected);
    // Modules with broken actions are in other tables.
    let actions = ["outputs", "files"].map(str::to_owned).into();
    let broken: BTreeSet<_> = files("broken").difference(&actions).cloned().collect();
    assert_eq!(answers.into_keys().collect::<BTreeSet<_>>(), broken);
    assert!(
        !is_running(&recorded(&project, "hangs")),
        "it was not ended"
    );
}

#[test]
fn a_broken_module_that_is_requested_is_reported_as_it_is_listed() {
    let project = Project::new();
    for (words, kind, report) in [
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
        assert!(message.contains(report), "{message}");
    }
}

#[test]
fn a_module_behind_a_link_has_the_name_and_the_configuration_of_what_it_leads_to() {
    let mut project = Project::new();
    let links = project.path().join("links");
    fs::create_dir(&links).expect("a folder can be made");
    let link = |to: &str, name: &str| {
        symlink(pxp(to), links.join(name)).expect("a link can be made");
    };
    link("kinds/strict", "lax");
    link("modules/greet", "welcome.d");
    link("modules/notes.txt", "notes");
    link("modules/library", "library");
    project.write("conf/strict.conf", r#"{"user": "ada"}"#);
    project.write("conf/lax.conf", "no JSON");
    let folders = "--modules-dir links --config-dir conf --format json";
    let listed = |project: &Project| {
        let listed = project.devgate(&format!("pxp list {folders}"));
        let listed = listed.succeeded().json()["modules"].take();
        let modules = listed.as_array().expect("a list").iter();
        modules
            .map(|module| format!("{}: {}", module["name"], module["available"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&project), ["\"greet\": true", "\"strict\": true"]);
    let keys = project.devgate(&format!("pxp run strict keys {folders}"));
    let keys = keys.succeeded().json();
    assert_eq!(
        keys["results"]["keys"],
        serde_json::json!(["input", "configuration"])
    );
    project.devgate(&format!("pxp show lax {folders}")).failed();
    // Two links to the same file are one module; another file with the same name is an error.
    link("kinds/strict", "again");
    assert_eq!(listed(&project).len(), 2);
    project.write("links/strict", "#!/bin/sh\n");
    assert_eq!(listed(&project), ["\"greet\": true", "\"strict\": false"]);
    let refused = project.devgate(&format!("pxp show strict {folders}"));
    refused
        .failed()
        .shows(&["kinds/strict", "keep one of them"]);
}

/// Returns the actions of a broken module, and checks that its table has all of them.
fn actions(project: &Project, module: &str, answers: &Answers) -> Vec<String> {
    let document = run(project, "broken", &format!("show {module}"))
        .succeeded()
        .json();
    let actions = document["metadata"]["actions"]
        .as_array()
        .expect("it is a list")
        .iter();
    let actions = actions.map(|action| action["name"].as_str().expect("it has a name").to_owned());
    let actions: Vec<String> = actions.collect();
    let mut sorted = actions.clone();
    sorted.sort();
    assert_eq!(sorted, answers.keys().cloned().collect::<Vec<_>>());
    actions
}

#[test]
fn every_wrong_output_file_is_a_failure_with_its_cause() {
    let project = Project::new();
    let answers = answers(&["Results in files"]);
    let actions = actions(&project, "files", &answers);
    for action in &actions {
        let limit = if action == "hangs" {
            "--timeout 6s"
        } else {
            ""
        };
        let spool = format!("--nonblocking --transaction {action} --spool-dir spool");
        run(
            &project,
            "broken",
            &format!("run files {action} {limit} {spool}"),
        )
        .succeeded();
    }
    for action in &actions {
        let (verdict, words) = &answers[action];
        let report = wait_for_end(&project, action, "spool");
        assert_eq!(&report["status"], verdict, "{report:#}");
        if verdict == "success" {
            assert_eq!(report["results"]["done"], true, "{action}");
        }
        let output = report["_error"]["msg"].as_str().unwrap_or_default();
        for words in words {
            assert!(
                output.contains(words),
                "{action}: expected {words:?}: {output}"
            );
        }
    }
}

#[test]
fn every_wrong_output_is_a_failure_with_its_cause() {
    let project = Project::new();
    let _left = LeftBy(&project, "child");
    let answers = answers(&["Results on streams"]);
    let actions = actions(&project, "outputs", &answers);
    for action in &actions {
        let (verdict, words) = &answers[action];
        let limit = match action.as_str() {
            "hangs" | "endless" => "--timeout 6s",
            _ => "",
        };
        let wait_for_end = run(&project, "broken", &format!("run outputs {action} {limit}"));
        let document = if verdict == "success" {
            let document = wait_for_end.succeeded().json();
            assert_eq!(document["results"]["done"], true, "{action}");
            document
        } else {
            wait_for_end.failed().json()
        };
        let output = format!("{} {}", document["_error"]["msg"], document["stderr"]);
        for words in words {
            assert!(
                output.contains(words),
                "{action}: expected {words:?}: {output}"
            );
        }
    }
    assert!(
        !is_running(&recorded(&project, "hangs")),
        "it was not ended"
    );
}

#[test]
fn people_read_what_a_module_says_of_its_failure() {
    let project = Project::new();
    let modules = pxp("broken");
    let run = |action: &str| {
        let modules = modules.display();
        project.devgate(&format!("pxp run outputs {action} --modules-dir {modules}"))
    };
    run("code").failed().shows(&[
        "stderr: the line is down",
        "module outputs, action code: it ended with exit code 3",
        "\"done\": true",
    ]);
    run("traceback")
        .failed()
        .shows(&["stderr: KeyError: 'uplink'"]);
    let quiet = run("latin_words").succeeded();
    assert!(quiet.stderr.is_empty(), "{quiet}");
}
