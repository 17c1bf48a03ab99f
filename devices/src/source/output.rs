//! The rows of a command's output.

use std::borrow::Cow;
use std::iter;
use std::sync::Arc;

use devgate_transports::Dialect;
use devgate_transports::dialect::TextEnd;

use super::row::Row;
use crate::error::{Location, Problem};
use crate::file_node::{FileNode, Problems};
use crate::textfsm::{self, TextFsm};
use crate::{Error, Result, Table};

/// The TextFSM template that parses an output.
#[derive(Debug)]
pub(super) struct OutputTemplate {
    fsm: TextFsm,
    /// Where the template's first line is.
    location: Location,
    /// Whether each line is indented by its depth first, and the dialect of the texts that are left out.
    by_depth: Option<Option<Arc<Dialect>>>,
}

/// The line that is added to an output that is parsed by depth, so that each has one.
pub(crate) const WHOLE_OUTPUT: char = '\u{3}';

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
            by_depth: None,
        })
    }

    /// A template for an output in which each line is indented by its depth.
    pub(super) fn of_lines(
        source: String,
        location: Location,
        dialect: Option<Arc<Dialect>>,
    ) -> Self {
        Self {
            fsm: TextFsm::new(source),
            location,
            by_depth: Some(dialect),
        }
    }

    /// The names of its rows' values.
    pub(super) fn names(&self) -> &[String] {
        self.fsm.names()
    }

    /// The rows of a command's output.
    pub(super) fn rows(&self, command: &Arc<str>, output: &str) -> Result<Vec<Row>> {
        let output = match &self.by_depth {
            Some(dialect) => Cow::Owned(by_depth(output, dialect.as_deref())),
            None => Cow::Borrowed(output),
        };
        let rows = self.fsm.rows(&output);
        let rows = rows.map_err(|error| self.located(command, error))?;
        let row = |row| Row::Output {
            command: Arc::clone(command),
            row,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    /// The table of a command's output.
    pub(super) fn table(&self, command: &str, output: &str) -> Result<Table> {
        Table::of(&self.fsm, output, |error| self.located(command, error))
    }

    fn located(&self, command: &str, error: textfsm::Error) -> Error {
        match error {
            textfsm::Error::Template { line, message } => Error::Data(self.problem(line, message)),
            textfsm::Error::Output { line, message } => Error::Output {
                command: command.to_owned(),
                line,
                column: 1,
                message,
            },
        }
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

/// An output whose lines are indented by one blank for each line above that they belong to, without texts of several
/// lines. Line numbers stay.
fn by_depth(output: &str, dialect: Option<&Dialect>) -> String {
    let mut lines = String::with_capacity(output.len());
    let mut indents: Vec<usize> = Vec::new();
    let mut open: Option<TextEnd> = None;
    for line in output.lines() {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        let text = open.take_if(|end| end.is_in(line)).or_else(|| open.clone());
        if text.is_none() && !content.is_empty() {
            indents.retain(|&above| above <= indent);
            if indents.last() != Some(&indent) {
                indents.push(indent);
            }
            lines.extend(iter::repeat_n(' ', indents.len() - 1));
            lines.push_str(content);
            let opened = dialect.and_then(|dialect| dialect.text_opened_by(content));
            open = opened.and_then(|(end, begun)| (!end.is_in(begun)).then_some(end));
        }
        lines.push('\n');
    }
    lines.push(WHOLE_OUTPUT);
    lines.push('\n');
    lines
}
