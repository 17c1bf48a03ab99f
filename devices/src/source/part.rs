//! A request, and the rows of its answer.

use std::sync::Arc;

use devgate_schemas::Hash;

use super::answers::{Answer, Answers};
use super::output::OutputTemplate;
use super::path::Path;
use super::protocol_kind::{FamilyProtocol, ProtocolKind};
use super::request::{Format, Request, RequestTemplate};
use super::row::Row;
use crate::file_node::{FileNode, Problems};
use crate::{Result, Table};

/// A request, and the values of each row of its answer.
#[derive(Debug)]
pub(super) struct Part {
    request: RequestTemplate,
    form: AnswerForm,
    /// Whether a device may refuse the request.
    is_optional: bool,
}

/// Where the rows are in an answer.
#[derive(Debug)]
enum AnswerForm {
    Output(Box<OutputTemplate>),
    Document {
        rows: Path,
        values: Vec<(String, Path)>,
    },
}

impl Part {
    /// The keys of a part, for a protocol.
    pub(super) fn keys(protocol_kind: ProtocolKind) -> &'static [&'static str] {
        if protocol_kind.has_commands() {
            &[
                "command",
                "textfsm",
                "textfsm_file",
                "ask",
                "rows",
                "values",
                "optional",
            ]
        } else {
            &["ask", "rows", "values", "optional"]
        }
    }

    /// Reads a request over these names, and adds the names of its own values to them.
    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        read: &dyn Fn(&str) -> Result<String>,
        names: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let request = RequestTemplate::read(top, protocol_kind, &known, problems);
        let has_paths = ["ask", "rows", "values"]
            .iter()
            .any(|key| top.get(key).is_some());
        let form =
            if protocol_kind.has_commands() && !has_paths {
                let template = OutputTemplate::read(top, read, problems);
                template.map(|template| AnswerForm::Output(Box::new(template)))
            } else {
                for key in ["textfsm", "textfsm_file"] {
                    if let Some(file_node) = top.get(key).filter(|_| protocol_kind.has_commands()) {
                        problems.push(file_node.problem(
                            "expected `values`, or a `command` with TextFSM, but not both",
                        ));
                    }
                }
                read_paths(top, problems)
            };
        let is_optional = top.optional("optional", |file_node| file_node.boolean(problems));
        let form = form?;
        for name in form.names() {
            if names.iter().any(|known| known == name) {
                let given = top.nearest(&["values".to_owned(), name.to_owned()]);
                problems.push(given.problem(format!("`{name}` has a value already")));
            }
            names.push(name.to_owned());
        }
        Some(Self {
            request: request?,
            form,
            is_optional: is_optional?.unwrap_or(false),
        })
    }

    /// Reads a command with a template for the depths of its output.
    pub(super) fn of_lines(
        top: &FileNode<'_>,
        protocol: &FamilyProtocol,
        template: String,
        problems: &mut Problems,
    ) -> Option<Self> {
        let request = RequestTemplate::read(top, protocol.kind, &[], problems);
        let is_optional = top.optional("optional", |file_node| file_node.boolean(problems));
        let template = OutputTemplate::of_lines(template, top.location(), protocol.dialect.clone());
        Some(Self {
            request: request?,
            form: AnswerForm::Output(Box::new(template)),
            is_optional: is_optional?.unwrap_or(false),
        })
    }

    /// The names of its rows' values.
    pub(super) fn names(&self) -> Vec<&str> {
        self.form.names()
    }

    /// The depth of its rows in a document, and the name of their elements.
    pub(super) fn depth(&self) -> (usize, &str) {
        match &self.form {
            AnswerForm::Output(_) => (0, ""),
            AnswerForm::Document { rows, .. } => (rows.len(), rows.last()),
        }
    }

    /// The request as written.
    pub(super) fn label(&self) -> &str {
        &self.request.label
    }

    /// The name of an answer that must be there, if it is known without other answers.
    pub(super) fn required(&self) -> Option<&str> {
        (self.request.is_fixed() && !self.is_optional).then_some(&self.request.label)
    }

    /// Whether an output without rows is remarkable.
    pub(super) fn expects_rows(&self) -> bool {
        matches!(self.form, AnswerForm::Output(_)) && !self.is_optional
    }

    /// The request for an outer row.
    pub(super) fn request(&self, outer: &Hash) -> Result<Request> {
        let format = match self.form {
            AnswerForm::Output(_) => Format::Text,
            AnswerForm::Document { .. } => Format::Data,
        };
        let mut request = self.request.request(outer, format)?;
        request.is_optional = self.is_optional;
        Ok(request)
    }

    /// The rows of the answer to a request, without the values of the outer row.
    pub(super) fn rows(&self, answers: &Answers, outer: &Hash) -> Result<Vec<Row>> {
        let request = self.request(outer)?;
        let query: Arc<str> = request.name.as_str().into();
        match (answers.get(&request), &self.form) {
            (Some(Answer::Output(output)), AnswerForm::Output(template)) => {
                template.rows(&query, output)
            }
            (Some(Answer::Document(document)), AnswerForm::Document { rows, values }) => {
                let mut found = Vec::new();
                rows.rows(document, &mut |way| {
                    let values = values.iter();
                    found.push(Row::Document {
                        query: Arc::clone(&query),
                        number: found.len() + 1,
                        values: values
                            .map(|(name, path)| (name.as_str(), path.value(way)))
                            .collect(),
                    });
                });
                Ok(found)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The table of a command's output, if this is the command.
    pub(super) fn table(&self, command: &str, output: &str) -> Option<Result<Table>> {
        match &self.form {
            AnswerForm::Output(template) if self.request.label == command => {
                Some(template.table(command, output))
            }
            AnswerForm::Output(_) | AnswerForm::Document { .. } => None,
        }
    }

    /// Compiles the TextFSM template.
    pub(super) fn check(&self) -> Result<()> {
        match &self.form {
            AnswerForm::Output(template) => template.check(),
            AnswerForm::Document { .. } => Ok(()),
        }
    }
}

impl AnswerForm {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Output(template) => template.names().iter().map(String::as_str).collect(),
            Self::Document { values, .. } => values.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }
}

/// Reads `rows` and `values`.
fn read_paths(top: &FileNode<'_>, problems: &mut Problems) -> Option<AnswerForm> {
    let rows = top.optional("rows", |rows| {
        let text = rows.text(problems)?;
        let path = Path::of_rows(text).map_err(|message| problems.push(rows.problem(message)));
        path.ok()
    });
    let given = top.required("values", problems)?.pairs(problems);
    // After a problem in `rows`, only that is reported.
    let rows = rows?.unwrap_or_default();
    let mut values = Vec::new();
    for (name, file_node) in given {
        let path = file_node
            .text(problems)
            .map(|text| Path::of_value(text, &rows));
        match path {
            Some(Ok(path)) => values.push((name.to_owned(), path)),
            Some(Err(message)) => problems.push(file_node.problem(message)),
            None => {}
        }
    }
    Some(AnswerForm::Document { rows, values })
}
