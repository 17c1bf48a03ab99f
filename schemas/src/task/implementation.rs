//! One implementation of a task, as its metadata declare it, and how it wants its parameters.

use super::input_method::InputMethod;
use super::key::{Key, Kind};
use super::section::{Findings, Section};

/// One implementation of a task (Task Specification, "Task implementations").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// Its file, at the top level of the module's `tasks` directory.
    pub name: String,
    /// The features that a target must have.
    pub requirements: Vec<String>,
    /// How it wants its parameters, if not as the task says.
    pub input_method: Option<InputMethod>,
    /// Files that it needs, before those of the task.
    pub files: Vec<String>,
    /// Whether it is remote, if not as the task says.
    pub remote: Option<bool>,
}

/// What an implementation in a metadata file may hold.
pub(super) const KEYS: [Key; 5] = [
    Key::new(
        "name",
        Kind::Text,
        "Its file, in the folder `tasks` of the module",
    ),
    Key::new(
        "requirements",
        Kind::Texts,
        "The features that a target must have: `shell`, `powershell`, `puppet-agent`",
    ),
    Key::new(
        "input_method",
        Kind::InputMethod,
        "How it takes its parameters, if not as the task says",
    ),
    Key::new(
        "files",
        Kind::Texts,
        "Files that it needs, beside those of the task",
    ),
    Key::new(
        "remote",
        Kind::Flag,
        "Whether it acts on a remote target, if not as the task says",
    ),
];

/// Every implementation in a metadata file; `None` where it says nothing of them.
pub(super) fn read_all(
    whole: &Section<'_>,
    findings: &mut Findings,
) -> Option<Vec<Implementation>> {
    let sections = whole.sections("implementations", findings)?;
    let mut implementations = Vec::new();
    for section in sections {
        section.warn_unknown(&KEYS, findings);
        let name = section.text("name", findings);
        if section.value("name").is_none() {
            findings.problem(
                &section.place("name"),
                "expected the name of a file in tasks",
            );
        }
        implementations.push(Implementation {
            name: name.unwrap_or_default(),
            requirements: section.texts("requirements", findings),
            input_method: InputMethod::read(&section, findings),
            files: section.texts("files", findings),
            remote: section.flag("remote", findings),
        });
    }
    Some(implementations)
}

impl InputMethod {
    /// The method that a task or an implementation asks for.
    pub(super) fn read(section: &Section<'_>, findings: &mut Findings) -> Option<Self> {
        // The specification gives an implementation's default as an empty list.
        if section
            .value("input_method")?
            .as_array()
            .is_some_and(Vec::is_empty)
        {
            return None;
        }
        let asked = section.text("input_method", findings)?;
        let method = Self::WORDS.iter().find(|(word, _)| *word == asked);
        if method.is_none() {
            let place = section.place("input_method");
            findings.problem(&place, "expected stdin, environment, both or powershell");
        }
        method.map(|(_, method)| *method)
    }
}
