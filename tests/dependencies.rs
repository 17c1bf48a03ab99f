//! The licences, sources and duplicates that `deny.toml` allows, checked without any tool but cargo.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::Path;
use std::process::Command;
use std::str::SplitWhitespace;

use serde_json::Value;

#[test]
fn every_licence_is_allowed() {
    let allowed = strings(&policy()["licenses"]["allow"]);
    let refused: Vec<String> = packages()
        .iter()
        .filter(|package| !satisfied(package["license"].as_str().unwrap_or_default(), &allowed))
        .map(|package| format!("{} has {}", package["name"], package["license"]))
        .collect();
    assert!(
        refused.is_empty(),
        "deny.toml does not allow these licences:\n{}",
        refused.join("\n")
    );
}

#[test]
fn every_package_comes_from_this_workspace_or_the_public_registry() {
    let policy = policy();
    let registries = strings(&policy["sources"]["allow-registry"]);
    for package in packages() {
        let source = package["source"]
            .as_str()
            .map(|source| source.trim_start_matches("registry+").to_owned());
        assert!(
            source
                .as_ref()
                .is_none_or(|source| registries.contains(source)),
            "{} comes from {source:?}, which deny.toml does not allow",
            package["name"]
        );
    }
}

#[test]
fn each_crate_is_there_once_but_for_the_exceptions_with_their_reason() {
    let policy = policy();
    let skipped: BTreeSet<String> = policy["bans"]["skip"]
        .as_array()
        .expect("bans.skip is a list")
        .iter()
        .map(|skip| {
            skip["crate"]
                .as_str()
                .expect("a skip names its crate")
                .to_owned()
        })
        .collect();
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        versions
            .entry(text("name"))
            .or_default()
            .insert(text("version"));
    }
    let mut used = BTreeSet::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let left = versions.iter().filter(|version| {
            let skip = skipped
                .iter()
                .find(|skip| format!("{name}@{version}.").starts_with(&format!("{skip}.")));
            used.extend(skip.cloned());
            skip.is_none()
        });
        assert!(
            left.count() <= 1,
            "{name} is there as {versions:?}: use one, or say why in deny.toml"
        );
    }
    assert_eq!(
        skipped, used,
        "deny.toml excepts what is no longer there twice (left: excepted)"
    );
}

/// Whether a licence expression (SPDX; `/` is an old way to write `OR`) can be met by `allowed` alone.
fn satisfied(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    any_of(&mut words, allowed) && words.next().is_none()
}

fn any_of(words: &mut Peekable<SplitWhitespace<'_>>, allowed: &[String]) -> bool {
    let mut met = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Peekable<SplitWhitespace<'_>>, allowed: &[String]) -> bool {
    let mut met = licence(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= licence(words, allowed);
    }
    met
}

fn licence(words: &mut Peekable<SplitWhitespace<'_>>, allowed: &[String]) -> bool {
    match words.next() {
        Some("(") => any_of(words, allowed) & (words.next() == Some(")")),
        Some(name) if words.next_if_eq(&"WITH").is_some() => {
            let exception = words.next().unwrap_or_default();
            allowed.contains(&format!("{name} WITH {exception}"))
        }
        Some(name) => allowed.iter().any(|allowed| allowed == name),
        None => false,
    }
}

#[test]
fn licence_expressions_are_read_as_spdx_says() {
    let allowed = ["MIT".to_owned(), "ISC".to_owned()];
    for met in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/MIT",
        "MIT AND ISC",
        "(GPL-3.0 OR MIT) AND ISC",
    ] {
        assert!(satisfied(met, &allowed), "{met}");
    }
    for refused in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "MIT WITH Some-exception",
        "(MIT",
        "MIT ISC",
    ] {
        assert!(!satisfied(refused, &allowed), "{refused}");
    }
}

fn policy() -> toml::Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.toml");
    fs::read_to_string(path)
        .expect("deny.toml is there")
        .parse()
        .expect("deny.toml is TOML")
}

fn strings(list: &toml::Value) -> Vec<String> {
    let list = list.as_array().expect("a list");
    list.iter()
        .filter_map(toml::Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// The packages that a build for one of the policy's platforms uses, ours included.
fn packages() -> Vec<Value> {
    let policy = policy();
    let mut found = BTreeMap::new();
    for target in strings(&policy["graph"]["targets"]) {
        let metadata = metadata(&target);
        let nodes = metadata["resolve"]["nodes"]
            .as_array()
            .expect("the graph has nodes");
        let used: BTreeSet<&str> = nodes
            .iter()
            .filter_map(|node| node["id"].as_str())
            .collect();
        for package in metadata["packages"]
            .as_array()
            .expect("the metadata has packages")
        {
            let id = package["id"].as_str().expect("a package has an id");
            if used.contains(id) {
                found.insert(id.to_owned(), package.clone());
            }
        }
    }
    found.into_values().collect()
}

fn metadata(target: &str) -> Value {
    #[expect(clippy::disallowed_methods, reason = "cargo itself is asked")]
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--filter-platform",
            target,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}
