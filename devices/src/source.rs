//! Sources of rows: the output of a command, parsed with TextFSM, or a document, from which paths select
//! values. Facts and resources are built from rows in the same way.

mod answers;
mod join;
mod output;
mod part;
mod path;
mod protocol_kind;
mod recording;
mod request;
mod row;
#[cfg(test)]
mod tests;
mod together;

use devgate_schemas::{Hash, Value};
use devgate_transports::Context;

use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Expression, Scope};
use crate::{Error, Result, Table};
use answers::Answer;
use join::Join;
use part::Part;
use request::Request;

pub(crate) use answers::Answers;
pub(crate) use output::WHOLE_OUTPUT;
pub use protocol_kind::has_command_line;
pub(crate) use protocol_kind::{FamilyProtocol, ProtocolKind};
pub(crate) use recording::RecordedAnswer;
pub(crate) use row::Row;

/// Decides which rows of `each` are asked about.
type RowFilter<'w> = dyn Fn(&Hash) -> bool + Sync + 'w;

/// A source of rows: a request, the values of each row of its answer, and joins with other answers.
#[derive(Debug)]
pub(crate) struct Source {
    /// The request is sent once for each row of this one, with the row's values.
    each: Option<Box<Self>>,
    part: Part,
    join: Vec<Join>,
    /// The condition that a row must satisfy.
    keep: Option<WithLocation<Expression>>,
}

/// A request whose answer a recording lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The command or query.
    pub query: String,
    /// Whether a device may refuse it.
    pub is_optional: bool,
}

impl Source {
    /// Reads a source; its mapping may also have the keys `also`. `read` returns the text of another file of the
    /// family.
    pub(crate) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        also: &[&str],
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let keys = Part::keys(protocol_kind);
        top.only(&[keys, &["each", "join", "keep"], also].concat(), problems);
        // After a problem in `each`, its names would only be reported as unknown, too.
        let each = top.optional("each", |each| {
            Self::read(each, protocol_kind, &[], read, problems).map(Box::new)
        })?;
        let names = each.iter().flat_map(|each| each.names());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        let part = Part::read(top, protocol_kind, read, &mut names, problems);
        let mut join = Vec::new();
        for file_node in top.get("join").iter().flat_map(FileNode::items) {
            join.push(Join::read(
                &file_node,
                protocol_kind,
                read,
                &mut names,
                problems,
            ));
        }
        let keep = top.get("keep").and_then(|file_node| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            file_node.expression(&names, problems)
        });
        Some(Self {
            each,
            part: part?,
            join: join.into_iter().collect::<Option<_>>()?,
            keep,
        })
    }

    /// A command, whose output a TextFSM template parses after each line is indented by its depth. Its mapping may also
    /// have the keys `also`.
    pub(crate) fn of_lines(
        top: &FileNode<'_>,
        protocol: &FamilyProtocol,
        template: String,
        also: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&[&["command", "optional"], also].concat(), problems);
        Some(Self {
            each: None,
            part: Part::of_lines(top, protocol, template, problems)?,
            join: Vec::new(),
            keep: None,
        })
    }

    /// The names of its rows' values.
    pub(crate) fn names(&self) -> Vec<&str> {
        let each = self.each.iter().flat_map(|each| each.names());
        each.chain(self.parts().flat_map(Part::names)).collect()
    }

    /// Whether it is remarkable if there are no rows.
    pub(crate) fn expects_rows(&self) -> bool {
        self.part.expects_rows() && self.each.is_none() && self.keep.is_none()
    }

    /// The depth of its rows in a document, and the name of their elements.
    pub(crate) fn depth(&self) -> (usize, &str) {
        self.part.depth()
    }

    /// The commands or queries, as written in the family's file.
    pub(crate) fn queries(&self) -> Vec<&str> {
        let each = self.each.iter().flat_map(|each| each.queries());
        each.chain(self.parts().map(Part::label)).collect()
    }

    /// The first command or query that must have an answer and has none.
    pub(crate) fn missing(&self, is_known: &dyn Fn(&str) -> bool) -> Option<&str> {
        let each = self.each.as_ref().and_then(|each| each.missing(is_known));
        let mut required = self.parts().filter_map(Part::required);
        each.or_else(|| required.find(|query| !is_known(query)))
    }

    /// Asks the device for everything that the rows need, each request once.
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
            together::run_together(ctx, &pending, answers).await?;
            for request in pending {
                if answers.get(&request).is_none() {
                    let answer = request.send(ctx).await?;
                    answers.insert(request, answer);
                }
            }
        }
    }

    /// Runs the commands of several sources that depend on no answer. Together, they take less time over a slow link. A
    /// command that is refused is run again by [`fetch`](Self::fetch), which reports it.
    ///
    /// # Errors
    /// Fails when the session is lost.
    pub(crate) async fn prefetch<'s>(
        ctx: &Context<'_>,
        sources: impl Iterator<Item = &'s Self> + Send,
        answers: &mut Answers,
    ) -> Result<()> {
        let mut requests = Vec::new();
        for source in sources {
            // What cannot be asked for is told by `fetch`.
            requests.extend(source.pending(answers, &|_| true).unwrap_or_default());
        }
        together::run_together(ctx, &requests, answers).await
    }

    /// Whether all its requests are answered.
    pub(crate) fn is_answered(&self, answers: &Answers) -> bool {
        let pending = self.pending(answers, &|_| true);
        pending.is_ok_and(|pending| pending.is_empty())
    }

    /// Reads the answers from a recording; a request without a recording has an empty answer.
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
            for request in pending {
                let answer = request.recorded(known(&request.name))?;
                answers.insert(request, answer);
            }
        }
    }

    /// The requests that a recording still lacks. Those that depend on a missing answer are not among them.
    pub(crate) fn unanswered<'o>(
        &self,
        known: impl Fn(&str) -> Option<&'o str>,
    ) -> Vec<Unanswered> {
        let (mut answers, mut unanswered) = (Answers::default(), Vec::new());
        // What depends on an answer that does not match cannot be known.
        while let Ok(pending) = self.pending(&answers, &|_| true)
            && !pending.is_empty()
        {
            for request in pending {
                let text = known(&request.name);
                if text.is_none() {
                    unanswered.push(Unanswered {
                        query: request.name.clone(),
                        is_optional: request.is_optional,
                    });
                }
                let answer = text.map(|text| request.recorded(Some(text)).ok());
                answers.insert(request, answer.flatten().unwrap_or(Answer::Nothing));
            }
        }
        unanswered
    }

    /// Returns the rows in the answers.
    ///
    /// # Errors
    /// Fails when answers do not match.
    pub(crate) fn rows(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for outer in self.outer(answers, filter)? {
            for mut row in self.part.rows(answers, &outer)? {
                for (name, value) in outer.iter() {
                    row.set(&name.to_string(), value.clone());
                }
                rows.push(row);
            }
        }
        for join in &self.join {
            join.add(answers, &mut rows)?;
        }
        let Some(keep) = &self.keep else {
            return Ok(rows);
        };
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            let value = keep.value.evaluate(&Scope::of_row(row.values()));
            match value.map_err(|error| Error::Data(keep.problem(&error)))? {
                Value::Boolean(false) | Value::Undef => {}
                _ => kept.push(row),
            }
        }
        Ok(kept)
    }

    /// Returns the rows in the answers, for a type with exactly one resource. An output without rows is one row, whose
    /// values are all empty.
    ///
    /// # Errors
    /// Fails as [`rows`](Self::rows) does.
    pub(crate) fn rows_of_one(
        &self,
        answers: &Answers,
        filter: &RowFilter<'_>,
    ) -> Result<Vec<Row>> {
        let mut rows = self.rows(answers, filter)?;
        let is_plain = self.each.is_none() && self.join.is_empty() && self.keep.is_none();
        if rows.is_empty() && is_plain {
            rows.extend(self.part.empty_row(answers)?);
        }
        Ok(rows)
    }

    /// Returns the table of a command's output, if this source reads the command with TextFSM.
    pub(crate) fn table(&self, command: &str, output: &str) -> Option<Result<Table>> {
        self.parts().find_map(|part| part.table(command, output))
    }

    /// Compiles the TextFSM templates, which are otherwise compiled on first use.
    ///
    /// # Errors
    /// Fails when a TextFSM template is invalid.
    pub(crate) fn check(&self) -> Result<()> {
        self.each.iter().try_for_each(|each| each.check())?;
        self.parts().try_for_each(Part::check)
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        let join = self.join.iter().map(|join| &join.part);
        [&self.part].into_iter().chain(join)
    }

    /// The requests that have no answer yet.
    fn pending(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<Request>> {
        if let Some(each) = &self.each {
            let pending = each.pending(answers, filter)?;
            if !pending.is_empty() {
                return Ok(pending);
            }
        }
        let mut pending = Vec::new();
        for outer in self.outer(answers, filter)? {
            let mut request = self.part.request(&outer)?;
            request.depends = self.each.is_some();
            pending.push(request);
        }
        for join in &self.join {
            pending.push(join.request()?);
        }
        pending.retain(|request| answers.get(request).is_none());
        Ok(pending)
    }

    /// The values of each outer row that the request is sent for.
    fn outer(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<Hash>> {
        let Some(each) = &self.each else {
            return Ok(vec![Hash::new()]);
        };
        let rows = each.rows(answers, filter)?.into_iter();
        Ok(rows
            .map(Row::into_values)
            .filter(|values| filter(values))
            .collect())
    }
}
