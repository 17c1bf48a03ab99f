//! A device's answers.

use std::collections::HashMap;

use devgate_schemas::Value;

/// A device's answers, by query.
#[derive(Debug, Default)]
pub(crate) struct Answers(HashMap<String, Answer>);

#[derive(Debug)]
pub(super) enum Answer {
    Output(String),
    Document(Value),
}

impl Answers {
    pub(super) fn insert(&mut self, query: String, answer: Answer) {
        self.0.insert(query, answer);
    }

    /// Whether a query has an answer.
    pub(super) fn contains(&self, query: &str) -> bool {
        self.0.contains_key(query)
    }

    /// The document that answers a query.
    pub(super) fn document(&self, query: &str) -> &Value {
        match self.0.get(query) {
            Some(Answer::Document(document)) => document,
            Some(Answer::Output(_)) | None => &Value::Undef,
        }
    }

    pub(super) fn output(&self, command: &str) -> &str {
        match self.0.get(command) {
            Some(Answer::Output(output)) => output,
            Some(Answer::Document(_)) | None => "",
        }
    }
}
