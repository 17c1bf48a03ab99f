//! What goes to stdout: results, for people or for programs.

use std::cell::{Cell, RefCell};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anstream::ColorChoice;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use serde_json::json;

use crate::cli::{Ending, Global, When};
use crate::failure::Failure;
use crate::interrupt;
use crate::paint::{BAD, painted};
use crate::project::Format;
use crate::wrap;

/// Stdout, and how to print on it.
#[derive(Debug)]
pub(crate) struct Output {
    format: Cell<Format>,
    stdout: RefCell<AutoStream<io::Stdout>>,
    /// Whether people want results and errors alone.
    quiet: bool,
    /// How words on stderr are coloured.
    words: Cell<ColorChoice>,
    /// Whether a document was begun.
    has_begun: Cell<bool>,
    /// Whether the command's results are those of targets: a failure of the whole then has their form.
    has_items: Cell<bool>,
    /// Why results could not be printed.
    lost: RefCell<Option<io::Error>>,
}

/// How much a pipe takes at once that takes anything (POSIX).
const ROOM: usize = 512;

/// How long a reader who takes nothing is waited for when somebody wants to stop.
const UNREAD: Duration = Duration::from_secs(5);

impl Output {
    /// Stdout, as the global options want it.
    pub(crate) fn new(global: &Global) -> Self {
        let choice = global.color().on(&io::stdout());
        let format = Cell::new(global.format.unwrap_or(Format::Human));
        Self {
            format,
            stdout: RefCell::new(AutoStream::new(io::stdout(), choice)),
            quiet: global.quiet,
            words: Cell::new(global.color().on(&io::stderr())),
            has_begun: Cell::default(),
            has_items: Cell::default(),
            lost: RefCell::default(),
        }
    }

    /// Whether people want results and errors alone.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Stdout, before it is known what the global options want.
    pub(crate) fn plain(format: Format) -> Self {
        Self {
            format: Cell::new(format),
            stdout: RefCell::new(AutoStream::never(io::stdout())),
            quiet: false,
            words: Cell::new(ColorChoice::Never),
            has_begun: Cell::default(),
            has_items: Cell::default(),
            lost: RefCell::default(),
        }
    }

    /// Prints in another way from now on.
    pub(crate) fn print_as(&self, format: Format) {
        self.format.set(format);
    }

    /// Colours in another way from now on.
    pub(crate) fn colour(&self, when: When) {
        let stdout = AutoStream::new(io::stdout(), when.on(&io::stdout()));
        self.stdout.replace(stdout);
        self.words.set(when.on(&io::stderr()));
    }

    /// Who reads the results, and how.
    pub(crate) fn format(&self) -> Format {
        self.format.get()
    }

    /// Prints a text, in which nothing but our own colours is acted upon by a terminal.
    ///
    /// A reader who has gone away (`| head`) wants no more, and no complaint. One who is there and
    /// reads nothing is waited for, but does not keep a run from being stopped.
    pub(crate) fn text(&self, text: &str) {
        let text = painted(text);
        self.write(text.as_bytes(), &mut *self.stdout.borrow_mut());
    }

    /// Prints a text as it is, to the byte, unless a terminal would act upon it.
    pub(crate) fn exact(&self, text: &str) {
        let stdout = io::stdout();
        if stdout.is_terminal() {
            self.text(text);
        } else {
            self.write(text.as_bytes(), &mut stdout.lock());
        }
    }

    fn write(&self, text: &[u8], stdout: &mut impl Write) {
        let mut lost = self.lost.borrow_mut();
        for chunk in text.chunks(ROOM) {
            if lost.is_some() {
                return;
            }
            let written = |()| match self.format() {
                Format::Human => stdout.write_all(chunk).and_then(|()| stdout.flush()),
                // Nothing is taken out of what a program reads: U+007F is a character, too.
                Format::Json | Format::Jsonl => {
                    let mut stdout = io::stdout();
                    stdout.write_all(chunk).and_then(|()| stdout.flush())
                }
            };
            let printed = taken(&io::stdout()).and_then(written);
            match printed {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
                printed => *lost = printed.err(),
            }
        }
    }

    /// Prints a line, as a text.
    pub(crate) fn line(&self, line: impl AsRef<str>) {
        self.text(&format!("{}\n", line.as_ref()));
    }

    /// Prints why a request could not be carried out at all.
    pub(crate) fn refuse(&self, failure: Failure) -> Ending {
        self.complain(&failure.msg);
        self.failure(failure);
        Ending::Badly
    }

    /// A document is begun: whatever ends the command, there is no other.
    pub(crate) fn begin(&self) {
        self.has_begun.set(true);
    }

    /// From now on a failure of the whole is told in the form that results of targets have.
    pub(crate) fn expect_items(&self) {
        self.has_items.set(true);
    }

    /// Prints a failure for programs; people have read it on stderr.
    pub(crate) fn failure(&self, failure: Failure) {
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

    /// Says whether all results were printed: a full disk must not pass for a success.
    pub(crate) fn end(&self) -> Result<(), ()> {
        match self.lost.take() {
            None => Ok(()),
            Some(error) => {
                self.complain(&format!("results could not be printed: {error}"));
                Err(())
            }
        }
    }

    /// Says on stderr what is wrong.
    pub(crate) fn complain(&self, message: &str) {
        let mut stderr = AutoStream::new(io::stderr(), self.words.get());
        let line = painted(&format!("{BAD}error:{BAD:#} {message}\n"));
        let line = wrap::wrapped(&line, wrap::width(&io::stderr()));
        let _ = stderr.write_all(line.as_bytes());
    }

    /// A writer of texts.
    pub(crate) fn writer(&self) -> impl Write + '_ {
        Writer(self)
    }

    /// Prints one document that people read and nobody copies: no line of it is wider than the terminal.
    pub(crate) fn page(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        match self.format() {
            Format::Human => self.fitted(&human()),
            Format::Json | Format::Jsonl => self.document(json, String::new),
        }
    }

    /// Prints a text, of which no line is wider than the terminal.
    pub(crate) fn fitted(&self, text: &str) {
        let text = wrap::wrapped(&painted(text), wrap::width(&io::stdout()));
        self.write(text.as_bytes(), &mut *self.stdout.borrow_mut());
    }

    /// Prints one document: as JSON for programs, else as the text that `human` makes.
    pub(crate) fn document(&self, json: &impl Serialize, human: impl FnOnce() -> String) {
        let expected = "results have text keys";
        match self.format() {
            Format::Human => self.text(&human()),
            Format::Json => self.line(serde_json::to_string_pretty(json).expect(expected)),
            Format::Jsonl => self.line(serde_json::to_string(json).expect(expected)),
        }
    }
}

/// Waits until somebody takes what is written.
fn taken(stdout: &impl AsFd) -> io::Result<()> {
    let mut asked: Option<Instant> = None;
    loop {
        let mut fds = [PollFd::new(stdout.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut fds, PollTimeout::from(200_u8)) {
            Ok(0) | Err(Errno::EINTR) => {}
            // Writing tells what is wrong.
            Ok(_) | Err(_) => return Ok(()),
        }
        if interrupt::asked().is_some() && asked.get_or_insert_with(Instant::now).elapsed() > UNREAD
        {
            return Err(io::Error::other("nobody reads them"));
        }
    }
}

/// Writes on the output.
struct Writer<'a>(&'a Output);

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
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        whole @ 60.. => format!("{} min, {} sec", whole / 60, whole % 60),
        _ => format!("{:.2} sec", time.as_secs_f64()),
    }
}

/// Columns of text, as wide as their widest cell; the last is not padded.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
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
pub(crate) fn in_brackets(remarks: &[String]) -> String {
    if remarks.is_empty() {
        String::new()
    } else {
        format!(" ({})", remarks.join(", "))
    }
}

/// Whether somebody watches stderr.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
