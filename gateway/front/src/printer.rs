//! The printer: results on stdout, for people or for programs.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use anstream::ColorChoice;
use devgate_core::failure::Failure;
use devgate_engine::process::Stream;
use devgate_engine::project::Format;
use serde::Serialize;
use serde_json::json;

use crate::exit_status::ExitStatus;
use crate::options::{ColorWhen, GlobalOptions, RowFormat};
use crate::paint::{BAD, for_stream, painted};
use crate::print_queue::{LostStream, PrintQueue};
use crate::wrap;

pub use devgate_core::columns::table;

/// Prints results on stdout.
#[derive(Debug)]
pub struct Printer {
    queue: Arc<PrintQueue>,
    format: Cell<Format>,
    /// The format of rows, if only rows are printed.
    row_format: Option<RowFormat>,
    /// How results are coloured.
    result_color: Cell<ColorChoice>,
    /// Whether only results and errors are printed.
    quiet: bool,
    /// How messages on stderr are coloured.
    message_color: Cell<ColorChoice>,
    /// Whether a document has been started.
    has_begun: Cell<bool>,
    /// Whether the results are those of targets. A failure of the command then has the same form.
    has_items: Cell<bool>,
}

impl Printer {
    /// A printer with the settings of the global options.
    pub fn new(global: &GlobalOptions) -> Self {
        let mut printer = Self::plain(global.format().unwrap_or(Format::Human));
        printer.quiet = global.quiet;
        printer.row_format = global.row_format();
        printer.set_color(global.color());
        printer
    }

    /// Whether only results and errors are printed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// A printer for errors before the global options are known.
    pub fn plain(format: Format) -> Self {
        Self {
            queue: Arc::default(),
            format: Cell::new(format),
            row_format: None,
            result_color: Cell::new(ColorChoice::Never),
            quiet: false,
            message_color: Cell::new(ColorChoice::Never),
            has_begun: Cell::default(),
            has_items: Cell::default(),
        }
    }

    /// Changes the format from now on.
    pub fn set_format(&self, format: Format) {
        self.format.set(format);
    }

    /// Changes the colours from now on.
    pub fn set_color(&self, when: ColorWhen) {
        self.result_color.set(when.choice(&io::stdout()));
        self.message_color.set(when.choice(&io::stderr()));
    }

    /// The print queue, which all output of this process uses.
    pub fn queue(&self) -> &Arc<PrintQueue> {
        &self.queue
    }

    /// The format of the results.
    pub fn format(&self) -> Format {
        self.format.get()
    }

    /// The format of rows, if only rows are printed on stdout: what else people read is on stderr.
    pub fn row_format(&self) -> Option<RowFormat> {
        self.row_format
    }

    /// Prints a text. Control sequences other than our own colours are made harmless.
    ///
    /// If the reader has closed the stream (`| head`), this is no error. A reader that does not read is waited for, but
    /// cannot prevent the end of a run.
    pub fn text(&self, text: &str) {
        self.coloured(&painted(text));
    }

    /// Prints a text unchanged, byte by byte, unless it goes to a terminal.
    pub fn unchanged(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.text(text);
        } else {
            self.queue.print(Stream::Stdout, text.as_bytes());
        }
    }

    /// Prints a painted text, with colours if they are enabled.
    fn coloured(&self, text: &str) {
        let bytes = match self.format() {
            Format::Human => for_stream(text, self.result_color.get()),
            // Output for programs is not changed: U+007F is a valid character.
            Format::Json | Format::Jsonl => text.as_bytes().into(),
        };
        self.queue.print(Stream::Stdout, &bytes);
    }

    /// Prints a line, as a text.
    pub fn line(&self, line: impl AsRef<str>) {
        self.text(&format!("{}\n", line.as_ref()));
    }

    /// Prints why a command failed as a whole.
    pub fn refuse(&self, failure: Failure) -> ExitStatus {
        self.error(&failure.msg);
        self.failure(failure);
        ExitStatus::Failure
    }

    /// Notes that a document has been started, so that no other one is printed.
    pub fn begin(&self) {
        self.has_begun.set(true);
    }

    /// From now on, a failure of the command is printed in the form of target results.
    pub fn expect_items(&self) {
        self.has_items.set(true);
    }

    /// Prints a failure for programs. People read it on stderr.
    pub fn failure(&self, failure: Failure) {
        let mut value = failure.into_value();
        if self.has_begun.get() && self.format() == Format::Json {
            return;
        }
        if self.has_items.get() && self.format() == Format::Json {
            value = json!({ "items": [], "_error": value["_error"] });
        }
        if self.format() != Format::Human {
            self.line(value.to_string());
        }
    }

    /// Waits until all is printed. Fails if results could not be printed: a full disk is no success.
    pub async fn end(&self) -> Option<LostStream> {
        self.queue.drain().await;
        let lost = self.queue.take_lost(Stream::Stdout);
        let lost = lost.filter(|lost| !matches!(lost, LostStream::Closed));
        if let Some(lost) = &lost {
            self.error(&format!("results could not be printed: {lost}"));
            self.queue.drain().await;
        }
        lost.or_else(|| self.queue.take_lost(Stream::Stderr))
    }

    /// Prints an error on stderr.
    pub fn error(&self, message: &str) {
        let line = painted(&format!("{BAD}error:{BAD:#} {message}\n"));
        let line = wrap::wrapped(&line, wrap::width(&io::stderr()));
        let bytes = for_stream(&line, self.message_color.get());
        self.queue.print(Stream::Stderr, &bytes);
    }

    /// A writer of texts.
    pub fn writer(&self) -> impl Write + '_ {
        Writer(self)
    }

    /// Prints one document for reading. Lines are wrapped to the width of the terminal.
    pub fn page(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        match self.format() {
            Format::Human => self.wrapped(&human()),
            Format::Json | Format::Jsonl => self.document(json, String::new),
        }
    }

    /// Prints a text, wrapped to the width of the terminal.
    pub fn wrapped(&self, text: &str) {
        self.coloured(&wrap::wrapped(&painted(text), wrap::width(&io::stdout())));
    }

    /// Prints one document: JSON for programs, else the text of `human`.
    pub fn document(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        let expected = "results have text keys";
        match self.format() {
            Format::Human => self.text(&human()),
            Format::Json => self.line(serde_json::to_string_pretty(json).expect(expected)),
            Format::Jsonl => self.line(serde_json::to_string(json).expect(expected)),
        }
    }
}

/// Writes what was printed, also after a panic.
impl Drop for Printer {
    fn drop(&mut self) {
        self.queue.drain_blocking();
    }
}

/// Writes on the output.
struct Writer<'a>(&'a Printer);

impl Write for Writer<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.text(&String::from_utf8_lossy(text));
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A duration for people: `0.12 sec`, `2 min, 3 sec`.
pub fn seconds(time: Duration) -> String {
    match time.as_secs() {
        full @ 60.. => format!("{} min, {} sec", full / 60, full % 60),
        _ => format!("{:.2} sec", time.as_secs_f64()),
    }
}

/// Remarks after a name, such as ` (sensitive, required)`, or an empty text.
pub fn in_brackets(remarks: &[String]) -> String {
    if remarks.is_empty() {
        String::new()
    } else {
        format!(" ({})", remarks.join(", "))
    }
}

/// Whether stderr is a terminal.
pub fn is_stderr_terminal() -> bool {
    io::stderr().is_terminal()
}
