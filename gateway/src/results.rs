//! What became of targets, one by one: for people as text, for programs in Bolt's envelope.

mod collected;

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub(crate) use self::collected::{Collected, Origin};
use crate::failure::Failure;
use crate::output::{Output, seconds};
use crate::paint::{BAD, GOOD, Paint};
use crate::project::Format;

/// What is asked of many targets.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Action {
    /// What was asked of it.
    ///
    /// It is a kind of action: `task`, `explain`, `facts`, `verify`, `device`.
    #[serde(rename = "action")]
    pub(crate) name: &'static str,
    /// The task's name.
    ///
    /// Only a task has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<String>,
    /// Whether people get the texts of the targets alone, to be kept in a file: what is said besides is
    /// a comment.
    #[serde(skip)]
    pub(crate) is_document: bool,
}

/// What came of it on one target.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Whether it went well.
    pub(crate) status: Status,
    /// The result; with `_error` where it failed.
    pub(crate) value: Json,
    /// What a person reads instead of the value.
    #[serde(skip)]
    pub(crate) text: Option<String>,
    /// When the facts were collected, where `cached` or `stale_ok` is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) collected: Option<Collected>,
}

/// What became of one target.
///
/// It is a line of the results.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Item<'a> {
    /// The target's name.
    pub(crate) target: &'a str,
    #[serde(flatten)]
    pub(crate) action: &'a Action,
    #[serde(flatten)]
    pub(crate) answer: &'a Answer,
}

/// Whether it went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
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
    statuses: Vec<(String, Status)>,
    ended: bool,
}

/// The action that does nothing but tell what another would do.
pub(crate) const EXPLAIN: &str = "explain";

impl Action {
    /// An action that has no object.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            object: None,
            is_document: false,
        }
    }

    /// The same, whose answers are documents.
    pub(crate) fn with_document(self) -> Self {
        Self {
            is_document: true,
            ..self
        }
    }
}

impl Answer {
    /// A success.
    pub(crate) fn success(value: Json) -> Self {
        Self {
            status: Status::Success,
            value,
            text: None,
            collected: None,
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
            collected: None,
        }
    }
}

impl Item<'_> {
    /// The text alone, under the target's name; that there was an error, which stderr has, as a comment.
    fn document(&self) -> String {
        let text = self.answer.text.as_deref().unwrap_or_default();
        let error = match self.error() {
            Some(_) => " (failed, or not whole: see standard error)",
            None => "",
        };
        format!("# {}{error}\n{text}", self.target)
    }

    /// Why it failed.
    fn error(&self) -> Option<&str> {
        self.answer.value.pointer("/_error/msg")?.as_str()
    }

    fn human(&self) -> String {
        let (style, word) = match (self.answer.status, self.action.name) {
            (Status::Success, EXPLAIN) => (GOOD, "Would run"),
            (Status::Failure, EXPLAIN) => (BAD, "Would fail"),
            (Status::Success, _) => (GOOD, "Finished"),
            (Status::Failure, _) => (BAD, "Failed"),
        };
        let mut text = format!("{style}{word} on {}:{style:#}\n", self.target);
        let value = &self.answer.value;
        let message = self.error();
        let mut paragraphs: Vec<String> = Vec::new();
        paragraphs.extend(self.answer.collected.as_ref().map(Collected::human));
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
                text.push_str(
                    &match diff_style(line).filter(|_| self.action.name == "device") {
                        Some(style) => format!("  {style}{line}{style:#}\n"),
                        None => format!("  {line}\n"),
                    },
                );
            }
        }
        text
    }
}

/// How a line of a report is coloured that says what changes: its sign says the same.
fn diff_style(line: &str) -> Option<Paint> {
    let change = line.strip_prefix("    ")?;
    match change.split_once(' ')?.0 {
        "+" => Some(GOOD),
        "-" => Some(BAD),
        _ => None,
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
        if output.format() == Format::Json {
            output.begin();
            output.text("{ \"items\": [\n");
        }
        Self {
            output,
            action,
            begun: Instant::now(),
            statuses: Vec::new(),
            ended: false,
        }
    }

    /// Tells people that the work on a target begins. Looking at a device is too quick to be told.
    pub(crate) fn start(&self, target: &str) {
        let output = self.output;
        if self.action.name == "task" && output.format() == Format::Human && !output.is_quiet() {
            output.line(format!("{GOOD}Started on {target}...{GOOD:#}"));
        }
    }

    /// Prints what became of one target.
    pub(crate) fn item(&mut self, target: &str, answer: &Answer) {
        let item = Item {
            target,
            action: &self.action,
            answer,
        };
        let json = || serde_json::to_string(&item).expect("results have text keys");
        match self.output.format() {
            Format::Human if self.action.is_document => {
                if let Some(error) = item.error() {
                    self.output.complain(&format!("{target}: {error}"));
                }
                self.output.text(&item.document());
            }
            Format::Human => self.output.fitted(&item.human()),
            Format::Json => {
                let separator = if self.statuses.is_empty() { "" } else { ",\n" };
                self.output.text(&format!("{separator}{}", json()));
            }
            Format::Jsonl => self.output.line(json()),
        }
        self.statuses.push((target.to_owned(), answer.status));
    }

    /// Prints the sum, with why there is no more of it.
    pub(crate) fn end(mut self, cut_short: Option<Failure>) {
        self.ended = true;
        let elapsed = self.begun.elapsed();
        let count = self.statuses.len();
        match self.output.format() {
            Format::Human
                if self.action.name == EXPLAIN
                    || self.action.is_document
                    || self.output.is_quiet() => {}
            Format::Human => self.sum(count, elapsed),
            Format::Json => {
                let seconds = elapsed.as_secs();
                let error = cut_short.map(|failure| format!(", {}", as_member(failure)));
                self.output.text(&format!(
                    "\n],\n\"target_count\": {count}, \"elapsed_time\": {seconds}{} }}\n",
                    error.unwrap_or_default()
                ));
            }
            Format::Jsonl => {}
        }
    }

    fn sum(&self, count: usize, elapsed: Duration) {
        let failed: Vec<&str> = self
            .statuses
            .iter()
            .filter(|(_, status)| *status == Status::Failure)
            .map(|(target, _)| target.as_str())
            .collect();
        let successful = count - failed.len();
        if successful > 0 {
            let targets = counted(successful);
            self.output
                .line(format!("{GOOD}Successful on {targets}{GOOD:#}"));
        }
        // Of many targets, those are named that somebody has to look after.
        if !failed.is_empty() {
            let (targets, names) = (counted(failed.len()), failed.join(","));
            self.output
                .line(format!("{BAD}Failed on {targets}: {names}{BAD:#}"));
        }
        self.output
            .line(format!("Ran on {} in {}", counted(count), seconds(elapsed)));
    }
}

/// A document that was begun is one, whatever ends the run.
impl Drop for Results<'_> {
    fn drop(&mut self) {
        if !self.ended && self.output.format() == Format::Json {
            let failure = Failure::new("devgate/error", "the run broke off: see standard error");
            self.output
                .text(&format!("\n],\n{} }}\n", as_member(failure)));
        }
    }
}

/// `"_error": {…}`, to stand in an object.
fn as_member(failure: Failure) -> String {
    let object = failure.into_value().to_string();
    object[1..object.len() - 1].to_owned()
}

/// So many targets: `1 target`.
pub(crate) fn counted(targets: usize) -> String {
    format!("{targets} target{}", if targets == 1 { "" } else { "s" })
}
