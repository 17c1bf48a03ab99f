//! A device's answers.

use std::collections::HashMap;

use devgate_schemas::Value;

use super::request::{Format, Request};

/// A device's answers, by the names of the requests.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    outputs: HashMap<String, Answer>,
    documents: HashMap<String, Answer>,
}

#[derive(Debug)]
pub(super) enum Answer {
    /// The output of a command.
    Output(String),
    Document(Value),
    /// The device has nothing of this kind.
    Nothing,
}

impl Answers {
    pub(super) fn insert(&mut self, request: Request, answer: Answer) {
        let answers = match request.format {
            Format::Text => &mut self.outputs,
            Format::Data => &mut self.documents,
        };
        answers.insert(request.name, answer);
    }

    /// The answer to a request.
    pub(super) fn get(&self, request: &Request) -> Option<&Answer> {
        match request.format {
            Format::Text => self.outputs.get(&request.name),
            Format::Data => self.documents.get(&request.name),
        }
    }

    /// The output of a command, for messages.
    pub(super) fn output(&self, command: &str) -> &str {
        match self.outputs.get(command) {
            Some(Answer::Output(output)) => output,
            _ => "",
        }
    }
}
