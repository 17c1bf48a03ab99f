//! Types declared for data protocols, on real servers. Creation, changes, drift and removal are verified
//! with each server's own client.

mod ietf;
pub(crate) mod netconfd;
mod openvswitch;
mod powerdns;
mod way_back;

use serde_json::Value;

use crate::support::project::Project;

/// Applies a manifest, and returns the numbers of resources that changed, failed, and would change.
fn apply(project: &mut Project, resources: &Value, options: &str) -> ([u64; 3], Value) {
    let manifest = project.manifest(resources.clone());
    let run = project.devgate(&format!(
        "device --target it --apply {manifest} {options} --format json"
    ));
    let value = run.item()["value"].clone();
    let resources = value["resources"].as_array().expect("resources");
    let count = |key: &str| resources.iter().filter(|one| one[key] == true).count() as u64;
    ([count("changed"), count("failed"), count("noop")], value)
}

/// Returns the run's message about a resource.
fn messages_on(value: &Value, title: &str) -> String {
    let resources = value["resources"].as_array().expect("resources");
    let found = resources.iter().find(|one| one["title"] == title);
    let found = found.unwrap_or_else(|| panic!("no {title} in {value:#}"));
    found["messages"].to_string()
}

/// Returns the requests that a device receives when nothing needs to change.
fn requests_of(project: &mut Project, resources: &Value) -> Vec<String> {
    let manifest = project.manifest(resources.clone());
    let command = format!("device --target it --apply {manifest} --log-level debug");
    let run = project.devgate(&command).succeeded();
    let lines = run
        .stderr
        .lines()
        .filter_map(|line| line.split_once("asks for `"));
    lines
        .map(|(_, what)| what.trim_end_matches('`').to_owned())
        .collect()
}

/// The life of a resource: previewed, created, left alone, changed externally and corrected, and removed.
struct Lifecycle<'l> {
    present: Value,
    absent: Value,
    /// Changes the device without devgate.
    change_externally: &'l dyn Fn(),
    /// Returns the state that the device's own client shows.
    seen: &'l dyn Fn() -> String,
}

impl Lifecycle<'_> {
    fn walk(self, project: &mut Project) {
        let count: u64 = self
            .present
            .as_object()
            .expect("types")
            .values()
            .map(|titles| titles.as_object().expect("titles").len() as u64)
            .sum();
        // A lab that was used before may contain some of the resources.
        apply(project, &self.absent, "");
        let before = (self.seen)();
        assert_eq!(apply(project, &self.present, "--noop").0, [0, 0, count]);
        assert_eq!((self.seen)(), before, "noop changes nothing");
        let (counts, value) = apply(project, &self.present, "");
        assert_eq!(counts, [count, 0, 0], "{value:#}");
        let present = (self.seen)();
        assert_ne!(present, before);
        assert_eq!(apply(project, &self.present, "").0, [0, 0, 0]);
        (self.change_externally)();
        assert_ne!((self.seen)(), present, "somebody changed it");
        let (counts, value) = apply(project, &self.present, "");
        assert_eq!(counts, [1, 0, 0], "{value:#}");
        assert_eq!((self.seen)(), present, "it is as it was");
        let (counts, value) = apply(project, &self.absent, "");
        assert_eq!(counts[1], 0, "{value:#}");
        assert_eq!((self.seen)(), before, "nothing is left");
        assert_eq!(apply(project, &self.absent, "").0, [0, 0, 0]);
    }
}
