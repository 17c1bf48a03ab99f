//! Results that are too large for a message: what is moved to files, and what remains.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::module::Module;
use crate::support::run::Run;

/// The minimum limit of results.
const LIMIT: usize = 4096;

const FILL: &str =
    "printf '{\"text\":\"'; head -c \"$PT_size\" /dev/zero | tr '\\0' x; printf '\"}'\n";

/// Creates a module with this number of targets; sw1 is the first.
fn module(targets: usize) -> Module {
    let mut module = Module::new();
    let names: Vec<String> = (1..=targets).map(|number| format!("sw{number}")).collect();
    module.targets(&names);
    module.task("fill", FILL);
    module
}

/// Requests a text of `size` bytes from each target.
fn call(module: &mut Module, size: usize) -> Run {
    let mut request =
        module.request(json!({"targets": "all", "task": "m::fill", "parameters": {"size": size}}));
    request["configuration"]["limits"] = json!({ "results": LIMIT });
    module.call("run_task", &request)
}

/// Returns the file of a reference and its content, and checks that they match the reference.
fn referred(reference: &Value) -> (PathBuf, Value) {
    let path = PathBuf::from(reference["path"].as_str().expect("a path"));
    let bytes = fs::read(&path).expect("it is there");
    assert_eq!(reference["size"], bytes.len(), "{reference}");
    let sum: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(reference["sha256"], sum, "{reference}");
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    let folder = path.parent().expect("a file is in a folder");
    assert_eq!((mode(&path), mode(folder)), (0o600, 0o700));
    (path, serde_json::from_slice(&bytes).expect("it is JSON"))
}

#[test]
fn a_value_that_is_too_large_is_in_a_file_for_14_days() {
    let mut module = module(1);
    let run = call(&mut module, 10_000).succeeded();
    assert!(run.stdout.len() <= LIMIT + 1, "{run}");
    let item = run.item();
    assert_eq!(item["status"], "success", "{run}");
    let (path, value) = referred(&item["value"]["_file"]);
    assert_eq!(value["text"].as_str().map(str::len), Some(10_000));
    assert!(path.starts_with(module.path().join("home/.local/state/devgate/pxp/results")));
    let aged = |days: u64| {
        let time = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        let file = File::options().write(true).open(&path).expect("it is ours");
        file.set_modified(time).expect("it is ours");
    };
    for (days, kept) in [(13, true), (15, false)] {
        aged(days);
        call(&mut module, 10).succeeded();
        assert_eq!(path.exists(), kept, "{days}");
    }
}

#[test]
fn the_largest_values_go_first_and_all_results_where_that_is_not_enough() {
    let mut few = module(6);
    let run = call(&mut few, 1000).succeeded();
    assert!(run.stdout.len() <= LIMIT + 1, "{run}");
    let items = run.json()["items"].as_array().expect("a list").clone();
    let moved = items
        .iter()
        .filter(|item| item["value"].get("_file").is_some())
        .count();
    assert!((1..6).contains(&moved), "{run}");
    assert!(
        items.iter().all(|item| item["status"] == "success"),
        "{run}"
    );

    let mut many = module(60);
    // One of the targets is not a device: it fails alone.
    many.project
        .add_entry(json!({"name": "other", "config": {"transport": "nothing"}}));
    let run = call(&mut many, 1000).failed();
    assert!(run.stdout.len() <= LIMIT + 1, "{run}");
    let results = run.json();
    assert_eq!(
        results["statuses"],
        json!({"success": 60, "failure": 1}),
        "{run}"
    );
    assert_eq!(results["target_count"], 61, "{run}");
    assert_eq!(results["failed"][0]["target"], "other", "{run}");
    assert!(results["failed"][0]["_error"]["msg"].is_string(), "{run}");
    let (_, full) = referred(&results["_file"]);
    assert_eq!(full["items"].as_array().map(Vec::len), Some(61));
}

#[test]
fn the_error_of_a_large_value_stays_beside_the_reference() {
    let mut module = module(1);
    module.task("fail", "head -c 9000 /dev/zero | tr '\\0' x; exit 3");
    let mut request = module.request(json!({"targets": "sw1", "task": "m::fail"}));
    request["configuration"]["limits"] = json!({ "results": LIMIT });
    let run = module.call("run_task", &request).failed();
    let value = run.item()["value"].clone();
    assert_eq!(
        value["_error"]["kind"], "puppetlabs.tasks/task-error",
        "{run}"
    );
    let (_, full) = referred(&value["_file"]);
    assert_eq!(full["_error"]["details"]["exitcode"], 3);
}

#[test]
fn what_is_nested_as_deeply_as_may_be_is_in_a_file_as_it_is() {
    let mut module = module(1);
    // The maximum nesting depth of a task's output, which is even deeper within the surrounding document.
    let (open, close) = ("[".repeat(126), "]".repeat(126));
    let text = "x".repeat(2 * LIMIT);
    module.task(
        "deep",
        &format!("echo '{{\"deep\": {open}{close}, \"text\": \"{text}\"}}'"),
    );
    let mut request = module.request(json!({"targets": "sw1", "task": "m::deep"}));
    request["configuration"]["limits"] = json!({ "results": LIMIT });
    let run = module.call("run_task", &request).succeeded();
    assert_eq!(run.item()["status"], "success", "{run}");
    let path = run.item()["value"]["_file"]["path"]
        .as_str()
        .map(PathBuf::from);
    let full = fs::read_to_string(path.expect("a path")).expect("it is there");
    assert!(full.contains(&text));
    assert_eq!(full.matches('[').count(), 126, "{full}");
}

#[test]
fn a_long_list_of_problems_is_in_a_file_and_begins_beside_it() {
    let mut module = module(1);
    let types = (0..500).map(|number| (format!("type{number}"), json!(1)));
    let manifest: serde_json::Map<String, Value> = types.collect();
    let mut request = module.request(json!({"targets": "sw1", "manifest": manifest}));
    request["configuration"]["limits"] = json!({ "results": LIMIT });
    let run = module.call("device_run", &request).failed();
    assert!(run.stdout.len() <= LIMIT + 1, "{run}");
    let results = run.json();
    assert_eq!(
        results["_error"]["kind"], "devgate/invalid-manifest",
        "{run}"
    );
    let begin = results["_error"]["msg"].as_str().expect("a text");
    assert!(begin.contains("`type0`") && begin.ends_with('…'), "{begin}");
    let (_, full) = referred(&results["_file"]);
    let problems = full["_error"]["details"]["problems"].as_array();
    assert_eq!(problems.map(Vec::len), Some(500));
}

#[test]
fn what_cannot_be_saved_is_reported_and_what_was_done_stays_reported() {
    let mut module = module(1);
    let state = module.path().join("home/.local");
    fs::write(&state, "").expect("it is ours");
    let run = call(&mut module, 10_000).failed();
    assert!(run.stdout.len() <= LIMIT + 1, "{run}");
    assert_eq!(run.json()["_error"]["kind"], "devgate/not-kept", "{run}");
    let item = run.item();
    assert_eq!(item["status"], "success", "{run}");
    assert_eq!(item["value"]["_error"]["kind"], "devgate/not-kept", "{run}");
}
