//! Sources of rows: the output of a command, parsed with TextFSM, or a document, from which paths select
//! values. Facts and resources are built from rows in the same way.

mod answers;
mod document;
mod output;
mod path;
mod protocol_kind;
mod recording;
mod row;

use devgate_schemas::Value;
use devgate_transports::{self as transports, Context, Document};

use crate::command_line::{exec, session};
use crate::file_node::{FileNode, Problems};
use crate::{Error, Result};
use answers::Answer;
use document::{Query, RowFilter};
use output::Output;

pub(crate) use answers::Answers;
pub use protocol_kind::has_command_line;
pub(crate) use protocol_kind::{FamilyProtocol, ProtocolKind};
pub(crate) use recording::RecordedAnswer;
pub(crate) use row::Row;

/// A source of rows.
#[derive(Debug)]
pub(crate) enum Source {
    Output(Box<Output>),
    Document(Box<Query>),
}

impl Source {
    /// Reads a source; its mapping may also have the key `also`.
    pub(crate) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        also: &str,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        match protocol_kind {
            ProtocolKind::Commands => {
                top.only(&["command", "textfsm", "textfsm_file", also], problems);
                Output::read(top, read, problems).map(|output| Self::Output(Box::new(output)))
            }
            ProtocolKind::Rest
            | ProtocolKind::Netconf
            | ProtocolKind::Ovsdb
            | ProtocolKind::ReadOnly => {
                top.only(&[&Query::KEYS[..], &[also]].concat(), problems);
                let query = Query::read(top, protocol_kind, problems)?;
                Some(Self::Document(Box::new(query)))
            }
        }
    }

    /// The names of its rows' values.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::Output(output) => output.names(),
            Self::Document(document) => document.names(),
        }
    }

    /// Whether its rows come from a command's output, which must have at least one.
    pub(crate) fn is_output(&self) -> bool {
        matches!(self, Self::Output(_))
    }

    /// The depth of its rows in a document.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Output(_) => 0,
            Self::Document(document) => document.depth(),
        }
    }

    /// The commands or queries, as written in the family's file.
    pub(crate) fn queries(&self) -> Vec<&str> {
        match self {
            Self::Output(output) => vec![&*output.command],
            Self::Document(document) => document.queries(),
        }
    }

    /// Queries the device for everything that the rows need, each query once.
    ///
    /// # Errors
    /// Fails with errors of the session, and with answers that do not match.
    pub(crate) async fn fetch(
        &self,
        ctx: &Context<'_>,
        filter: &RowFilter<'_>,
        answers: &mut Answers,
    ) -> Result<()> {
        loop {
            let pending = self.pending(answers, filter)?;
            if pending.is_empty() {
                return Ok(());
            }
            for query in pending {
                let answer = self.send(ctx, &query).await?;
                answers.insert(query, answer);
            }
        }
    }

    /// Reads the answers from a recording; a query without a recording has an empty answer.
    ///
    /// # Errors
    /// Fails when answers do not match.
    pub(crate) fn replay<'o>(
        &self,
        answers: &mut Answers,
        known: impl Fn(&str) -> Option<&'o str>,
    ) -> Result<()> {
        loop {
            let pending = self.pending(answers, &|_| true)?;
            if pending.is_empty() {
                return Ok(());
            }
            for query in pending {
                let text = known(&query).unwrap_or_default().to_owned();
                let answer = match self {
                    Self::Output(_) => Answer::Output(text),
                    Self::Document(_) if text.trim().is_empty() => Answer::Document(Value::Undef),
                    Self::Document(_) => read_document(&query, Document::Text(text))?,
                };
                answers.insert(query, answer);
            }
        }
    }

    /// Returns the rows in the answers.
    ///
    /// # Errors
    /// Fails when answers do not match.
    pub(crate) fn rows(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<Row>> {
        match self {
            Self::Output(output) => output.rows(answers.output(&output.command)),
            Self::Document(document) => {
                let found = document.rows(answers, filter)?;
                Ok(found.into_iter().map(Row::Answer).collect())
            }
        }
    }

    /// Compiles the TextFSM template, which is otherwise compiled on first use.
    ///
    /// # Errors
    /// Fails when the TextFSM template is invalid.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Output(output) => output.check(),
            Self::Document(_) => Ok(()),
        }
    }

    /// The queries that have no answer yet.
    fn pending(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<String>> {
        match self {
            Self::Output(output) if answers.contains(&output.command) => Ok(Vec::new()),
            Self::Output(output) => Ok(vec![output.command.to_string()]),
            Self::Document(document) => document.pending(answers, filter),
        }
    }

    /// Sends one query. Every read of a device goes through here.
    async fn send(&self, ctx: &Context<'_>, query: &str) -> Result<Answer> {
        match self {
            Self::Output(_) => {
                let output = exec(ctx, session(ctx)?, query).await?;
                Ok(Answer::Output(output))
            }
            Self::Document(document) => {
                ctx.debug(format!("asks for `{query}`"));
                let store = ctx.data_store().ok_or_else(|| {
                    Error::Unsupported("the open session has no data to ask for".to_owned())
                })?;
                match store.get(ctx, query).await {
                    Ok(answer) => read_document(query, answer),
                    // It may have been removed since it was listed.
                    Err(transports::Error::Refused(refused))
                        if document.depends() && refused.is_absence() =>
                    {
                        ctx.info(format!("`{query}` is not there any more"));
                        Ok(Answer::Document(Value::Undef))
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}

fn read_document(query: &str, document: Document) -> Result<Answer> {
    let data = document.into_data().ok_or_else(|| Error::Answer {
        query: query.to_owned(),
        row: None,
        message: "it is neither JSON nor XML".to_owned(),
    })?;
    Ok(Answer::Document(data))
}
