//! Prints the results of many targets as they arrive: text for people, Bolt's JSON for programs.

use std::time::{Duration, Instant};

use devgate_core::failure::Failure;
use devgate_core::results::{
    Action, Collected, EXPLAIN, Item, Origin, Status, TargetResult, counted,
};
use devgate_engine::device_run::RESOURCE_FAILURE;
use devgate_engine::project::Format;
use devgate_front::options::RowFormat;
use devgate_front::paint::{BAD, GOOD, Paint};
use devgate_front::printer::{Printer, seconds};
use serde_json::Value as Json;

use crate::rows::TargetRows;

/// Prints the results of many targets as they arrive.
#[derive(Debug)]
pub(super) struct ResultPrinter<'a> {
    printer: &'a Printer,
    action: Action,
    started: Instant,
    statuses: Vec<(String, Status)>,
    /// The rows, if only they are printed.
    rows: Option<(RowFormat, TargetRows)>,
    ended: bool,
}

/// The colour of a line of a report that shows a change.
fn diff_style(line: &str) -> Option<Paint> {
    let change = line.strip_prefix("    ")?;
    match change.split_once(' ')?.0 {
        "+" => Some(GOOD),
        "-" => Some(BAD),
        _ => None,
    }
}

/// The value for people: plain output unchanged, the rest as JSON, without the error.
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

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

impl<'a> ResultPrinter<'a> {
    /// Starts the results of many targets.
    pub(super) fn begin(printer: &'a Printer, action: Action) -> Self {
        if printer.format() == Format::Json {
            printer.begin();
            printer.text("{ \"items\": [\n");
        }
        Self {
            printer,
            action,
            started: Instant::now(),
            statuses: Vec::new(),
            rows: printer
                .row_format()
                .map(|format| (format, TargetRows::default())),
            ended: false,
        }
    }

    /// Prints that the work on a target starts. Reading from a device is too quick for this message.
    pub(super) fn start(&self, target: &str) {
        let printer = self.printer;
        if self.action.name == "task" && printer.format() == Format::Human && !printer.is_quiet() {
            printer.line(format!("{GOOD}Started on {target}...{GOOD:#}"));
        }
    }

    /// Prints the result of one target.
    pub(super) fn item(&mut self, target: &str, result: &TargetResult) {
        let item = Item {
            target,
            action: &self.action,
            result,
        };
        let json = || serde_json::to_string(&item).expect("results have text keys");
        if (self.action.is_document || self.rows.is_some())
            && self.printer.format() == Format::Human
            && let Some(error) = error(&item)
        {
            self.printer.error(&format!("{target}: {error}"));
        }
        if let Some((_, rows)) = &mut self.rows {
            rows.add(target, &result.value);
        }
        match self.printer.format() {
            Format::Human if self.rows.is_some() => {}
            Format::Human if self.action.is_document => self.printer.text(&document(&item)),
            Format::Human => self.printer.wrapped(&human(&item)),
            Format::Json => {
                let separator = if self.statuses.is_empty() { "" } else { ",\n" };
                self.printer.text(&format!("{separator}{}", json()));
            }
            Format::Jsonl => self.printer.line(json()),
        }
        self.statuses.push((target.to_owned(), result.status));
    }

    /// Prints the summary, with the reason if the run was interrupted.
    pub(super) fn end(mut self, interruption: Option<Failure>) {
        self.ended = true;
        let elapsed = self.started.elapsed();
        let count = self.statuses.len();
        if let Some((format, rows)) = self.rows.take() {
            rows.print(self.printer, format);
            return;
        }
        match self.printer.format() {
            Format::Human
                if self.action.name == EXPLAIN
                    || self.action.is_document
                    || self.printer.is_quiet() => {}
            Format::Human => self.print_summary(count, elapsed),
            Format::Json => {
                let seconds = elapsed.as_secs();
                let error = interruption.map(|failure| format!(", {}", as_member(failure)));
                self.printer.text(&format!(
                    "\n],\n\"target_count\": {count}, \"elapsed_time\": {seconds}{} }}\n",
                    error.unwrap_or_default()
                ));
            }
            Format::Jsonl => {}
        }
    }

    fn print_summary(&self, count: usize, elapsed: Duration) {
        let failed: Vec<&str> = self
            .statuses
            .iter()
            .filter(|(_, status)| *status == Status::Failure)
            .map(|(target, _)| target.as_str())
            .collect();
        let successful = count - failed.len();
        if successful > 0 {
            let targets = counted(successful);
            self.printer
                .line(format!("{GOOD}Successful on {targets}{GOOD:#}"));
        }
        // For many targets, only failed ones are named.
        if !failed.is_empty() {
            let (targets, names) = (counted(failed.len()), failed.join(","));
            self.printer
                .line(format!("{BAD}Failed on {targets}: {names}{BAD:#}"));
        }
        self.printer
            .line(format!("Ran on {} in {}", counted(count), seconds(elapsed)));
    }
}

/// A started document is always completed.
impl Drop for ResultPrinter<'_> {
    fn drop(&mut self) {
        if !self.ended && self.printer.format() == Format::Json {
            let failure = Failure::new("devgate/error", "the run was aborted: see stderr");
            self.printer
                .text(&format!("\n],\n{} }}\n", as_member(failure)));
        }
    }
}

/// `"_error": {…}`, as a member of an object.
fn as_member(failure: Failure) -> String {
    let object = failure.into_value().to_string();
    object[1..object.len() - 1].to_owned()
}

/// The text alone, under the target's name. A comment notes an error, which is on stderr.
fn document(item: &Item<'_>) -> String {
    let text = item.result.text.as_deref().unwrap_or_default();
    let remark = match error(item) {
        Some(_) => " (failed or incomplete: see stderr)",
        None => "",
    };
    format!("# {}{remark}\n{text}", item.target)
}

/// Why a target failed.
fn error<'i>(item: &'i Item<'_>) -> Option<&'i str> {
    item.result.value.pointer("/_error/msg")?.as_str()
}

/// The text for people.
fn human(item: &Item<'_>) -> String {
    let (style, word) = match (item.result.status, item.action.name) {
        (Status::Success, EXPLAIN) => (GOOD, "Would run"),
        (Status::Failure, EXPLAIN) => (BAD, "Would fail"),
        (Status::Success, _) => (GOOD, "Finished"),
        (Status::Failure, _) => (BAD, "Failed"),
    };
    let mut text = format!("{style}{word} on {}:{style:#}\n", item.target);
    let value = &item.result.value;
    let message = error(item);
    let mut paragraphs: Vec<String> = Vec::new();
    paragraphs.extend(item.result.collected.as_ref().map(collected));
    // The report after it shows what failed, and why.
    let message = message.filter(|_| value["_error"]["kind"] != RESOURCE_FAILURE);
    paragraphs.extend(message.map(|message| format!("{BAD}{message}{BAD:#}")));
    for (detail, heading) in [("stderr", "stderr"), ("partial_output", "partial output")] {
        let text = value.pointer(&format!("/_error/details/{detail}"));
        let text = text
            .and_then(Json::as_str)
            .filter(|text| !text.trim().is_empty());
        paragraphs.extend(text.map(|text| format!("{heading}:\n{}", indented(text))));
    }
    match &item.result.text {
        Some(text) => paragraphs.push(text.clone()),
        None => paragraphs.extend(body(value)),
    }
    if paragraphs.is_empty() {
        paragraphs.push(format!(
            "{} completed successfully with no result",
            capitalized(item.action.name)
        ));
    }
    for paragraph in paragraphs {
        for line in paragraph.trim_end().lines() {
            text.push_str(
                &match diff_style(line).filter(|_| item.action.name == "device") {
                    Some(style) => format!("  {style}{line}{style:#}\n"),
                    None => format!("  {line}\n"),
                },
            );
        }
    }
    text
}

/// When facts were collected, and their source.
fn collected(it: &Collected) -> String {
    match (it.from, &it.because) {
        (Origin::Device, _) => format!("collected now ({})", it.at),
        (Origin::Cache, None) => {
            format!("from the cache, collected {} ago ({})", age(it.age), it.at)
        }
        (Origin::Cache, Some(why)) => format!(
            "STALE: from the cache, collected {} ago ({}), because the device is down: {why}",
            age(it.age),
            it.at
        ),
    }
}

/// An age for people: `12 minutes`.
fn age(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}
