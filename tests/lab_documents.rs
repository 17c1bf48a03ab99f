//! The commands of README and docs/ that need a device, against the lab's: those in the ```sh blocks.
//!
//! Each runs as it stands there, with the inventory that stands there: addresses, ports and credentials alone become
//! those of the lab. What cannot run is listed with its reason. A command that is neither run nor listed is an error.

mod devices;
mod rows;
mod scenes;
mod stage;

use std::collections::BTreeSet;

use crate::support::blocks::{blocks, documents, root, text};
use rows::{CANNOT, EVERY_ENTRY, PROTOCOLS, ROWS};
use scenes::{ALL, Scene};
use stage::Stage;

/// The first line of a command, without its comment.
fn first_line(command: &str) -> &str {
    let line = command.lines().next().unwrap_or_default();
    line.split("  #").next().unwrap_or_default().trim_end()
}

/// The commands of a document's ```sh blocks, each with all its lines.
fn commands(document: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for block in blocks(document) {
        if block.language != "sh" || block.file().is_some() {
            continue;
        }
        let mut ends_with: Option<String> = None;
        for line in block.text.lines() {
            match &ends_with {
                Some(word) => {
                    let last = commands.last_mut().expect("it has begun");
                    *last += &format!("\n{line}");
                    if line == word {
                        ends_with = None;
                    }
                }
                None => {
                    let word = line
                        .split_once("<<'")
                        .and_then(|(_, word)| word.split('\'').next());
                    ends_with = word.map(str::to_owned);
                    commands.push(line.to_owned());
                }
            }
        }
    }
    commands
}

/// All commands, each with its document.
fn all_commands() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in documents() {
        let name = path.strip_prefix(root()).expect("it is below the root");
        let name = name.to_str().expect("a name is a text").to_owned();
        let found = commands(&text(&path)).into_iter();
        all.extend(found.map(|command| (name.clone(), command)));
    }
    all
}

#[test]
fn every_command_of_the_documents_is_run_or_has_a_reason_why_not() {
    let written = all_commands();
    let written: BTreeSet<(&str, &str)> = written
        .iter()
        .map(|(document, command)| (document.as_str(), first_line(command)))
        .collect();
    let rows = ROWS.iter().map(|row| (row.document, row.command));
    let every = EVERY_ENTRY.iter().map(|(command, _)| (PROTOCOLS, *command));
    let cannot = CANNOT
        .iter()
        .map(|(document, command, _)| (*document, *command));
    let listed: BTreeSet<(&str, &str)> = rows.chain(every).chain(cannot).collect();
    let unknown: Vec<_> = written.difference(&listed).collect();
    assert!(unknown.is_empty(), "neither run nor listed: {unknown:#?}");
    let stale: Vec<_> = listed.difference(&written).collect();
    assert!(stale.is_empty(), "in no document: {stale:#?}");
    assert!(
        written.len() > 45,
        "only {} commands are written",
        written.len()
    );
    assert!(
        ROWS.iter().all(|row| ALL.contains(&row.on)),
        "a scene is not played"
    );
}

/// Runs the commands of a scene. Returns the problems.
fn play(scene: Scene, written: &[(String, String)]) -> Vec<String> {
    let mut stage: Stage = scene.stage();
    let mut problems = Vec::new();
    let every = EVERY_ENTRY.iter().filter(|_| stage.is_entry);
    let every = every.map(|(command, expected)| (PROTOCOLS, *command, *expected));
    let rows = ROWS.iter().filter(|row| row.on == scene);
    let rows = rows.map(|row| (row.document, row.command, row.expected));
    for (document, command, expected) in every.chain(rows).collect::<Vec<_>>() {
        let full = written
            .iter()
            .find(|(name, full)| name == document && first_line(full) == command);
        let Some((_, full)) = full else {
            problems.push(format!("{document} has no command {command}"));
            continue;
        };
        let run = stage.run(full);
        let missing: Vec<_> = expected
            .iter()
            .filter(|text| !run.stdout.contains(**text) && !run.stderr.contains(**text))
            .collect();
        if run.code() != Some(0) || !missing.is_empty() {
            problems.push(format!(
                "{document}: $ {command}\nit should end with 0 and say {missing:?}:\n{run}"
            ));
        }
        stage.record(command, &run);
    }
    problems.extend(stage.end());
    problems
}

#[test]
fn commands_of_the_documents_run_on_the_devices_of_the_lab() {
    let written = all_commands();
    let problems: Vec<String> = std::thread::scope(|scope| {
        let players: Vec<_> = ALL
            .iter()
            .map(|scene| (scene, scope.spawn(|| play(*scene, &written))))
            .collect();
        players
            .into_iter()
            .flat_map(|(scene, player)| {
                player
                    .join()
                    .unwrap_or_else(|_| vec![format!("{scene:?} panicked")])
            })
            .collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
