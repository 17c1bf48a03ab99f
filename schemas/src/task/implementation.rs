//! An implementation of a task, as declared in its metadata, and its input method.

use super::input_method::InputMethod;
use super::key::{Key, KeyType};
use super::section::{Findings, Section};

/// An implementation of a task (Task Specification, "Task implementations").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// The implementation's file, at the top level of the module's `tasks` directory.
    pub name: String,
    /// The features that a target must have.
    pub requirements: Vec<String>,
    /// The method of passing parameters, if it differs from the task's.
    pub input_method: Option<InputMethod>,
    /// Files that the implementation needs; they precede those of the task.
    pub files: Vec<String>,
    /// Whether the implementation is remote, if it differs from the task.
    pub remote: Option<bool>,
}

/// The keys of an implementation in a metadata file.
pub(super) const KEYS: [Key; 5] = [
    Key::new(
        "name",
        KeyType::Text,
        "Its file, in the folder `tasks` of the module",
    ),
    Key::new(
        "requirements",
        KeyType::Texts,
        "The features that a target must have: `shell`, `powershell`, `puppet-agent`",
    ),
    Key::new(
        "input_method",
        KeyType::InputMethod,
        "How it takes its parameters, if not as the task says",
    ),
    Key::new(
        "files",
        KeyType::Texts,
        "Files that it needs, beside those of the task",
    ),
    Key::new(
        "remote",
        KeyType::Flag,
        "Whether it acts on a remote target, if not as the task says",
    ),
];

/// Reads every implementation of a metadata file; `None` if the file declares none.
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
    /// Reads the input method of a task or an implementation.
    pub(super) fn read(section: &Section<'_>, findings: &mut Findings) -> Option<Self> {
        // The specification gives an empty list as an implementation's default.
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
