//! Modules for Puppet in Ruby, unchanged: a shelf of books, whose state is a file, and what goes wrong.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::project::Project;

const MODULES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/ruby/modules");
const PASSWORD: &str = "shelf-canary";

/// A shelf as the target `s1` of a project, and what its module was asked.
struct Shelf {
    project: Project,
    file: PathBuf,
}

impl Shelf {
    fn new() -> Self {
        let mut project = Project::new();
        let data = json!({
            "password": PASSWORD,
            "books": {"Emma": {"author": "Jane Austen", "pages": 474, "code": "code-canary"}},
            "slots": {"a/1": {"width": 30, "colour": "red"}},
            "awkward": {},
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

    /// What the shelf holds.
    fn data(&self) -> Value {
        let text = fs::read_to_string(&self.file).expect("the shelf is there");
        serde_json::from_str(&text).expect("it is JSON")
    }

    /// What the module was asked, since this was last looked at.
    fn asked(&self) -> Vec<String> {
        let log = self.file.with_extension("json.log");
        let text = fs::read_to_string(&log).unwrap_or_default();
        drop(fs::remove_file(log));
        text.lines().map(str::to_owned).collect()
    }

    /// What becomes of the resources of a manifest, and the summary.
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
        .says(&["a JSON file"]);
    shelf.devgate("transport show shelf").succeeded().says(&[
        "password: String (sensitive, required)",
        "rows: Integer[1] (default 3)",
    ]);
    assert_eq!(shelf.asked(), [""; 0], "who lists reaches no device");
    shelf.devgate("verify -t s1").succeeded();
    let redacted = "open Sensitive [value redacted]";
    assert_eq!(shelf.asked(), [redacted, "verify", "close"]);
    let facts = shelf.devgate("facts -t s1 --format json").succeeded();
    let expected = json!({
        "operatingsystem": "Shelf", "books": 1, "rows": 3, "kind": "wooden", "wide": "NaN",
        "label": "caf\u{fffd}", "motto": "café", "bought": "1970-01-01T00:00:00Z",
        "lock": "Sensitive [value redacted]",
    });
    assert_eq!(facts.item()["value"], expected);
    assert_eq!(shelf.asked(), [redacted, "facts", "close"]);
    facts.says(&["notice: s1: shelf: unlocked with ********"]);
}

#[test]
fn types_in_ruby_are_read_changed_and_found_in_order() {
    let mut shelf = Shelf::new();
    let shown = shelf.devgate("device -t s1 --resource shelf_book Emma --format json");
    let book = &shown.succeeded().item()["value"]["resources"][0];
    assert_eq!(
        book,
        &json!({
            "name": "Emma", "ensure": "present", "author": "Jane Austen", "pages": 474,
            "code": "Sensitive [value redacted]", "lent": false,
        })
    );
    let manifest = "
        shelf_book { 'Emma': author => ' Miss Austen ', code => Sensitive('new-canary') }
        shelf_book { 'Ulysses': pages => 736, tags => ['dublin', 'day'] }
        shelf_slot { 'a': width => 33 }
        shelf_slot { 'B/2': width => 50, colour => 'blue' }";
    let before = shelf.data();
    let (_, summary) = shelf.apply(manifest, "--noop");
    assert_eq!(
        (&summary["failed"], &summary["out_of_sync"]),
        (&json!(0), &json!(3)),
        "{summary}"
    );
    assert_eq!(shelf.data(), before);
    shelf.asked();
    let (resources, summary) = shelf.apply(manifest, "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(3)),
        "{resources}"
    );
    assert_eq!(
        shelf.data(),
        json!({
            "password": PASSWORD,
            "books": {
                "Emma": {"author": "Miss Austen", "pages": 474, "code": "new-canary"},
                "Ulysses": {"pages": 736, "tags": ["dublin", "day"]},
            },
            "slots": {"a/1": {"width": 30, "colour": "red"}, "B/2": {"width": 50, "colour": "blue"}},
            "awkward": {},
        })
    );
    shelf.asked();
    let (resources, summary) = shelf.apply(manifest, "");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(0), &json!(0)),
        "{resources}"
    );
    let redacted = "open Sensitive [value redacted]";
    assert_eq!(
        shelf.asked(),
        [redacted, "get [\"Emma\", \"Ulysses\"]", "close"]
    );
}
