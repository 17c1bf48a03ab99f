//! The sources of the project: its files, and the code in them without tests and comments.

use std::fs;
use std::path::{Path, PathBuf};

/// Fails for each line of code below `folder` that contains one of `words`, except in tests and in the
/// files of `except`.
pub(super) fn assert_absent(folder: &str, words: &[&str], except: &[&str]) {
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
pub(super) fn code(path: &Path) -> impl Iterator<Item = &'static str> {
    // Leaking is simpler than owning here: a few hundred files in a short-lived process.
    let is_tests = path.ends_with("tests.rs") || name(path).split('/').any(|part| part == "tests");
    let text = if is_tests { String::new() } else { text(path) };
    let text: &'static str = Box::leak(text.into_boxed_str());
    text.lines()
        .take_while(|line| !line.starts_with("mod tests {"))
        .filter(|line| !line.trim_start().starts_with("//"))
}

/// Returns how often a line calls `function`. Definitions, longer names and paths in imports do not count.
pub(super) fn calls_of(function: &str, line: &str) -> usize {
    line.match_indices(&format!("{function}("))
        .filter(|(at, _)| line[..*at].ends_with(['.', ':']))
        .count()
}

/// Returns the crates under `[dependencies]` of a manifest. Tests may use more.
pub(super) fn dependencies(layer: &str) -> Vec<String> {
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
pub(super) fn files(folder: &str) -> Vec<PathBuf> {
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
pub(super) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

pub(super) fn name(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the project has a root")
}
