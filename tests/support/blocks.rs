//! The documents of the project, and the fenced blocks in them.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// README and everything below docs/, by their paths.
pub(crate) fn documents() -> Vec<PathBuf> {
    let mut documents = files_below(&root().join("docs"), "md");
    documents.push(root().join("README.md"));
    documents
}

/// The files below a folder that end so.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder can be read");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let of = |path: PathBuf| {
        if path.is_dir() {
            files_below(&path, extension)
        } else {
            vec![path]
        }
    };
    let mut files: Vec<PathBuf> = paths.into_iter().flat_map(of).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == extension));
    files
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A fenced block: its language, the line on which it begins, its text.
pub(crate) struct Block {
    pub(crate) language: String,
    pub(crate) line: usize,
    pub(crate) text: String,
}

pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in document.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.to_owned(),
                    line: number + 1,
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

impl Block {
    /// The file that the block is, if it says so.
    pub(crate) fn file(&self) -> Option<&str> {
        let mut lines = self.text.lines().take(2);
        let named = lines.find_map(|line| {
            line.strip_prefix("# ")
                .filter(|name| name.contains('.') && !name.contains([' ', ':']))
        });
        named.filter(|_| self.language != "console" && self.language != "text")
    }
}
