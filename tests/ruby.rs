//! Unmodified Ruby modules for Puppet: a shelf of books, whose state is a file.

mod wrong;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::lab::pause;
use crate::support::programs::is_running;
use crate::support::project::Project;

const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ruby/modules");
const PASSWORD: &str = "shelf-canary";

/// A shelf as the target `s1` of a project, and the log of its module's calls.
struct Shelf {
    project: Project,
    file: PathBuf,
}

impl Shelf {
    fn new() -> Self {
        let mut project = Project::new();
        let data = json!({
            "password": PASSWORD,
            "books": {
                "Emma": {"author": "Jane Austen", "pages": 474, "code": "code-canary"},
                "Old": {"pages": 3},
            },
            "slots": {"a/1": {"width": 30, "colour": "red"}},
            "awkward": {}, "done": {},
        });
        let file = project.write("shelf.json", &data.to_string());
        let info = json!({"remote-transport": "shelf", "file": file, "password": PASSWORD});
        project.add_target("s1", info);
        Self { project, file }
    }

    fn devgate(&self, words: &str) -> crate::support::run::Run {
        self.project
            .devgate(&format!("{words} --modulepath {MODULES}"))
    }

    /// Returns the content of the shelf.
    fn data(&self) -> Value {
        let text = fs::read_to_string(&self.file).expect("the shelf is there");
        serde_json::from_str(&text).expect("it is JSON")
    }

    /// Returns the module's calls since the last call of this function.
    fn requests(&self) -> Vec<String> {
        let log = self.file.with_extension("json.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        drop(fs::remove_file(log));
        text.lines().map(str::to_owned).collect()
    }

    /// Applies a manifest, and returns the results of its resources and the summary.
    fn apply(&mut self, manifest: &str, options: &str) -> (Value, Value) {
        let file = self.project.write("m.pp", manifest);
        let file = file.display();
        let run = self.devgate(&format!(
            "device -t s1 --apply {file} --format json {options}"
        ));
        let report = run.item()["value"].clone();
        (report["resources"].clone(), report["summary"].clone())
    }
}

#[test]
fn a_transport_in_ruby_is_one_like_any_other() {
    let shelf = Shelf::new();
    shelf
        .devgate("transport list")
        .succeeded()
        .shows(&["a JSON file"]);
    shelf.devgate("transport show shelf").succeeded().shows(&[
        "password: String (sensitive, required)",
        "rows: Integer[1] (default 3)",
    ]);
    assert_eq!(shelf.requests(), [""; 0], "who lists reaches no device");
    shelf.devgate("verify -t s1").succeeded();
    let redacted = "open Sensitive [value redacted]";
    assert_eq!(shelf.requests(), [redacted, "verify", "close"]);
    let facts = shelf.devgate("facts -t s1 --format json").succeeded();
    let expected = json!({
        "operatingsystem": "Shelf", "books": 2, "rows": 3, "kind": "wooden", "wide": "NaN",
        "label": "caf\u{fffd}", "motto": "café", "bought": "1970-01-01T00:00:00Z",
        "lock": "Sensitive [value redacted]",
    });
    assert_eq!(facts.item()["value"], expected);
    assert_eq!(shelf.requests(), [redacted, "facts", "close"]);
    facts.shows(&["notice: s1: shelf: unlocked with ********"]);
    for folder in ["home", "tmp"] {
        let folder = shelf.project.path().join(folder);
        let remaining = fs::read_dir(folder).expect("it is there").count();
        assert_eq!(remaining, 0, "nothing is left behind");
    }
}

#[test]
fn a_transport_that_cannot_verify_reads_its_facts_instead() {
    let mut shelf = Shelf::new();
    for (name, password) in [("c1", "crate-canary"), ("c2", "a-wrong-canary")] {
        let info = json!({"remote-transport": "crate", "password": password});
        shelf.project.add_target(name, info);
    }
    shelf.devgate("verify -t c1").succeeded();
    shelf
        .devgate("verify -t c2")
        .failed()
        .shows(&["Puppet::ResourceError: it stays shut"]);
}

#[test]
fn what_a_module_has_for_all_devices_is_for_those_of_its_own_transports() {
    let mut shelf = Shelf::new();
    let document = shelf.devgate("type show crate_box").succeeded();
    document.shows(&["crate_box (family crate)"]);
    let file = shelf
        .project
        .write("m.pp", "crate_box { 'b': colour => 'red' }");
    let run = format!("device -t s1 --apply {}", file.display());
    shelf.devgate(&run).failed().shows(&[
        "type `crate_box` cannot be used by family `shelf`: there is neither a provider for `shelf`",
        "in its own module or in one without transports",
    ]);
}

#[test]
fn a_provider_that_looks_at_one_name_and_changes_its_type_finds_all_as_under_puppet() {
    let mut shelf = Shelf::new();
    let labels = |words: [&str; 3]| {
        let labels = words.iter().zip(1..);
        let labels =
            labels.map(|(word, n)| format!("shelf_label {{ 'l{n}': text => '{word}' }}\n"));
        labels.collect::<String>()
    };
    let (resources, summary) = shelf.apply(&labels(["a", "b", "c"]), "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(3)),
        "{resources}"
    );
    let (resources, summary) = shelf.apply(&labels(["a", "b", "d"]), "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(1)),
        "{resources}"
    );
    let data = shelf.data();
    assert_eq!(data["labels"], json!({"l1": "a", "l2": "b", "l3": "d"}));
    let requests = shelf.requests();
    let first = ["get [\"l1\",\"l2\",\"l3\"]", "get [\"l2\"]", "get [\"l3\"]"];
    assert!(
        requests.windows(3).any(|three| three == first),
        "{requests:?}"
    );
}

#[test]
fn errands_that_no_provider_shows_are_believed_and_not_run_where_they_are_done() {
    let mut shelf = Shelf::new();
    let manifest = "shelf_errand { 'fetch': command => 'Dubliners', unless => 'Dubliners' }
                    shelf_errand { 'rest': command => 'nothing' }";
    for changed in [2, 1] {
        let (resources, summary) = shelf.apply(manifest, "");
        assert_eq!(
            (&summary["failed"], &summary["changed"]),
            (&json!(0), &json!(changed)),
            "{resources}"
        );
        let event = &resources[1]["events"][0];
        assert_eq!(event["message"], "defined 'command' as 'nothing'");
    }
    assert_eq!(shelf.data()["books"]["Dubliners"], json!({}));
}

#[test]
fn types_in_ruby_are_read_changed_and_found_in_order() {
    let mut shelf = Shelf::new();
    let document = shelf.devgate("device -t s1 --resource shelf_book Emma --format json");
    let book = &document.succeeded().item()["value"]["resources"][0];
    assert_eq!(
        book,
        &json!({
            "name": "Emma", "ensure": "present", "author": "Jane Austen", "pages": 474,
            "code": "Sensitive [value redacted]", "lent": false,
        })
    );
    let manifest = "
        shelf_book { 'Emma': author => ' Miss Austen ', code => Sensitive('new-canary') }
        shelf_book { 'Ulysses': pages => 736, tags => ['dublin', 'day'], follows => 'Zadig' }
        shelf_book { 'Zadig': pages => 90 }
        shelf_book { 'Old': ensure => absent, pages => 3 }
        shelf_slot { 'a': width => 33 }
        shelf_slot { 'B/2': width => 50, colour => 'blue' }";
    let before = shelf.data();
    let (_, summary) = shelf.apply(manifest, "--noop");
    assert_eq!(
        (&summary["failed"], &summary["out_of_sync"]),
        (&json!(0), &json!(5)),
        "{summary}"
    );
    assert_eq!(shelf.data(), before);
    shelf.requests();
    let (resources, summary) = shelf.apply(manifest, "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(5)),
        "{resources}"
    );
    assert_eq!(
        shelf.data(),
        json!({
            "password": PASSWORD,
            "books": {
                "Emma": {"author": "Miss Austen", "pages": 474, "code": "new-canary"},
                "Ulysses": {"pages": 736, "tags": ["dublin", "day"], "follows": "Zadig"},
                "Zadig": {"pages": 90},
            },
            "slots": {"a/1": {"width": 30, "colour": "red"}, "B/2": {"width": 50, "colour": "blue"}},
            "awkward": {}, "done": {},
        })
    );
    let requests = shelf.requests();
    let set: Vec<Value> = requests
        .iter()
        .filter_map(|line| line.strip_prefix("set "))
        .map(|line| serde_json::from_str(line.trim_end_matches(" noop: false")).expect("JSON"))
        .collect();
    let position_of = |name: &str| {
        let of = |change: &&Value| change[0]["should"]["name"] == name;
        set.iter().position(|change| of(&change)).expect(name)
    };
    assert!(
        position_of("Zadig") < position_of("Ulysses"),
        "it is required: {requests:?}"
    );
    // As the gem passes them: one change at a time, including absent resources and removals.
    assert_eq!(
        set[position_of("Zadig")][0]["is"],
        json!({"title": "Zadig", "ensure": "absent"})
    );
    let old = json!({"name": "Old", "ensure": "absent", "pages": 3});
    assert_eq!(set[position_of("Old")][0]["should"], old);
    assert_eq!(
        set.last().expect("some")[0]["is"],
        json!({"row": "B", "place": "2"})
    );
    let (resources, summary) = shelf.apply(manifest, "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(0)),
        "{resources}"
    );
    let redacted = "open Sensitive [value redacted]";
    assert_eq!(
        shelf.requests(),
        [
            redacted,
            "get [\"Emma\",\"Ulysses\",\"Zadig\",\"Old\"]",
            "get [\"Old\"]",
            "close"
        ]
    );
}

#[test]
fn devices_of_a_device_conf_and_a_folder_of_ruby_are_used_as_puppet_device_does() {
    let mut shelf = Shelf::new();
    let lib = format!("{MODULES}/shelf/lib");
    let credentials = format!("file: {}\npassword: {PASSWORD}\n", shelf.file.display());
    let credentials = shelf.project.write("s2.conf", &credentials);
    let conf = format!("[s2]\ntype shelf\nurl file://{}\n", credentials.display());
    let conf = shelf.project.write("device.conf", &conf);
    let with = format!("--libdir {lib} --deviceconfig {}", conf.display());
    let run = format!("device -t s2 --resource shelf_book Emma {with}");
    shelf
        .project
        .devgate(&run)
        .succeeded()
        .shows(&["pages  => 474"]);
    // Devices are shown without Ruby; a type that only a `--libdir` has is unknown here.
    let run = format!("inventory show -t s1 --deviceconfig {}", conf.display());
    let document = shelf.project.start_under(&["env", "PATH=/nowhere"], &run);
    let document = document.finish().failed();
    document.shows(&["s1 ", "remote (shelf)", "there is no transport `shelf`"]);
}

#[test]
fn where_nothing_can_stay_loaded_each_target_is_served_by_itself() {
    let shelf = Shelf::new();
    // A socket's path is limited to about a hundred bytes.
    let long = shelf.project.path().join("x".repeat(110));
    fs::create_dir(&long).expect("a folder can be made");
    let long = format!("TMPDIR={}", long.display());
    let run = format!("verify -t s1 --modulepath {MODULES}");
    let run = shelf.project.start_under(&["env", &long], &run).finish();
    run.succeeded();
    assert_eq!(shelf.requests().last().map(String::as_str), Some("close"));
}
