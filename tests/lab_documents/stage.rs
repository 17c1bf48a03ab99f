//! A project in which the commands of a document run, with an inventory of the documents.

use std::any::Any;
use std::fs;

use super::rows::PROTOCOLS;
use crate::support::blocks;
use crate::support::project::Project;
use crate::support::run::Run;

/// A folder in which commands run.
pub(super) struct Stage {
    pub(super) project: Project,
    /// Whether its inventory is an entry of the page about protocols, which says what to do with each.
    pub(super) is_entry: bool,
    variables: Vec<(&'static str, String)>,
    /// The words of the commands to replace, and their replacements.
    words: Vec<(String, String)>,
    /// A last command that must succeed: it checks or undoes the effect of the others.
    pub(super) last: Option<&'static str>,
    /// Leases and servers, which live as long as this stage.
    resources: Vec<Box<dyn Any>>,
}

/// The inventory of a document that has this text.
pub(super) fn entry(document: &str, mark: &str) -> String {
    let document = blocks::text(&blocks::root().join(document));
    let mut found = blocks::blocks(&document)
        .into_iter()
        .filter(|block| block.language == "yaml" && block.text.contains(mark));
    let block = found.next().expect("the document has such an entry");
    block.text
}

/// Replaces a part of a text. Each line of the replacement gets the same indentation.
pub(super) fn changed(text: &str, from: &str, to: &str) -> String {
    let begin = text
        .find(from)
        .unwrap_or_else(|| panic!("{from:?} is not in {text}"));
    let line = text[..begin].rfind('\n').map_or(0, |end| end + 1);
    let indentation: String = text[line..begin]
        .chars()
        .take_while(|c| *c == ' ')
        .collect();
    text.replace(from, &to.replace('\n', &format!("\n{indentation}")))
}

impl Stage {
    pub(super) fn new() -> Self {
        Self {
            project: Project::new(),
            is_entry: false,
            variables: Vec::new(),
            words: Vec::new(),
            last: None,
            resources: Vec::new(),
        }
    }

    /// A project with the inventory of a document, with these parts replaced.
    pub(super) fn of(document: &str, mark: &str, changes: &[(&str, &str)]) -> Self {
        let mut stage = Self::new();
        let mut inventory = entry(document, mark);
        for (from, to) in changes {
            inventory = changed(&inventory, from, to);
        }
        stage.project.write("inventory.yaml", &inventory);
        stage.is_entry = document == PROTOCOLS;
        stage
    }

    pub(super) fn file(mut self, name: &str, text: &str) -> Self {
        self.project.write(name, text);
        self
    }

    pub(super) fn variable(mut self, name: &'static str, value: &str) -> Self {
        self.variables.push((name, value.to_owned()));
        self
    }

    pub(super) fn word(mut self, from: &str, to: &str) -> Self {
        self.words.push((from.to_owned(), to.to_owned()));
        self
    }

    /// The hosts that the user knows.
    pub(super) fn with_known_hosts(self, file: &str) -> Self {
        let known_hosts = fs::read_to_string(file).expect("the lab has known hosts");
        self.file("home/.ssh/known_hosts", &known_hosts)
    }

    pub(super) fn with_resource(mut self, resource: impl Any) -> Self {
        self.resources.push(Box::new(resource));
        self
    }

    /// Runs a command of a document.
    pub(super) fn run(&mut self, command: &str) -> Run {
        let mut command = command.to_owned();
        for (from, to) in &self.words {
            command = command.replace(from, to);
        }
        let variables = self.variables.iter();
        let script: String = variables
            .map(|(name, value)| format!("export {name}='{value}'\n"))
            .chain([command])
            .collect();
        self.project.write("command.sh", &format!("{script}\n"));
        self.project.run_program(&["bash", "command.sh"])
    }

    /// Remembers the output of a command that later commands need.
    pub(super) fn record(&mut self, command: &str, run: &Run) {
        if command.contains("age-keygen") {
            let output = run.stdout.clone() + &run.stderr;
            let (_, key) = output.split_once("Public key: ").expect("a public key");
            let key = key.lines().next().expect("a line");
            self.words.push(("age1...".to_owned(), key.to_owned()));
        }
    }

    /// Runs the last command. Returns its problem, if any.
    pub(super) fn end(mut self) -> Option<String> {
        let last = self.last?;
        let run = self.run(last);
        (run.code() != Some(0)).then(|| format!("behind the commands: $ {last}\n{run}"))
    }
}
