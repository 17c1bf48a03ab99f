//! Checks the imports between source files. An arrow runs from the file that names an item to the file that
//! defines it, so that no `pub use` hides it. Rooms, the top modules of a crate, import downwards only, and
//! no circle holds more than three files.

#[path = "arrows/module_graph.rs"]
mod module_graph;

use std::collections::{BTreeMap, BTreeSet};

use module_graph::{Arrows, ModuleGraph};

/// The maximum number of files in an import circle.
const CIRCLE: usize = 3;

/// The maximum number of lines of a source file, without its tests.
const LINES: usize = 400;

#[test]
fn no_circle_holds_more_than_three_files() {
    let arrows = ModuleGraph::read().arrows();
    let large_circles: Vec<String> = circles(&arrows)
        .into_iter()
        .filter(|circle| circle.len() > CIRCLE)
        .map(|circle| described(&circle, &arrows))
        .collect();
    assert!(large_circles.is_empty(), "{}", large_circles.join("\n"));
}

#[test]
fn no_room_imports_from_a_room_above_it() {
    let graph = ModuleGraph::read();
    let mut rooms: Arrows = BTreeMap::new();
    for (from, to) in graph.arrows() {
        for (to, names) in to {
            let (from, to) = (graph.room(&from), graph.room(&to));
            if from != to {
                let names_of = rooms.entry(from).or_default().entry(to).or_default();
                names_of.extend(names);
            }
        }
    }
    let problems: Vec<String> = circles(&rooms)
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .map(|circle| described(&circle, &rooms))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_source_file_is_longer_than_one_can_read() {
    let long: Vec<String> = ModuleGraph::read()
        .modules
        .iter()
        .map(|module| (&module.file, module.lines))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter(|(_, lines)| *lines > LINES)
        .map(|(file, lines)| format!("{file}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "more than {LINES} lines: {long:#?}");
}

/// Returns the groups of files (or rooms) that reach each other.
fn circles(arrows: &Arrows) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<&String>> = arrows
        .keys()
        .map(|from| (from, reached(arrows, from)))
        .collect();
    reach
        .iter()
        .filter(|(from, to)| to.contains(*from))
        .map(|(from, to)| {
            to.iter()
                .filter(|other| reach.get(*other).is_some_and(|back| back.contains(from)))
                .map(|other| (*other).clone())
                .collect()
        })
        .collect()
}

fn reached<'a>(arrows: &'a Arrows, from: &'a String) -> BTreeSet<&'a String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for next in arrows.get(file).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

/// Describes a circle: each of its arrows, with the imported names.
fn described(circle: &BTreeSet<String>, arrows: &Arrows) -> String {
    let mut text = format!("{} import one another:", circle.len());
    for from in circle {
        for (to, names) in arrows.get(from).into_iter().flatten() {
            if circle.contains(to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                text.push_str(&format!("\n  {from} -> {to}: {}", names.join(", ")));
            }
        }
    }
    text
}
