//! Queries whose answers are documents, and the rows in them.

use std::collections::HashMap;
use std::sync::Arc;

use devgate_schemas::{Hash, Value, did_you_mean};

use super::answers::Answers;
use super::path::{self, Path};
use super::protocol_kind::ProtocolKind;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Expression, Scope, Template};
use crate::{Error, Result};

/// Decides which rows of `each` are queried.
pub(super) type RowFilter<'w> = dyn Fn(&Hash) -> bool + Sync + 'w;

/// A query, the values of each row of its answer, and joins with other answers.
#[derive(Debug)]
pub(crate) struct Query {
    /// The query is sent once for each row of this one, with the row's values.
    each: Option<Box<Self>>,
    part: Part,
    join: Vec<Join>,
    /// The condition that a row must satisfy.
    keep: Option<WithLocation<Expression>>,
}

/// A row of a document.
#[derive(Debug)]
pub(crate) struct DocumentRow {
    pub(super) query: Arc<str>,
    /// The number of the row in the answer, counted from 1.
    pub(super) number: usize,
    pub(super) values: Hash,
}

/// A query and the rows of its answer.
#[derive(Debug)]
struct Part {
    query: WithLocation<Template>,
    /// The query as written.
    source: String,
    rows: Option<Path>,
    values: Vec<(String, Path)>,
}

/// Values of another answer, joined where a value of its rows equals a value of this answer's rows.
#[derive(Debug)]
struct Join {
    part: Part,
    ours: String,
    theirs: String,
}

impl Query {
    /// The keys of a query.
    pub(super) const KEYS: [&str; 6] = ["ask", "each", "rows", "values", "join", "keep"];

    /// Reads a query.
    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        problems: &mut Problems,
    ) -> Option<Self> {
        // After a problem in `each`, its names would only be reported as unknown, too.
        let each = top.optional("each", |each| {
            each.only(&Self::KEYS, problems);
            Self::read(each, protocol_kind, problems).map(Box::new)
        })?;
        let mut names: Vec<String> = owned(each.iter().flat_map(|each| each.names()));
        let part = Part::read(top, protocol_kind, &mut names, problems);
        let mut join = Vec::new();
        for file_node in top.get("join").iter().flat_map(FileNode::items) {
            join.push(Join::read(&file_node, protocol_kind, &mut names, problems));
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

    /// The names of its rows' values.
    pub(super) fn names(&self) -> Vec<&str> {
        let each = self.each.iter().flat_map(|each| each.names());
        let join = self.join.iter().flat_map(|join| join.part.names());
        each.chain(self.part.names()).chain(join).collect()
    }

    /// The depth of its rows.
    pub(super) fn depth(&self) -> usize {
        self.part.rows.as_ref().map_or(0, Path::len)
    }

    /// The queries, as written.
    pub(super) fn queries(&self) -> Vec<&str> {
        let each = self.each.iter().flat_map(|each| each.queries());
        let parts = [&self.part]
            .into_iter()
            .chain(self.join.iter().map(|join| &join.part));
        each.chain(parts.map(|part| part.source.as_str())).collect()
    }

    /// Whether its queries depend on other answers.
    pub(super) fn depends(&self) -> bool {
        self.each.is_some()
    }

    /// The queries that have no answer yet.
    pub(super) fn pending(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<String>> {
        if let Some(each) = &self.each {
            let pending = each.pending(answers, filter)?;
            if !pending.is_empty() {
                return Ok(pending);
            }
        }
        let mut pending = Vec::new();
        for outer in self.outer(answers, filter)? {
            pending.push(self.part.query(&outer)?);
        }
        for join in &self.join {
            pending.push(join.part.query(&Hash::new())?);
        }
        pending.retain(|query| !answers.contains(query));
        Ok(pending)
    }

    /// The rows in the answers.
    pub(super) fn rows(
        &self,
        answers: &Answers,
        filter: &RowFilter<'_>,
    ) -> Result<Vec<DocumentRow>> {
        let mut rows = Vec::new();
        for outer in self.outer(answers, filter)? {
            rows.extend(self.part.rows(answers, &outer)?);
        }
        for join in &self.join {
            join.add(answers, &mut rows)?;
        }
        let Some(keep) = &self.keep else {
            return Ok(rows);
        };
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            let value = keep.value.evaluate(&Scope::of_row(&row.values));
            match value.map_err(|error| Error::Data(keep.problem(&error)))? {
                Value::Boolean(false) | Value::Undef => {}
                _ => kept.push(row),
            }
        }
        Ok(kept)
    }

    /// The values of each outer row that the query is sent for.
    fn outer(&self, answers: &Answers, filter: &RowFilter<'_>) -> Result<Vec<Hash>> {
        let Some(each) = &self.each else {
            return Ok(vec![Hash::new()]);
        };
        let rows = each.rows(answers, filter)?.into_iter();
        Ok(rows
            .map(|row| row.values)
            .filter(|values| filter(values))
            .collect())
    }
}

impl Part {
    /// Parses a query over these names, and adds the names of its own values to them.
    fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        names: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let query = top.required("ask", problems);
        let source = query
            .as_ref()
            .and_then(|file_node| file_node.text(problems));
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let query = query.and_then(|file_node| {
            file_node.escaping_template(source?, &known, protocol_kind.escape(), problems)
        });
        let rows = top.optional("rows", |rows| read_path(rows, problems));
        let mut values = Vec::new();
        for (name, file_node) in top.required("values", problems)?.pairs(problems) {
            if names.iter().any(|known| known == name) {
                problems.push(file_node.problem(format!("`{name}` has a value already")));
            }
            names.push(name.to_owned());
            values.extend(read_path(&file_node, problems).map(|path| (name.to_owned(), path)));
        }
        Some(Self {
            query: query?,
            source: source?.trim().to_owned(),
            rows: rows?,
            values,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }

    fn query(&self, outer: &Hash) -> Result<String> {
        let text = self.query.value.render(&Scope::of_row(outer));
        let text = text.map_err(|error| Error::Data(self.query.problem(&error)))?;
        Ok(text.trim().to_owned())
    }

    fn rows(&self, answers: &Answers, outer: &Hash) -> Result<Vec<DocumentRow>> {
        let query = self.query(outer)?;
        let document = answers.document(&query);
        let value = match &self.rows {
            Some(path) => path.value(document),
            None => document.clone(),
        };
        let query: Arc<str> = query.into();
        let row = |(number, value): (usize, Value)| {
            let mut values = outer.clone();
            for (name, path) in &self.values {
                values.insert(name.as_str(), path.value(&value));
            }
            DocumentRow {
                query: Arc::clone(&query),
                number,
                values,
            }
        };
        Ok((1..).zip(path::rows(value)).map(row).collect())
    }
}

impl Join {
    fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        names: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&["ask", "rows", "values", "on"], problems);
        let ours = names.clone();
        // The query is the same for all rows.
        let mut theirs = Vec::new();
        let part = Part::read(top, protocol_kind, &mut theirs, problems);
        for name in &theirs {
            if ours.contains(name) {
                problems.push(top.problem(format!("`{name}` has a value already")));
            }
        }
        names.extend(theirs.iter().cloned());
        let on = top.required("on", problems)?;
        let pairs = on.pairs(problems);
        let [(our, file_node)] = pairs.as_slice() else {
            problems.push(on.problem("expected one pair: a name of ours, and the same of theirs"));
            return None;
        };
        let their = file_node.text(problems)?;
        for (name, known) in [(*our, &ours), (their, &theirs)] {
            if !known.iter().any(|known| known == name) {
                let hint = did_you_mean(name, known.iter().map(String::as_str));
                problems.push(file_node.problem(format!("`{name}` is not known here{hint}")));
            }
        }
        Some(Self {
            part: part?,
            ours: (*our).to_owned(),
            theirs: their.to_owned(),
        })
    }

    /// Adds to each row the values of the first row of the joined answer that has the same value. If either
    /// value is a list, one equal item is sufficient.
    fn add(&self, answers: &Answers, rows: &mut [DocumentRow]) -> Result<()> {
        let theirs = self.part.rows(answers, &Hash::new())?;
        let mut index: HashMap<String, &DocumentRow> = HashMap::new();
        for row in &theirs {
            for key in keys(&row.values, &self.theirs) {
                index.entry(key).or_insert(row);
            }
        }
        for row in rows {
            let mut keys = keys(&row.values, &self.ours).into_iter();
            let value = keys.find_map(|key| index.get(&key));
            for name in self.part.names() {
                let value = value.and_then(|value| value.values.get(name));
                row.values
                    .insert(name, value.cloned().unwrap_or(Value::Undef));
            }
        }
        Ok(())
    }
}

fn keys(values: &Hash, name: &str) -> Vec<String> {
    match values.get(name) {
        None | Some(Value::Undef) => Vec::new(),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.to_json().to_string())
            .collect(),
        Some(one) => vec![one.to_json().to_string()],
    }
}

fn read_path(file_node: &FileNode<'_>, problems: &mut Problems) -> Option<Path> {
    let text = file_node.text(problems)?;
    Path::read(text)
        .map_err(|message| problems.push(file_node.problem(message)))
        .ok()
}

fn owned<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.map(str::to_owned).collect()
}
