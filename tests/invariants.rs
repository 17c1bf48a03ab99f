//! Properties of the source code: its layers, the only places for dangerous operations, and the only places
//! that reveal secrets.

#[path = "invariants/reveals.rs"]
mod reveals;
#[path = "invariants/sources.rs"]
mod sources;

use std::fs;

use sources::{assert_absent, dependencies, files, name, root, text};

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
            let location = text(&path)
                .to_lowercase()
                .lines()
                .position(|line| line.contains(&word));
            assert_eq!(
                location,
                None,
                "{}: the line after this one says {word:?}",
                name(&path)
            );
        }
    }
}
