//! Whole inventories: their targets, their problems, and their references.

mod choosing;
mod faults;
mod merging;
mod references;
mod refusing;
mod sources;

use std::rc::Rc;
use std::sync::Arc;

use devgate_schemas::Value;
use futures_util::FutureExt;

use super::{Inventory, InventoryError, Overrides, Target, TargetKind};
use crate::plugins::Plugins;
use crate::project::Project;

/// Returns the result of a future that is ready.
fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("there is nothing to wait for")
}

fn plugins() -> Rc<Plugins> {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(Some(folder.path().to_owned()), None, folder.path());
    Rc::new(Plugins::new(
        &project.expect("a project"),
        Arc::default(),
        None,
    ))
}

fn inventory(text: &str) -> Inventory {
    let parsed = now(Inventory::parse("inventory.yaml", text, plugins(), false));
    parsed.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns why an inventory is refused in strict mode.
fn refusal(text: &str) -> InventoryError {
    let parsed = now(Inventory::parse("inventory.yaml", text, plugins(), true));
    parsed.expect_err("a refusal")
}

fn choose(inventory: &Inventory, words: &[&str]) -> Result<Vec<Arc<Target>>, InventoryError> {
    let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
    now(inventory.select(&words, &Overrides::default()))
}

fn names(inventory: &Inventory, words: &[&str]) -> Vec<String> {
    let targets = choose(inventory, words).unwrap_or_else(|error| panic!("{error}"));
    targets.iter().map(|target| target.name.clone()).collect()
}

fn one(inventory: &Inventory, word: &str) -> Arc<Target> {
    let mut targets = choose(inventory, &[word]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(targets.len(), 1);
    targets.remove(0)
}

fn info(target: &Target) -> serde_json::Value {
    Value::Hash(target.connection_info().into_hash()).reveal_json()
}

const NETWORK: &str = "
version: 2
config:
  transport: remote
  remote: {user: outer, timeout: 10, nested: {a: 1, b: 1}}
vars: {site: {name: hq, floor: 1}}
facts: {os: {family: any, arch: x}}
features: [base]
groups:
  - name: routers
    config: {remote: {remote-transport: cisco_ios, user: middle, nested: {b: 2}}}
    vars: {site: {name: dc}}
    facts: {os: {family: ios}}
    features: [routing]
    groups:
      - name: core
        config: {remote: {user: inner}}
        targets: [{name: r1, uri: 192.0.2.1, alias: [edge, core1]}]
    targets:
      - {name: r2, uri: 'ssh://192.0.2.2', config: {remote: {user: own, timeout: ~}}, features: [mine]}
  - name: lab
    config: {remote: {user: late, remote-transport: frr, extra: lab}}
    targets: [r1, edge2.example.com]
targets:
  - {name: proxy1, config: {transport: ssh, ssh: {user: ops}}, uri: proxy1.example.com}
";
