//! Finding and listing tasks.

use serde_json::json;

use super::*;

const ORACLE: &str = include_str!("../../../../../schemas/tests/data/task-parameters.json");

#[test]
fn a_task_is_found_by_its_name_and_init_by_its_modules() {
    let modules = Modules::with(&[
        ("sample/tasks/init.sh", ""),
        ("sample/tasks/show.rb", ""),
        ("sample/tasks/show.json", r#"{"description": "shows"}"#),
    ]);
    assert_eq!(modules.find("sample").name.to_string(), "sample");
    assert_eq!(modules.find("sample::init").name.to_string(), "sample");
    assert_eq!(
        modules.find("sample::show").metadata.description.as_deref(),
        Some("shows")
    );
}

#[test]
fn files_that_are_no_tasks_are_passed_over() {
    let modules = Modules::with(&[
        ("sample/tasks/a.md", ""),
        ("sample/tasks/b.conf", ""),
        ("sample/tasks/C.sh", ""),
        ("sample/tasks/d.sh.orig", ""),
        ("sample/tasks/.e", ""),
        ("sample/tasks/f/g.sh", ""),
        ("Bad/tasks/h.sh", ""),
        ("sample/tasks/ok", ""),
        ("empty/README", ""),
    ]);
    let listing = modules.catalogue().list().expect("a listing");
    let names: Vec<&str> = listing
        .tasks
        .iter()
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(names, ["sample::ok"]);
    assert!(listing.problems.is_empty());
}

#[test]
fn an_unknown_task_suggests_the_list_and_a_similar_name() {
    let modules = Modules::with(&[("sample/tasks/show.sh", "")]);
    assert_eq!(
        modules.refusal("sample::shwo"),
        (
            "bolt/unknown-task",
            "Could not find a task named 'sample::shwo'. For a list of available tasks, run \
             'devgate task show'. Did you mean 'sample::show'?"
                .to_owned()
        )
    );
    assert!(!modules.refusal("other").1.contains("Did you mean"));
    for name in ["../x", "Sample", "sample::"] {
        assert_eq!(
            modules.refusal(name),
            ("bolt/validation-error", format!("Invalid task '{name}'"))
        );
    }
}

#[test]
fn a_module_that_the_project_hides_by_its_name_is_reported() {
    let modules = Modules::with(&[("net/tasks/ports.sh", ""), ("project/tasks/own.sh", "")]);
    let modulepath = vec![modules.path().to_owned()];
    let project = ("net".to_owned(), modules.path().join("project"));
    let catalogue = Catalogue::new(modulepath, Some(project));
    assert_eq!(catalogue.names(), ["net::own", "project::own"]);
    let error = catalogue.find("net::ports").expect_err("it is hidden");
    assert_eq!(error.kind(), "bolt/unknown-task");
    let message = error.to_string();
    let folder = modules.path().join("net").display().to_string();
    for part in [
        "task named 'net::ports'",
        "the project is named 'net'",
        &folder,
    ] {
        assert!(message.contains(part), "{message}");
    }
    let message = catalogue.find("net::other").expect_err("it is nowhere");
    assert!(!message.to_string().contains("hides"), "{message}");
}

#[test]
fn one_wrong_task_hides_no_other_and_is_read_only_when_asked_for() {
    let modules = Modules::with(&[
        ("sample/tasks/good.sh", ""),
        ("sample/tasks/hidden.sh", ""),
        ("sample/tasks/hidden.json", r#"{"private": true}"#),
        ("sample/tasks/wrong.sh", ""),
        ("sample/tasks/wrong.json", "{"),
    ]);
    modules.find("sample::good");
    modules.find("sample::hidden");
    assert_eq!(
        modules.refusal("sample::wrong").0,
        "puppet.tasks/unparseable-metadata"
    );
    let catalogue = modules.catalogue();
    let listing = catalogue.list().expect("a listing");
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(
        catalogue.listing_json(&listing),
        json!({
            "tasks": [["sample::good", null], ["sample::hidden", null]],
            "modulepath": [modules.path()],
        })
    );
    let private: Vec<bool> = listing.tasks.iter().map(|task| task.private).collect();
    assert_eq!(private, [false, true]);
}

#[test]
fn implementations_must_be_there_and_be_one() {
    let modules = Modules::with(&[
        ("sample/tasks/none.json", "{}"),
        ("sample/tasks/two.sh", ""),
        ("sample/tasks/two.rb", ""),
        (
            "sample/tasks/lost.json",
            r#"{"implementations": [{"name": "lost.rb"}]}"#,
        ),
        ("sample/tasks/wrong.sh", ""),
        ("sample/tasks/wrong.json", r#"{"files": "x", "remote": 1}"#),
    ]);
    for (name, kind) in [
        ("sample::none", "puppet.tasks/no-implementation"),
        ("sample::two", "puppet.tasks/multiple-implementations"),
        ("sample::lost", "puppet.tasks/missing-implementation"),
        ("sample::wrong", "puppet.tasks/invalid-metadata"),
    ] {
        assert_eq!(modules.refusal(name).0, kind, "{name}");
    }
}

#[test]
fn wrong_files_are_reported_in_puppets_words() {
    let oracle: Json = serde_json::from_str(ORACLE).expect("the oracle's answers");
    for case in oracle["files"].as_array().expect("cases") {
        let metadata = json!({"files": case["files"]}).to_string();
        let modules = Modules::with(&[
            ("sample/tasks/init.sh", ""),
            ("sample/tasks/init.json", &metadata),
            ("shareable/lib/x.rb", ""),
            ("shareable/manifests/x", ""),
            ("results/lib/puppet/y.rb", ""),
        ]);
        let shareable = modules.path().join("shareable").display().to_string();
        let text = case["message"].as_str().expect("a text");
        let (kind, message) = modules.refusal("sample");
        assert_eq!(case["error"], kind);
        assert_eq!(message, text.replace("<module directory>", &shareable));
    }
}

#[test]
fn no_file_outside_its_module_can_be_named() {
    for spec in [
        "sample/files/../../secret",
        "sample/files//x",
        "sample/files/./x",
        "sample/../x",
    ] {
        let metadata = json!({"files": [spec]}).to_string();
        let modules = Modules::with(&[
            ("sample/tasks/init.sh", ""),
            ("sample/tasks/init.json", &metadata),
        ]);
        assert_eq!(
            modules.refusal("sample").0,
            "puppet.tasks/invalid-metadata",
            "{spec}"
        );
    }
}

#[test]
fn the_first_module_of_a_name_counts_and_a_project_comes_first() {
    let first = Modules::with(&[("sample/tasks/a.sh", ""), ("site/tasks/x.sh", "")]);
    let second = Modules::with(&[("sample/tasks/b.sh", ""), ("other/tasks/c.sh", "")]);
    let project = Modules::with(&[("tasks/here.sh", "")]);
    let catalogue = Catalogue::new(
        vec![
            first.path().to_owned(),
            second.path().to_owned(),
            "/nowhere".into(),
        ],
        Some(("site".to_owned(), project.path().to_owned())),
    );
    let listing = catalogue.list().expect("a listing");
    let names: Vec<&str> = listing
        .tasks
        .iter()
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(names, ["other::c", "sample::a", "site::here"]);
    assert!(catalogue.find("sample::b").is_err() && catalogue.find("site::x").is_err());
    assert_eq!(
        catalogue.find("site::here").expect("a task").module_dir,
        project.path()
    );
}

#[test]
fn a_task_is_shown_with_its_files_and_without_secret_defaults() {
    let modules = Modules::with(&[
        ("sample/tasks/init.sh", ""),
        (
            "sample/tasks/init.json",
            r#"{"files": ["sample/files/"],
                "parameters": {"p": {"type": "String", "sensitive": true, "default": "canary"}}}"#,
        ),
        ("sample/files/b/c.txt", ""),
        ("sample/files/a.txt", ""),
    ]);
    let shown = modules.find("sample").to_json();
    let names: Vec<&str> = shown["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|f| f["name"].as_str())
        .collect();
    assert_eq!(
        names,
        ["init.sh", "sample/files/a.txt", "sample/files/b/c.txt"]
    );
    assert_eq!(shown["name"], "sample");
    assert_eq!(shown["module_dir"], json!(modules.path().join("sample")));
    assert!(!shown.to_string().contains("canary"), "{shown}");
}

#[test]
fn a_directory_gives_all_its_files_once_and_no_link_leads_back() {
    let modules = Modules::with(&[
        ("m/tasks/init.sh", ""),
        (
            "m/tasks/init.json",
            r#"{"files": ["m/files/", "m/files/a", "m/lib/"]}"#,
        ),
        ("m/files/a", ""),
        ("m/files/.hidden", ""),
        ("m/files/deep/b", ""),
        ("m/lib/c", ""),
    ]);
    let files = modules.path().join("m/files");
    std::os::unix::fs::symlink(&files, files.join("deep/back")).expect("a link");
    std::os::unix::fs::symlink(files.join("a"), files.join("link")).expect("a link");
    let task = modules.find("m");
    let names: Vec<&str> = task.implementations[0]
        .layout
        .files()
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "m/tasks/init.sh",
            "m/files/.hidden",
            "m/files/a",
            "m/files/deep/b",
            "m/files/link",
            "m/lib/c"
        ]
    );
}
