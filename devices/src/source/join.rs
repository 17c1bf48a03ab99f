//! Values of another answer.

use std::collections::HashMap;

use devgate_schemas::{Hash, Value, did_you_mean};

use super::answers::Answers;
use super::part::Part;
use super::protocol_kind::ProtocolKind;
use super::request::Request;
use super::row::Row;
use crate::file_node::{FileNode, Problems};
use crate::{Error, Result};

/// Values of another answer, which are added to the rows of the first one.
#[derive(Debug)]
pub(super) struct Join {
    pub(super) part: Part,
    /// A value of ours, and the value of theirs that equals it. Without them, the other answer has one row at most.
    on: Option<(String, String)>,
}

impl Join {
    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        read: &dyn Fn(&str) -> Result<String>,
        names: &mut Vec<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&[Part::keys(protocol_kind), &["on"]].concat(), problems);
        let ours = names.clone();
        // The request is the same for all rows.
        let mut theirs = Vec::new();
        let part = Part::read(top, protocol_kind, read, &mut theirs, problems);
        for name in &theirs {
            if ours.contains(name) {
                problems.push(top.problem(format!("`{name}` has a value already")));
            }
        }
        names.extend(theirs.iter().cloned());
        let on = top.optional("on", |on| {
            let pairs = on.pairs(problems);
            let [(our, file_node)] = pairs.as_slice() else {
                let message = "expected one pair: a name of ours, and the same of theirs";
                problems.push(on.problem(message));
                return None;
            };
            let their = file_node.text(problems)?;
            for (name, known) in [(*our, &ours), (their, &theirs)] {
                if !known.iter().any(|known| known == name) {
                    let hint = did_you_mean(name, known.iter().map(String::as_str));
                    problems.push(file_node.problem(format!("`{name}` is not known here{hint}")));
                }
            }
            Some(((*our).to_owned(), their.to_owned()))
        });
        Some(Self {
            part: part?,
            on: on?,
        })
    }

    /// The request.
    pub(super) fn request(&self) -> Result<Request> {
        self.part.request(&Hash::new())
    }

    /// Adds to each row the values of the first row of the joined answer that has the same value. If either
    /// value is a list, one equal item is sufficient.
    ///
    /// # Errors
    /// Fails when the joined answer has several rows, and nothing tells which one is meant.
    pub(super) fn add(&self, answers: &Answers, rows: &mut [Row]) -> Result<()> {
        let theirs = self.part.rows(answers, &Hash::new())?;
        let mut index: HashMap<String, &Row> = HashMap::new();
        match &self.on {
            Some((_, their)) => {
                for row in &theirs {
                    for key in keys(row.values(), their) {
                        index.entry(key).or_insert(row);
                    }
                }
            }
            None if theirs.len() > 1 => {
                return Err(Error::Answer {
                    query: self.part.label().to_owned(),
                    row: Some(2),
                    message: "expected one row, or `on` in the family, which tells the rows apart"
                        .to_owned(),
                });
            }
            None => {}
        }
        for row in rows {
            let other = match &self.on {
                Some((our, _)) => {
                    let mut keys = keys(row.values(), our).into_iter();
                    keys.find_map(|key| index.get(&key).copied())
                }
                None => theirs.first(),
            };
            for name in self.part.names() {
                let value = other.and_then(|other| other.values().get(name));
                row.set(name, value.cloned().unwrap_or(Value::Undef));
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
