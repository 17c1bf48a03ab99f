//! Properties of the source code: its layers, the only places for dangerous operations, and the only places
//! that reveal secrets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The places that inspect secrets or send them to a device or a child: each file, and its calls outside
/// tests.
const REVEALS: &[(&str, usize)] = &[
    ("devices/src/declared/body.rs", 1),
    ("devices/src/declared/netconf.rs", 1),
    ("devices/src/declared/provider.rs", 1),
    ("devices/src/line.rs", 2),
    ("devices/src/rollback/cli.rs", 1),
    ("devices/src/rollback/netconf.rs", 1),
    ("devices/src/template/scope.rs", 4),
    ("gateway/practice/src/serve.rs", 2),
    ("gateway/practice/src/server/session.rs", 1),
    ("gateway/practice/src/switch.rs", 1),
    ("gateway/engine/src/external/program.rs", 1),
    ("gateway/engine/src/inventory/source.rs", 1),
    ("gateway/engine/src/process/dialogue.rs", 1),
    ("gateway/engine/src/process/recorded.rs", 1),
    ("gateway/engine/src/process/reexec.rs", 1),
    ("gateway/engine/src/process/run.rs", 3),
    ("gateway/engine/src/process/spawn.rs", 1),
    ("gateway/engine/src/tasks/invocation.rs", 2),
    ("schemas/src/fuzz.rs", 1),
    ("schemas/src/mask.rs", 1),
    ("schemas/src/task/parameter.rs", 1),
    ("schemas/src/transport_schema/read.rs", 1),
    ("schemas/src/types/secret.rs", 1),
    ("schemas/src/value.rs", 3),
    ("transports/src/line.rs", 2),
    ("transports/src/info.rs", 1),
    ("transports/src/netconf/change.rs", 1),
    ("transports/src/ovsdb/data.rs", 2),
    ("transports/src/snmp/agent.rs", 1),
    ("transports/src/snmp/usm.rs", 4),
    ("transports/src/ssh/auth.rs", 1),
    ("transports/src/ssh/auth/keyboard_interactive.rs", 1),
    ("transports/src/ssh/identities.rs", 2),
    ("transports/src/ssh/private_key.rs", 4),
    ("transports/src/f5/session.rs", 1),
    ("transports/src/http/login.rs", 2),
    ("transports/src/http/request.rs", 1),
    ("transports/src/http/send.rs", 1),
    ("transports/src/http/settings.rs", 3),
    ("transports/src/panos/session.rs", 2),
    ("transports/src/rest/session.rs", 1),
    ("transports/src/restconf/session.rs", 1),
    ("transports/src/tls/pem.rs", 2),
    ("transports/src/ssh/read.rs", 1),
    ("gateway/engine/src/hosts/shell/script.rs", 2),
    ("gateway/engine/src/hosts/shell/talk.rs", 2),
];

/// The crates from the lowest to the highest, each with the workspace crates that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("schemas", &[]),
    ("transports", &["devgate-schemas"]),
    ("devices", &["devgate-schemas", "devgate-transports"]),
    ("gateway/core", BELOW),
    ("gateway/engine", ENGINE),
    ("gateway/practice", ENGINE),
    ("gateway/front", FRONT),
    ("gateway/cli", FRONT_END),
    ("gateway/pxp", FRONT_END),
    ("gateway", GATEWAY),
];

/// The crates that every part of the gateway may use.
const BELOW: &[&str] = &["devgate-schemas", "devgate-transports", "devgate-devices"];

/// The crates that the engine may use.
const ENGINE: &[&str] = &[
    "devgate-schemas",
    "devgate-transports",
    "devgate-devices",
    "devgate-core",
];

/// The crates that the shared front-end code may use.
const FRONT: &[&str] = &[
    "devgate-schemas",
    "devgate-transports",
    "devgate-core",
    "devgate-engine",
];

/// The crates that a front end may use: no other front end.
const FRONT_END: &[&str] = &[
    "devgate-schemas",
    "devgate-transports",
    "devgate-devices",
    "devgate-core",
    "devgate-engine",
    "devgate-front",
];

/// The crates that the binary may use, which combines the front ends.
const GATEWAY: &[&str] = &[
    "devgate-core",
    "devgate-engine",
    "devgate-practice",
    "devgate-front",
    "devgate-cli",
    "devgate-pxp",
];

#[test]
fn crates_depend_only_on_the_layers_below() {
    for (layer, allowed) in LAYERS {
        let ours: Vec<String> = dependencies(layer)
            .into_iter()
            .filter(|name| name.starts_with("devgate-") && !allowed.contains(&name.as_str()))
            .collect();
        assert!(ours.is_empty(), "{layer}/Cargo.toml must not use {ours:?}");
    }
}

#[test]
fn schemas_does_no_input_or_output_and_knows_no_async() {
    let runtimes: Vec<String> = dependencies("schemas")
        .into_iter()
        .filter(|name| ["tokio", "async-trait", "russh"].contains(&name.as_str()))
        .collect();
    assert!(
        runtimes.is_empty(),
        "schemas/Cargo.toml must not use {runtimes:?}"
    );
    assert_absent(
        "schemas/src",
        &[
            "std::net",
            "std::fs",
            "std::process",
            "tokio::",
            "async fn ",
        ],
        &[],
    );
}

#[test]
fn transports_names_no_device() {
    let families = fs::read_dir(root().join("devices/families"))
        .into_iter()
        .flatten()
        .flatten();
    for family in families {
        let name = format!("\"{}\"", family.file_name().to_string_lossy());
        assert_absent("transports/src", &[&name], &[]);
    }
}

#[test]
fn devices_starts_no_process_and_no_server() {
    assert_absent(
        "devices/src",
        &["std::process", "tokio::process", "TcpListener", "clap"],
        &[],
    );
}

#[test]
fn only_the_gateway_prints_or_exits() {
    for layer in ["schemas/src", "transports/src", "devices/src"] {
        assert_absent(
            layer,
            &[
                "println!",
                "eprintln!",
                "print!(",
                "process::exit",
                "io::stdout",
                "io::stderr",
            ],
            &[],
        );
    }
}

/// Foreign text is made harmless where it is printed, and only devgate's own marks become colours there.
#[test]
fn colours_are_made_in_one_file() {
    for folder in [
        "gateway/front/src",
        "gateway/cli/src",
        "gateway/pxp/src",
        "gateway/src",
    ] {
        assert_absent(
            folder,
            &["AnsiColor", "anstyle::", "\\x1b["],
            &["gateway/front/src/paint.rs"],
        );
    }
}

#[test]
fn processes_are_started_in_one_file_and_slept_in_one() {
    for (layer, _) in LAYERS {
        let sources = format!("{layer}/src");
        assert_absent(
            &sources,
            &["Command::new("],
            &["gateway/engine/src/process/spawn.rs"],
        );
        assert_absent(
            &sources,
            &["time::sleep", "thread::sleep"],
            &["transports/src/pauses.rs"],
        );
    }
}

/// Only a front end may decide about the environment, the folder and the terminal of a run.
#[test]
fn nobody_but_front_ends_looks_at_the_surroundings_of_the_process() {
    let words = [
        "env::var",
        "env::home_dir",
        "env::temp_dir",
        "env::current_dir",
        "io::stdin",
    ];
    let own = [
        // The function by which a front end reads them.
        "transports/src/environment.rs",
        // The environment that children inherit, the marks by which they are found, and the guard that ends
        // them.
        "gateway/engine/src/process/guard.rs",
        "gateway/engine/src/process/mark.rs",
        "gateway/engine/src/process/path.rs",
        "gateway/engine/src/process/run.rs",
        "gateway/engine/src/process/spawn.rs",
    ];
    let front_ends = ["gateway/front", "gateway/cli", "gateway/pxp", "gateway"];
    for (layer, _) in LAYERS
        .iter()
        .filter(|(layer, _)| !front_ends.contains(layer))
    {
        assert_absent(&format!("{layer}/src"), &words, &own);
    }
}

#[test]
fn secrets_are_revealed_only_where_this_list_says() {
    let mut found = BTreeMap::new();
    for (layer, _) in LAYERS {
        for source in files(&format!("{layer}/src")) {
            let calls = code(&source)
                .map(|line| calls_of("reveal", line) + calls_of("reveal_json", line))
                .sum();
            if calls > 0 {
                found.insert(name(&source), calls);
            }
        }
    }
    let expected: BTreeMap<String, usize> = REVEALS
        .iter()
        .map(|(file, calls)| ((*file).to_owned(), *calls))
        .collect();
    assert_eq!(
        found, expected,
        "who reveals secrets has changed (left: found): is each call needed?"
    );
}

#[test]
fn sources_open_with_what_they_are_for() {
    let silent: Vec<String> = files("")
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| !text(path).starts_with("//! "))
        .map(|path| name(&path))
        .collect();
    assert!(
        silent.is_empty(),
        "these files do not open with `//!`: {silent:?}"
    );
}

#[test]
fn the_map_names_every_module_and_stays_short() {
    let architecture = text(&root().join("ARCHITECTURE.md"));
    assert!(
        architecture.lines().count() < 250,
        "ARCHITECTURE.md is too long"
    );
    for (layer, _) in LAYERS {
        let (_, part) = architecture
            .split_once(&format!("\n{layer}/ "))
            .expect("the map has a part for each crate");
        let (part, _) = part.split_once("\n\n").expect("the map's parts end");
        let named: Vec<&str> = part
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        let modules = fs::read_dir(root().join(layer).join("src")).expect("a crate has sources");
        let lost: Vec<String> = modules
            .flatten()
            .filter_map(|entry| Some(entry.path().file_stem()?.to_string_lossy().into_owned()))
            .filter(|module| module != "lib" && !named.contains(&module.as_str()))
            .collect();
        assert!(lost.is_empty(), "the map of {layer} does not name {lost:?}");
    }
}

#[test]
fn every_test_that_the_conformance_names_exists() {
    let tests: String = files("")
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| text(path))
        .collect();
    let conformance = text(&root().join("docs/conformance.md"));
    // A text in back-ticks with the length of a sentence is the name of a test.
    let named: Vec<&str> = conformance
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.matches('_').count() >= 3)
        .collect();
    assert!(named.len() > 80, "{} tests are named", named.len());
    let lost: Vec<&&str> = named
        .iter()
        .filter(|name| !tests.contains(&format!("fn {name}(")))
        .collect();
    assert!(lost.is_empty(), "docs/conformance.md names {lost:?}");
    let mut tables = 0;
    let mut is_binding = false;
    for line in conformance.lines() {
        match line.strip_suffix(" |") {
            Some(row) if row.ends_with("| Here | Tests") => {
                tables += 1;
                is_binding = true;
            }
            Some(row) => {
                let tests = row.rsplit(" | ").next().unwrap_or_default();
                let names_one = named
                    .iter()
                    .any(|name| tests.contains(&format!("`{name}`")));
                assert!(!is_binding || names_one, "no test is named: {line}");
            }
            None => is_binding &= line.starts_with('|'),
        }
    }
    assert!(tables > 8, "{tables} tables name tests");
}

#[test]
fn nothing_is_left_unfinished_or_ignored() {
    for (layer, _) in LAYERS {
        assert_absent(
            layer,
            &[
                "todo!(",
                "unimplemented!(",
                "TODO",
                "FIXME",
                "#[ignore",
                "allow(dead_code",
            ],
            &[],
        );
    }
}

#[test]
fn the_project_speaks_of_itself_alone() {
    // Assembled here, so that this file does not match itself.
    let words = [
        ["/wo", "rk/"],
        ["/tmp/", "wt"],
        ["arti", "factory"],
        ["index.", "crates.io"],
        ["cla", "ude"],
        ["anthr", "opic"],
    ];
    for word in words.map(|halves| halves.concat()) {
        for path in files("") {
            let place = text(&path)
                .to_lowercase()
                .lines()
                .position(|line| line.contains(&word));
            assert_eq!(
                place,
                None,
                "{}: the line after this one says {word:?}",
                name(&path)
            );
        }
    }
}

/// Fails for each line of code below `folder` that contains one of `words`, except in tests and in the
/// files of `except`.
fn assert_absent(folder: &str, words: &[&str], except: &[&str]) {
    let mut found = Vec::new();
    for path in files(folder)
        .into_iter()
        .filter(|path| !except.contains(&name(path).as_str()))
    {
        let lines = code(&path).filter(|line| words.iter().any(|word| line.contains(word)));
        found.extend(lines.map(|line| format!("{}: {}", name(&path), line.trim())));
    }
    assert!(
        found.is_empty(),
        "{words:?} must not appear here:\n{}",
        found.join("\n")
    );
}

/// Returns the lines of a source before its tests, without comments; none for a file of tests.
fn code(path: &Path) -> impl Iterator<Item = &'static str> {
    // Leaking is simpler than owning here: a few hundred files in a short-lived process.
    let is_tests = path.ends_with("tests.rs") || name(path).split('/').any(|part| part == "tests");
    let text = if is_tests { String::new() } else { text(path) };
    let text: &'static str = Box::leak(text.into_boxed_str());
    text.lines()
        .take_while(|line| !line.starts_with("mod tests {"))
        .filter(|line| !line.trim_start().starts_with("//"))
}

/// Returns how often a line calls `function`. Definitions, longer names and paths in imports do not count.
fn calls_of(function: &str, line: &str) -> usize {
    line.match_indices(&format!("{function}("))
        .filter(|(at, _)| line[..*at].ends_with(['.', ':']))
        .count()
}

/// Returns the crates under `[dependencies]` of a manifest. Tests may use more.
fn dependencies(layer: &str) -> Vec<String> {
    let manifest = text(&root().join(layer).join("Cargo.toml"));
    let (_, section) = manifest
        .split_once("[dependencies]\n")
        .expect("the manifest has dependencies");
    let entries = section.lines().take_while(|line| !line.starts_with('['));
    let names = entries.filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns all files below `folder` that belong to the project, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder)
            .expect("the folder is there")
            .flatten()
        {
            let path = entry.path();
            let others = ["target", "fuzz/target", ".git"];
            let built = others.iter().any(|other| path == root().join(other));
            match entry.file_type().expect("a file has a type") {
                kind if kind.is_dir() && !built => open.push(path),
                kind if kind.is_file() && !built => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns the text of a file; empty for a file that is not text.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn name(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the project has a root")
}
