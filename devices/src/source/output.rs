//! The rows of a command's output.

use std::sync::Arc;

use super::row::Row;
use crate::error::{Location, Problem};
use crate::file_node::{FileNode, Problems};
use crate::textfsm::{self, TextFsm};
use crate::{Error, Result};

/// The TextFSM template that parses an output.
#[derive(Debug)]
pub(super) struct OutputTemplate {
    fsm: TextFsm,
    /// Where the template's first line is.
    location: Location,
}

impl OutputTemplate {
    /// Reads the template at `textfsm` or in the file that `textfsm_file` names.
    pub(super) fn read(
        top: &FileNode<'_>,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let (source, location) = match (top.get("textfsm"), top.get("textfsm_file")) {
            (Some(file_node), None) => (file_node.text(problems)?.to_owned(), file_node.location()),
            (None, Some(file_node)) => {
                let path = file_node.text(problems)?;
                let source = read(path).map_err(|error| {
                    problems.push(file_node.problem(error.to_string()));
                });
                let location = Location {
                    file: path.into(),
                    line: 1,
                    column: 1,
                    key: String::new(),
                };
                (source.ok()?, location)
            }
            (None, None) => {
                problems.push(top.problem(
                    "missing key `textfsm`, or `textfsm_file`, or `values` for an output of JSON or XML",
                ));
                return None;
            }
            (Some(file_node), Some(_)) => {
                problems.push(file_node.problem("`textfsm` and `textfsm_file` exclude each other"));
                return None;
            }
        };
        Some(Self {
            fsm: TextFsm::new(source),
            location,
        })
    }

    /// The names of its rows' values.
    pub(super) fn names(&self) -> &[String] {
        self.fsm.names()
    }

    /// The rows of an output.
    pub(super) fn rows(&self, command: &Arc<str>, output: &str) -> Result<Vec<Row>> {
        let rows = self.fsm.rows(output).map_err(|error| match error {
            textfsm::Error::Template { line, message } => Error::Data(self.problem(line, message)),
            textfsm::Error::Output { line, message } => Error::Output {
                command: command.to_string(),
                line,
                column: 1,
                message,
            },
        })?;
        let row = |row| Row::Output {
            command: Arc::clone(command),
            row,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// Compiles the template.
    pub(super) fn check(&self) -> Result<()> {
        match self.fsm.check() {
            Err(textfsm::Error::Template { line, message }) => {
                Err(Error::Data(self.problem(line, message)))
            }
            Err(textfsm::Error::Output { .. }) | Ok(()) => Ok(()),
        }
    }

    fn problem(&self, line: usize, message: String) -> Problem {
        self.location.line_of_text(line).problem(message)
    }
}
