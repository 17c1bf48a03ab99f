//! Sources of rows: the output of a command, parsed with TextFSM, or a document, from which paths select
//! values. Facts and resources are built from rows in the same way.

mod answers;
mod document;
mod output;
mod path;
mod protocol_kind;
mod row;

use devgate_schemas::Value;
use devgate_transports::{self as transports, Context, Document};

use crate::command_line::{exec, session};
use crate::file_node::{FileNode, Problems};
use crate::{Error, Result};
use answers::Answer;
use document::{Query, Wanted};
use output::Output;

pub(crate) use answers::Answers;
pub(crate) use protocol_kind::ProtocolKind;
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
            Self::Document(query) => query.names(),
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
            Self::Document(query) => query.depth(),
        }
    }

    /// The commands or queries, as written in the family's file.
    pub(crate) fn questions(&self) -> Vec<&str> {
        match self {
            Self::Output(output) => vec![&*output.command],
            Self::Document(query) => query.questions(),
        }
    }

    /// Queries the device for everything that the rows need, each query once.
    ///
    /// # Errors
    /// Fails with errors of the session, and with answers that do not match.
    pub(crate) async fn ask(
        &self,
        ctx: &Context<'_>,
        wanted: &Wanted<'_>,
        answers: &mut Answers,
    ) -> Result<()> {
        loop {
            let open = self.open(answers, wanted)?;
            if open.is_empty() {
                return Ok(());
            }
            for question in open {
                let answer = self.answer(ctx, &question).await?;
                answers.insert(question, answer);
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
            let open = self.open(answers, &|_| true)?;
            if open.is_empty() {
                return Ok(());
            }
            for question in open {
                let text = known(&question).unwrap_or_default().to_owned();
                let answer = match self {
                    Self::Output(_) => Answer::Output(text),
                    Self::Document(_) if text.trim().is_empty() => Answer::Document(Value::Undef),
                    Self::Document(_) => read_document(&question, Document::Text(text))?,
                };
                answers.insert(question, answer);
            }
        }
    }

    /// Returns the rows in the answers.
    ///
    /// # Errors
    /// Fails when answers do not match.
    pub(crate) fn rows(&self, answers: &Answers, wanted: &Wanted<'_>) -> Result<Vec<Row>> {
        match self {
            Self::Output(output) => output.rows(answers.output(&output.command)),
            Self::Document(query) => {
                let found = query.rows(answers, wanted)?;
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
    fn open(&self, answers: &Answers, wanted: &Wanted<'_>) -> Result<Vec<String>> {
        match self {
            Self::Output(output) if answers.contains(&output.command) => Ok(Vec::new()),
            Self::Output(output) => Ok(vec![output.command.to_string()]),
            Self::Document(query) => query.open(answers, wanted),
        }
    }

    /// Sends one query. Every read of a device goes through here.
    async fn answer(&self, ctx: &Context<'_>, question: &str) -> Result<Answer> {
        match self {
            Self::Output(_) => {
                let output = exec(ctx, session(ctx)?, question).await?;
                Ok(Answer::Output(output))
            }
            Self::Document(query) => {
                ctx.debug(format!("asks for `{question}`"));
                let store = ctx.data_store().ok_or_else(|| {
                    Error::Unsupported("the open session has no data to ask for".to_owned())
                })?;
                match store.get(ctx, question).await {
                    Ok(document) => read_document(question, document),
                    // It may have been removed since it was listed.
                    Err(transports::Error::Refused(refused))
                        if query.depends() && refused.is_absence() =>
                    {
                        ctx.info(format!("`{question}` is not there any more"));
                        Ok(Answer::Document(Value::Undef))
                    }
                    Err(error) => Err(error.into()),
                }
            }
        }
    }
}

fn read_document(question: &str, document: Document) -> Result<Answer> {
    let data = document.into_data().ok_or_else(|| Error::Answer {
        ask: question.to_owned(),
        row: None,
        message: "it is neither JSON nor XML".to_owned(),
    })?;
    Ok(Answer::Document(data))
}
