//! What goes to stdout: results, for people or for programs.

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
use crate::options::{ColorWhen, GlobalOptions};
use crate::paint::{BAD, for_stream, painted};
use crate::print_queue::{Lost, PrintQueue};
use crate::wrap;

/// Stdout, and how to print on it.
#[derive(Debug)]
pub struct Printer {
    queue: Arc<PrintQueue>,
    format: Cell<Format>,
    /// How results are coloured.
    results: Cell<ColorChoice>,
    /// Whether people want results and errors alone.
    quiet: bool,
    /// How words on stderr are coloured.
    words: Cell<ColorChoice>,
    /// Whether a document was begun.
    has_begun: Cell<bool>,
    /// Whether the command's results are those of targets: a failure of the whole then has their form.
    has_items: Cell<bool>,
}

impl Printer {
    /// Stdout, as the global options want it.
    pub fn new(global: &GlobalOptions) -> Self {
        let mut printer = Self::plain(global.format.unwrap_or(Format::Human));
        printer.quiet = global.quiet;
        printer.colour(global.color());
        printer
    }

    /// Whether people want results and errors alone.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Stdout, before it is known what the global options want.
    pub fn plain(format: Format) -> Self {
        Self {
            queue: Arc::default(),
            format: Cell::new(format),
            results: Cell::new(ColorChoice::Never),
            quiet: false,
            words: Cell::new(ColorChoice::Never),
            has_begun: Cell::default(),
            has_items: Cell::default(),
        }
    }

    /// Prints in another way from now on.
    pub fn print_as(&self, format: Format) {
        self.format.set(format);
    }

    /// Colours in another way from now on.
    pub fn colour(&self, when: ColorWhen) {
        self.results.set(when.on(&io::stdout()));
        self.words.set(when.on(&io::stderr()));
    }

    /// What prints: whatever else prints in this process does it there, too.
    pub fn queue(&self) -> &Arc<PrintQueue> {
        &self.queue
    }

    /// Who reads the results, and how.
    pub fn format(&self) -> Format {
        self.format.get()
    }

    /// Prints a text, in which nothing but our own colours is acted upon by a terminal.
    ///
    /// A reader who has gone away (`| head`) wants no more, and no complaint. One who is there and
    /// reads nothing is waited for, but does not keep a run from being stopped.
    pub fn text(&self, text: &str) {
        self.coloured(&painted(text));
    }

    /// Prints a text as it is, to the byte, unless a terminal would act upon it.
    pub fn exact(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.text(text);
        } else {
            self.queue.print(Stream::Stdout, text.as_bytes());
        }
    }

    /// Prints a painted text, with its colours where they are wanted.
    fn coloured(&self, text: &str) {
        let bytes = match self.format() {
            Format::Human => for_stream(text, self.results.get()),
            // Nothing is taken out of what a program reads: U+007F is a character, too.
            Format::Json | Format::Jsonl => text.as_bytes().into(),
        };
        self.queue.print(Stream::Stdout, &bytes);
    }

    /// Prints a line, as a text.
    pub fn line(&self, line: impl AsRef<str>) {
        self.text(&format!("{}\n", line.as_ref()));
    }

    /// Prints why a request could not be carried out at all.
    pub fn refuse(&self, failure: Failure) -> ExitStatus {
        self.complain(&failure.msg);
        self.failure(failure);
        ExitStatus::Failure
    }

    /// A document is begun: whatever ends the command, there is no other.
    pub fn begin(&self) {
        self.has_begun.set(true);
    }

    /// From now on a failure of the whole is told in the form that results of targets have.
    pub fn expect_items(&self) {
        self.has_items.set(true);
    }

    /// Prints a failure for programs; people have read it on stderr.
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

    /// Waits until all is printed; gives why results could not be: a full disk must not pass for a success.
    pub async fn end(&self) -> Option<Lost> {
        self.queue.done().await;
        let lost = self.queue.take_lost(Stream::Stdout);
        let lost = lost.filter(|lost| !matches!(lost, Lost::Gone));
        if let Some(lost) = &lost {
            self.complain(&format!("results could not be printed: {lost}"));
            self.queue.done().await;
        }
        lost.or_else(|| self.queue.take_lost(Stream::Stderr))
    }

    /// Says on stderr what is wrong.
    pub fn complain(&self, message: &str) {
        let line = painted(&format!("{BAD}error:{BAD:#} {message}\n"));
        let line = wrap::wrapped(&line, wrap::width(&io::stderr()));
        let bytes = for_stream(&line, self.words.get());
        self.queue.print(Stream::Stderr, &bytes);
    }

    /// A writer of texts.
    pub fn writer(&self) -> impl Write + '_ {
        Writer(self)
    }

    /// Prints one document that people read and nobody copies: no line of it is wider than the terminal.
    pub fn page(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        match self.format() {
            Format::Human => self.fitted(&human()),
            Format::Json | Format::Jsonl => self.document(json, String::new),
        }
    }

    /// Prints a text, of which no line is wider than the terminal.
    pub fn fitted(&self, text: &str) {
        self.coloured(&wrap::wrapped(&painted(text), wrap::width(&io::stdout())));
    }

    /// Prints one document: as JSON for programs, else as the text that `human` makes.
    pub fn document(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        let expected = "results have text keys";
        match self.format() {
            Format::Human => self.text(&human()),
            Format::Json => self.line(serde_json::to_string_pretty(json).expect(expected)),
            Format::Jsonl => self.line(serde_json::to_string(json).expect(expected)),
        }
    }
}

/// What was printed is written, also after a panic.
impl Drop for Printer {
    fn drop(&mut self) {
        self.queue.settle();
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

/// A time as people read it: `0.12 sec`, `2 min, 3 sec`.
pub fn seconds(time: Duration) -> String {
    match time.as_secs() {
        whole @ 60.. => format!("{} min, {} sec", whole / 60, whole % 60),
        _ => format!("{:.2} sec", time.as_secs_f64()),
    }
}

/// Columns of text, as wide as their widest cell; the last is not padded.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Remarks behind a name: ` (sensitive, required)`; nothing where there are none.
pub fn in_brackets(remarks: &[String]) -> String {
    if remarks.is_empty() {
        String::new()
    } else {
        format!(" ({})", remarks.join(", "))
    }
}

/// Whether somebody watches stderr.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}
