//! What became of targets, one by one: for people as text, for programs in Bolt's envelope.

use std::time::Instant;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::Value as Json;

use crate::cli::Ending;
use crate::failure::Failure;
use crate::output::{BAD, Output, seconds};

/// What is asked of many targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Action {
    /// Its kind: `task`, `facts`, `verify`, `device`.
    #[serde(rename = "action")]
    pub(crate) name: &'static str,
    /// The task's name, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<String>,
}

/// What came of it on one target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Answer {
    /// Whether it went well.
    pub(crate) status: Status,
    /// The result; with `_error` where it failed.
    pub(crate) value: Json,
    /// What a person reads instead of the value.
    #[serde(skip)]
    pub(crate) text: Option<String>,
}

/// A line of the results: what became of one target.
#[derive(Serialize)]
struct Item<'a> {
    target: &'a str,
    #[serde(flatten)]
    action: &'a Action,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// Whether a target did what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Success,
    Failure,
}

/// Results of many targets, printed one by one as they come.
#[derive(Debug)]
pub(crate) struct Results<'a> {
    output: &'a Output,
    action: Action,
    begun: Instant,
    succeeded: Vec<String>,
    failed: Vec<String>,
}

const GOOD: Style = AnsiColor::Green.on_default();

impl Action {
    /// An action that has no object.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, object: None }
    }
}

impl Answer {
    /// A success.
    pub(crate) fn success(value: Json) -> Self {
        Self {
            status: Status::Success,
            value,
            text: None,
        }
    }

    /// The same answer, with a text for people.
    pub(crate) fn with_text(self, text: String) -> Self {
        Self {
            text: Some(text),
            ..self
        }
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Self {
        Self {
            status: Status::Failure,
            value: failure.into_value(),
            text: None,
        }
    }
}

impl Item<'_> {
    fn human(&self) -> String {
        let (style, word) = match self.answer.status {
            Status::Success => (GOOD, "Finished"),
            Status::Failure => (BAD, "Failed"),
        };
        let mut text = format!("{style}{word} on {}:{style:#}\n", self.target);
        let value = &self.answer.value;
        let message = value.pointer("/_error/msg").and_then(Json::as_str);
        let mut paragraphs: Vec<String> = Vec::new();
        paragraphs.extend(message.map(|message| format!("{BAD}{message}{BAD:#}")));
        for (detail, heading) in [("stderr", "stderr"), ("partial_output", "partial output")] {
            let text = value.pointer(&format!("/_error/details/{detail}"));
            let text = text
                .and_then(Json::as_str)
                .filter(|text| !text.trim().is_empty());
            paragraphs.extend(text.map(|text| format!("{heading}:\n{}", indented(text))));
        }
        match &self.answer.text {
            Some(text) => paragraphs.push(text.clone()),
            None => paragraphs.extend(body(value)),
        }
        if paragraphs.is_empty() {
            paragraphs.push(format!(
                "{} completed successfully with no result",
                sentence(self.action.name)
            ));
        }
        for paragraph in paragraphs {
            for line in paragraph.trim_end().lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        text
    }
}

/// The value as a person reads it: plain output as it is, the rest as JSON, the error left out.
fn body(value: &Json) -> Option<String> {
    let Json::Object(pairs) = value else {
        return Some(value.to_string());
    };
    let mut pairs = pairs.clone();
    pairs.shift_remove("_error");
    let output = pairs.shift_remove("_output");
    let output = output
        .map(|output| {
            output
                .as_str()
                .map_or_else(|| output.to_string(), str::to_owned)
        })
        .filter(|output| !output.trim().is_empty());
    let rest = (!pairs.is_empty())
        .then(|| serde_json::to_string_pretty(&Json::Object(pairs)).expect("keys are texts"));
    match (output, rest) {
        (Some(output), Some(rest)) => Some(format!("{}\n{rest}", output.trim_end())),
        (output, rest) => output.or(rest),
    }
}

fn indented(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect()
}

fn sentence(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

impl<'a> Results<'a> {
    /// Begins the results of many targets.
    pub(crate) fn begin(output: &'a Output, action: Action) -> Self {
        if output.is_json() {
            output.text("{ \"items\": [\n");
        }
        Self {
            output,
            action,
            begun: Instant::now(),
            succeeded: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Prints what became of one target.
    pub(crate) fn item(&mut self, target: &str, answer: &Answer) {
        let item = Item {
            target,
            action: &self.action,
            answer,
        };
        if self.output.is_json() {
            let first = self.succeeded.is_empty() && self.failed.is_empty();
            let separator = if first { "" } else { ",\n" };
            let json = serde_json::to_string(&item).expect("results have text keys");
            self.output.text(&format!("{separator}{json}"));
        } else {
            self.output.text(&item.human());
        }
        let list = match answer.status {
            Status::Success => &mut self.succeeded,
            Status::Failure => &mut self.failed,
        };
        list.push(target.to_owned());
    }

    /// Prints the sum, and says how it went.
    pub(crate) fn end(self) -> Ending {
        let elapsed = self.begun.elapsed();
        let count = self.succeeded.len() + self.failed.len();
        if self.output.is_json() {
            let seconds = elapsed.as_secs();
            self.output.text(&format!(
                "\n],\n\"target_count\": {count}, \"elapsed_time\": {seconds} }}\n"
            ));
        } else {
            for (style, word, targets) in [
                (GOOD, "Successful", &self.succeeded),
                (BAD, "Failed", &self.failed),
            ] {
                if !targets.is_empty() {
                    let names = targets.join(",");
                    let targets = counted(targets.len());
                    self.output
                        .line(format!("{style}{word} on {targets}: {names}{style:#}"));
                }
            }
            self.output
                .line(format!("Ran on {} in {}", counted(count), seconds(elapsed)));
        }
        if self.failed.is_empty() {
            Ending::Well
        } else {
            Ending::Badly
        }
    }
}

/// So many targets: `1 target`.
pub(crate) fn counted(targets: usize) -> String {
    format!("{targets} target{}", if targets == 1 { "" } else { "s" })
}
