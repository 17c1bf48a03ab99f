//! Parsing configuration files: lines, words, and included files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::item::{Item, Place};
use crate::glob::glob;
use crate::reading;

/// The maximum depth of nested includes, as in OpenSSH.
const MAX_DEPTH: usize = 16;

/// The parts of the files that were skipped.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    /// Messages about files that could not be read.
    pub(super) unreadable: Vec<String>,
    /// The places where `Match` blocks begin.
    pub(super) matches: Vec<String>,
}

/// Reads a file and all files that it includes. `~/` stands for `home`.
pub(super) fn read(file: &Path, home: Option<&Path>, skipped: &mut Skipped) -> Vec<Item> {
    read_deep(file, home, 0, skipped)
}

fn read_deep(file: &Path, home: Option<&Path>, depth: usize, skipped: &mut Skipped) -> Vec<Item> {
    let text = match reading::bytes(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let message = format!("cannot read {}: {error}; it is skipped", file.display());
            skipped.unreadable.push(message);
            return Vec::new();
        }
    };
    let mut items = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((name, rest)) = keyword(line) else {
            continue;
        };
        let name = name.to_lowercase();
        let place = Place {
            file: file.to_owned(),
            line: index + 1,
        };
        let words = words(rest);
        items.push(match name.as_str() {
            "host" => Item::Host(words),
            "match" => {
                skipped.matches.push(place.to_string());
                Item::Match
            }
            "include" => {
                if depth == MAX_DEPTH {
                    let message = format!("{place} includes too deep; it is skipped");
                    skipped.unreadable.push(message);
                    continue;
                }
                let found = words.iter().flat_map(|word| included(file, home, word));
                let found: Vec<PathBuf> = found.collect();
                let read = found
                    .iter()
                    .map(|file| read_deep(file, home, depth + 1, skipped))
                    .collect();
                Item::Include(read)
            }
            _ => Item::Keyword { name, words, place },
        });
    }
    items
}

/// Splits a line into its keyword and the rest. Blanks or one `=` separate them.
fn keyword(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let end = line
        .find(|c: char| c.is_whitespace() || c == '=')
        .unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Some((name.trim_matches('"'), rest.trim_start()))
}

/// Splits the rest of a line into words. Quotes keep blanks together; a backslash escapes a quote or a blank.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _)
                if characters.peek().is_some_and(|next| {
                    matches!(next, '"' | '\'' | '\\') || (*next == ' ' && quote.is_none())
                }) =>
            {
                word.get_or_insert_default().extend(characters.next());
            }
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('#', None) if word.is_none() => break,
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns the files that a word of `Include` names. Relative paths start at [`base`].
fn included(from: &Path, home: Option<&Path>, word: &str) -> Vec<PathBuf> {
    let path = match (word.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base(from, home).join(word),
    };
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        let part = part.as_os_str().to_string_lossy();
        if !part.contains(['*', '?']) {
            for path in &mut found {
                path.push(&*part);
            }
            continue;
        }
        found = found
            .iter()
            .flat_map(|path| matching(path, &part))
            .collect();
    }
    found
}

/// Returns the base of relative paths: `/etc/ssh` for the system's files, `~/.ssh` for the user's.
fn base(from: &Path, home: Option<&Path>) -> PathBuf {
    if from.starts_with("/etc/ssh") {
        return PathBuf::from("/etc/ssh");
    }
    home.map_or_else(PathBuf::new, |home| home.join(".ssh"))
}

fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let fits =
        |name: &String| glob(pattern, name) && (pattern.starts_with('.') || !name.starts_with('.'));
    let mut names: Vec<String> = names.filter(fits).collect();
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}
