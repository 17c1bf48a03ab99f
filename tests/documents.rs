//! Tests README and docs/: their commands run, their messages and options exist, their links work, and
//! their wording is plain.
//!
//! The form of a passage decides how it is tested:
//!
//! - A ```console block has commands (`$ `), and below each its output in order; `…` stands for any omitted
//!   text. A last line `[exit N]` gives an exit code other than 0.
//! - A block whose first or second line is `# FILE.EXT` is that file.
//! - `devgate practice --port 2222` starts a switch on a free port.
//! - A first line `<!-- continues DOCUMENT -->` starts with the files of that document and a switch.
//! - The options of `devgate` in ```sh blocks and in back-ticks must be those of the command.
//! - docs/reference has commands.md, settings.md, types.md, family.md, and a table in inventory.md, which are generated
//!   from the program's output; `DEVGATE_GOLDENS=write` regenerates them.
//! - A ```text block of troubleshooting.md is a message; its parts between `…` must occur in the sources.

mod reference;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fancy_regex::Regex;

use crate::blocks::{Block, blocks, documents, files_below, root, text};
use crate::folder::Project;
use crate::switches::Switch;
use reference::MADE;

/// The address of the switch in the documents.
const SWITCH: &str = "127.0.0.1:2222";

/// The mark for omitted text.
const ELLIPSIS: char = '…';

/// A command of a document, what it is said to print, and how it is said to end.
struct DocumentedCommand<'d> {
    command: &'d str,
    lines: Vec<&'d str>,
    exit: i32,
}

fn commands(block: &Block) -> Vec<DocumentedCommand<'_>> {
    let mut all: Vec<DocumentedCommand<'_>> = Vec::new();
    for line in block.text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(DocumentedCommand {
                command,
                lines: Vec::new(),
                exit: 0,
            });
            continue;
        }
        let last = all.last_mut().expect("a console block begins with `$ `");
        let exit = line
            .strip_prefix("[exit ")
            .and_then(|rest| rest.strip_suffix(']'));
        match exit {
            Some(code) => last.exit = code.parse().expect("an exit code is a number"),
            None => last.lines.push(line),
        }
    }
    all
}

/// Collapses white space, because the width of columns depends on their content.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder in which a document's commands run, and its switch, if any.
struct Walkthrough {
    project: Project,
    switch: Option<(Switch, String)>,
}

impl Walkthrough {
    fn new() -> Self {
        let project = Project::new();
        project.write("home/.keep", "");
        Self {
            project,
            switch: None,
        }
    }

    fn start(&mut self) {
        let (switch, port) = Switch::start(&self.project);
        self.switch = Some((switch, format!("127.0.0.1:{port}")));
    }

    /// Returns a text of the document with the real address of the switch.
    fn localized(&self, text: &str) -> String {
        match &self.switch {
            Some((_, address)) => text.replace(SWITCH, address),
            None => text.to_owned(),
        }
    }

    fn write_file(&self, block: &Block) {
        if let Some(file) = block.file() {
            self.project.write(file, &self.localized(&block.text));
        }
    }

    /// Runs a command and compares its output. Returns a description of the difference.
    fn run(&mut self, command: &DocumentedCommand<'_>) -> Result<(), String> {
        if command.command.starts_with("devgate practice") {
            self.start();
            return Ok(());
        }
        let folder = self.project.0.path();
        let binary = Path::new(env!("CARGO_BIN_EXE_devgate"));
        let bin = binary.parent().expect("it is in a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let line = format!("exec 2>&1\n{}", self.localized(command.command));
        let output = self
            .project
            .command_under(&["sh", "-c", &line], &[])
            .env("PATH", format!("{bin}:{path}"))
            .env("HOME", folder.join("home"))
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env_remove("XDG_RUNTIME_DIR")
            .output()
            .expect("a shell starts");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed = match &self.switch {
            Some((_, address)) => printed.replace(address, SWITCH),
            None => printed,
        };
        if output.status.code() != Some(command.exit) {
            return Err(format!("it ends with {}:\n{printed}", output.status));
        }
        let mut remaining = printed.lines().map(plain);
        for expected in &command.lines {
            let parts: Vec<String> = expected.split(ELLIPSIS).map(plain).collect();
            if !remaining.any(|line| parts.iter().all(|part| line.contains(part))) {
                return Err(format!("it does not print {expected:?} there:\n{printed}"));
            }
        }
        Ok(())
    }
}

#[test]
fn commands_of_the_documents_run_and_print_what_is_shown() {
    let continues = Regex::new(r"\A<!-- continues (\S+) -->").expect("a pattern of ours");
    let mut seen = 0;
    let mut problems = Vec::new();
    for path in documents() {
        let document = text(&path);
        let mut walkthrough = Walkthrough::new();
        if let Some(captures) = continues
            .captures(document.as_str())
            .expect("it is matched")
        {
            let folder = path.parent().expect("it is in a folder");
            walkthrough.start();
            let before = text(&folder.join(&captures[1]));
            blocks(&before)
                .iter()
                .for_each(|block| walkthrough.write_file(block));
        }
        for block in blocks(&document) {
            walkthrough.write_file(&block);
            if block.language != "console" {
                continue;
            }
            for command in commands(&block) {
                seen += 1;
                if let Err(problem) = walkthrough.run(&command) {
                    let (path, line) = (path.display(), block.line);
                    problems.push(format!("{path}:{line}: $ {}: {problem}", command.command));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    assert!(seen > 60, "only {seen} commands were run");
}

/// Returns the help text for these words; `None` if there is none.
fn help(project: &Project, words: &[&str]) -> Option<String> {
    let output = project.devgate(&[&["help"], words].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(text)
}

#[test]
fn commands_and_options_that_the_documents_name_exist() {
    let project = Project::new();
    let inline = Regex::new(r"`(devgate [a-z][^`]*)`").expect("a pattern of ours");
    let option = Regex::new(r"(?<=\s)--[a-z][a-z0-9_-]*").expect("a pattern of ours");
    let common = help(&project, &["options"]).expect("there is help");
    let mut helps: BTreeMap<Vec<String>, Option<String>> = BTreeMap::new();
    let mut problems = Vec::new();
    let mut seen = 0;
    for path in documents() {
        let document = text(&path);
        let mut lines: Vec<String> = Vec::new();
        for block in blocks(&document) {
            if block.language == "sh" || block.language == "console" {
                let typed = block.text.lines().map(|line| line.trim_start_matches("$ "));
                lines.extend(
                    typed
                        .filter(|l| l.starts_with("devgate "))
                        .map(str::to_owned),
                );
            }
        }
        let found = inline.captures_iter(document.as_str());
        lines.extend(found.map(|found| plain(&found.expect("it is matched")[1])));
        for line in lines {
            let command = line.split([';', '|', '#']).next().unwrap_or_default();
            let command = command.split(" -- ").next().unwrap_or_default();
            let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
            let words: Vec<&str> = command.split(' ').skip(1).take_while(is_word).collect();
            // The command is both words of `task run`, but only one word of `verify`; the rest are its
            // arguments.
            let Some(text) = (1..=words.len().min(2)).rev().find_map(|count| {
                let words = &words[..count];
                let key = words.iter().map(|&word| word.to_owned()).collect();
                let known = helps.entry(key).or_insert_with(|| help(&project, words));
                known.clone()
            }) else {
                problems.push(format!("{}: no such command: {line}", path.display()));
                continue;
            };
            for found in option.find_iter(command) {
                let found = found.expect("it is matched").as_str();
                seen += 1;
                if !text.contains(found) && !common.contains(found) {
                    problems.push(format!("{}: no {found}: {line}", path.display()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(seen > 60, "only {seen} options were found");
}

#[test]
fn messages_of_the_troubleshooting_are_in_the_sources() {
    let layers = ["schemas", "transports", "devices", "gateway"].map(|layer| root().join(layer));
    let sources: Vec<PathBuf> = layers
        .iter()
        .flat_map(|layer| files_below(layer, "rs"))
        .collect();
    let sources: String = sources.iter().map(|path| text(path)).collect();
    let broken = Regex::new(r"\\\n\s*").expect("a pattern of ours");
    let sources = plain(&broken.replace_all(&sources, ""));
    let document = text(&root().join("docs/troubleshooting.md"));
    let messages: Vec<Block> = blocks(&document)
        .into_iter()
        .filter(|block| block.language == "text")
        .collect();
    assert_eq!(messages.len(), 25, "messages are explained");
    for message in messages {
        for part in message.text.split(ELLIPSIS).map(plain) {
            let is_long = part.len() >= 10;
            assert!(
                !is_long || sources.contains(&part),
                "line {}: {part:?}",
                message.line
            );
        }
    }
}

/// Returns the anchors of a document's headings, as GitHub generates them.
fn anchors(document: &str) -> Vec<String> {
    let headings = document.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        });
        kept.collect::<String>()
    };
    headings.map(anchor).collect()
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").expect("a pattern of ours");
    let mut seen = 0;
    let more = ["devices/README.md", "ARCHITECTURE.md", "CHANGELOG.md"];
    let more = more.map(|name| root().join(name));
    for path in documents().into_iter().chain(more) {
        let document = text(&path);
        for found in link.captures_iter(document.as_str()) {
            let found = found.expect("it is matched")[1].to_owned();
            if found.starts_with("https://") {
                continue;
            }
            seen += 1;
            let (file, anchor) = found.split_once('#').unwrap_or((&found, ""));
            let target = if file.is_empty() {
                path.clone()
            } else {
                path.parent().expect("it is in a folder").join(file)
            };
            let location = format!("{}: {found}", path.display());
            assert!(target.exists(), "{location} is not there");
            if !anchor.is_empty() {
                let anchors = anchors(&text(&target));
                assert!(
                    anchors.iter().any(|a| a == anchor),
                    "{location}: {anchors:?}"
                );
            }
        }
    }
    assert!(seen > 80, "only {seen} links were found");
}

#[test]
fn documents_use_the_words_of_the_field() {
    let odd = Regex::new(r"(?i)\b(tell|tells|told)\b").expect("a pattern of ours");
    for path in documents() {
        let document = text(&path);
        // The wording of generated documents is the program's.
        if document.starts_with(MADE) {
            continue;
        }
        let mut in_block = false;
        for (number, line) in document.lines().enumerate() {
            in_block ^= line.starts_with("```");
            let found = odd.is_match(line).expect("it is matched");
            let location = format!("{}:{}", path.display(), number + 1);
            assert!(
                in_block || !found,
                "{location}: report, print, show: {line}"
            );
        }
    }
}

#[test]
fn the_readme_is_short() {
    let readme = text(&root().join("README.md"));
    assert!(readme.lines().count() <= 150, "README.md is too long");
}
