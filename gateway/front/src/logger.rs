//! What goes to stderr: what happens while it happens, without secrets, beside a progress bar.

mod raw;
mod retries;
mod terminal;

use std::fmt::Write as _;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use anstream::ColorChoice;
use devgate_core::lock::locked;
use devgate_core::redactor::Sink;
use devgate_engine::process::Stream;
use devgate_engine::project::Format;
use devgate_schemas::{Event, EventDisplay, Level, Mask, visible};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::logdest::{LogDest, Logs};
use crate::options::{ColorWhen, GlobalOptions, LogLevel};
use crate::paint::{BAD, Paint, for_stream, painted};
use crate::print_queue::PrintQueue;
use crate::{printer, wrap};
use retries::Retries;

/// Speaks to the person at the terminal.
#[derive(Clone, Debug)]
pub struct Logger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    least: LogLevel,
    /// Whether there is no progress to be seen.
    quiet: bool,
    choice: ColorChoice,
    queue: Arc<PrintQueue>,
    bar: ProgressBar,
    retries: Mutex<Retries>,
    /// Whether people read results, on stdout.
    shows_results: AtomicBool,
    /// The secrets of all targets that are worked on, of every run: no line leaves without passing these.
    mask: Mutex<Mask>,
    logs: Mutex<Logs>,
}

impl Logger {
    /// A voice as the global options want it; log lines of libraries go through it too.
    pub fn new(global: &GlobalOptions, color: ColorWhen, queue: &Arc<PrintQueue>) -> Self {
        let default = match (global.quiet, global.verbose) {
            (true, _) => LogLevel::Error,
            (false, true) => LogLevel::Info,
            (false, false) => LogLevel::Notice,
        };
        let least = global.log_level.unwrap_or(default);
        let choice = color.on(&io::stderr());
        let logger = Self(Arc::new(Inner {
            least,
            quiet: global.quiet,
            choice,
            queue: Arc::clone(queue),
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            retries: Mutex::new(Retries::new(queue)),
            shows_results: AtomicBool::default(),
            mask: Mutex::default(),
            logs: Mutex::default(),
        }));
        raw::listen(&logger, least);
        logger
    }

    /// The least level that it says.
    pub fn least(&self) -> Level {
        match self.0.least {
            LogLevel::Trace | LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Notice => Level::Notice,
            LogLevel::Warn => Level::Warning,
            LogLevel::Error => Level::Err,
        }
    }

    /// Begins the work on so many targets, with a bar if somebody watches.
    pub fn begin(&self, count: usize, results: Format) {
        let shows = results == Format::Human;
        self.0.shows_results.store(shows, Ordering::Relaxed);
        if count > 1 && !self.0.quiet && printer::is_watched() {
            self.0.bar.set_length(count as u64);
            locked(&self.0.retries).count(true, &self.0.bar);
        }
    }

    /// Shows that time passes, to who has read so far. A thread that did it would be one that may not be had.
    pub fn tick(&self) {
        if self.0.queue.is_done() {
            self.0.bar.tick();
        }
    }

    /// What prints what it says.
    pub fn queue(&self) -> &PrintQueue {
        &self.0.queue
    }

    /// Shows how many targets are worked on, and how many have failed.
    pub fn progress(&self, running: usize, failed: usize) {
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} failed, "),
        };
        self.0
            .bar
            .set_message(format!("{failed}{running} running, "));
    }

    /// One target is done; what `print` prints stands above the bar.
    pub fn step(&self, print: impl FnOnce()) {
        self.0.bar.inc(1);
        self.above(print);
    }

    /// What `print` prints stands above the bar.
    pub fn above(&self, print: impl FnOnce()) {
        self.0.bar.suspend(print);
    }

    /// The work on many targets is done.
    pub fn end(&self) {
        self.0.shows_results.store(false, Ordering::Relaxed);
        locked(&self.0.retries).count(false, &self.0.bar);
    }

    /// Says a line at a level, if it is loud enough.
    pub fn say(&self, level: Level, line: &str) {
        self.tell(level, line, |line| self.line(level, line));
    }

    /// Writes a line to the logs, and has the terminal show it, if it is loud enough.
    fn tell(&self, level: Level, line: &str, show: impl FnOnce(&str)) {
        if !self.says(level) {
            return;
        }
        let line = self.masked(line);
        let mut logs = locked(&self.0.logs);
        logs.write(level, &visible(&line));
        if logs.console {
            show(&line);
        }
    }

    /// Prints a line that holds no secret any more.
    fn line(&self, level: Level, line: &str) {
        let (style, word) = match level {
            Level::Debug => (Paint::Grey, "debug"),
            Level::Info => (Paint::Plain, "info"),
            Level::Notice => (Paint::Cyan, "notice"),
            Level::Warning => (Paint::Yellow, "warning"),
            Level::Err => (BAD, "error"),
        };
        self.show(&format!("{style}{word}:{style:#} {line}\n"));
    }

    /// Says everything in these places from now on.
    ///
    /// # Errors
    /// Which one cannot be written to.
    pub fn log_to(&self, places: &[LogDest]) -> Result<(), String> {
        *locked(&self.0.logs) = Logs::open(places)?;
        Ok(())
    }

    /// Prints a text without the secrets.
    pub fn print(&self, text: &str) {
        self.show(&self.masked(text));
    }

    /// A text without the secrets of all targets that are worked on.
    fn masked(&self, text: &str) -> String {
        locked(&self.0.mask).text(text).into_owned()
    }

    fn show(&self, text: &str) {
        self.0.bar.suspend(|| {
            let text = wrap::wrapped(&painted(text), wrap::width(&io::stderr()));
            let bytes = for_stream(&text, self.0.choice);
            self.0.queue.print(Stream::Stderr, &bytes);
        });
    }
}

/// Hears what belongs to no run, and the events of runs, from which the secrets have been taken.
impl Sink for Logger {
    fn says(&self, level: Level) -> bool {
        level >= self.least()
    }

    fn take(&self, event: Event) {
        let Event {
            level,
            target,
            subject,
            message,
            display,
        } = event;
        let mut line = String::new();
        for about in [Some(&target), subject.as_ref()].into_iter().flatten() {
            if !about.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(line, "{about}: ");
            }
        }
        line.push_str(&message);
        let Inner {
            bar,
            retries,
            shows_results,
            ..
        } = &*self.0;
        self.tell(level, &line, |line| match display {
            EventDisplay::Again if printer::is_watched() => {
                locked(retries).show(&target, visible(line).into_owned(), bar);
            }
            EventDisplay::InResult if shows_results.load(Ordering::Relaxed) => {}
            EventDisplay::Once | EventDisplay::Again | EventDisplay::InResult => {
                self.line(level, line)
            }
        });
    }

    fn settled(&self, target: &str) {
        let Inner { bar, retries, .. } = &*self.0;
        locked(retries).settled(target, bar);
    }

    fn mask(&self) -> &Mutex<Mask> {
        &self.0.mask
    }
}
