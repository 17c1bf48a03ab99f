//! The logger: messages on stderr, without secrets, with a progress bar.

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

/// Logs messages for people.
#[derive(Clone, Debug)]
pub struct Logger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    min_level: LogLevel,
    /// Whether no progress is shown.
    quiet: bool,
    color_choice: ColorChoice,
    queue: Arc<PrintQueue>,
    bar: ProgressBar,
    retries: Mutex<Retries>,
    /// Whether results on stdout are for people.
    shows_results: AtomicBool,
    /// The secrets of all current targets of all runs. Every line is masked with them.
    mask: Mutex<Mask>,
    logs: Mutex<Logs>,
}

impl Logger {
    /// A logger with the settings of the global options. It also takes the log lines of libraries.
    pub fn new(global: &GlobalOptions, color: ColorWhen, queue: &Arc<PrintQueue>) -> Self {
        let default = match (global.quiet, global.verbose) {
            (true, _) => LogLevel::Error,
            (false, true) => LogLevel::Info,
            (false, false) => LogLevel::Notice,
        };
        let min_level = global.log_level.unwrap_or(default);
        let color_choice = color.choice(&io::stderr());
        let logger = Self(Arc::new(Inner {
            min_level,
            quiet: global.quiet,
            color_choice,
            queue: Arc::clone(queue),
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            retries: Mutex::new(Retries::new(queue)),
            shows_results: AtomicBool::default(),
            mask: Mutex::default(),
            logs: Mutex::default(),
        }));
        raw::install(&logger, min_level);
        logger
    }

    /// The minimum level of messages.
    pub fn min_level(&self) -> Level {
        match self.0.min_level {
            LogLevel::Trace | LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Notice => Level::Notice,
            LogLevel::Warn => Level::Warning,
            LogLevel::Error => Level::Err,
        }
    }

    /// Starts the progress of a run with this number of targets. The bar is shown only on a terminal.
    pub fn begin_progress(&self, count: usize, results: Format) {
        let shows = results == Format::Human;
        self.0.shows_results.store(shows, Ordering::Relaxed);
        if count > 1 && !self.0.quiet && printer::is_stderr_terminal() {
            self.0.bar.set_length(count as u64);
            locked(&self.0.retries).set_bar(true, &self.0.bar);
        }
    }

    /// Updates the progress display. There is no thread for this, because the node may not allow one.
    pub fn tick(&self) {
        if self.0.queue.is_drained() {
            self.0.bar.tick();
        }
    }

    /// The queue that prints the messages.
    pub fn queue(&self) -> &PrintQueue {
        &self.0.queue
    }

    /// Shows how many targets are running, and how many have failed.
    pub fn progress(&self, running: usize, failed: usize) {
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} failed, "),
        };
        self.0
            .bar
            .set_message(format!("{failed}{running} running, "));
    }

    /// Counts a finished target. The output of `print` appears above the bar.
    pub fn count_finished(&self, print: impl FnOnce()) {
        self.0.bar.inc(1);
        self.above_bar(print);
    }

    /// The output of `print` appears above the bar.
    pub fn above_bar(&self, print: impl FnOnce()) {
        self.0.bar.suspend(print);
    }

    /// Ends the progress of a run.
    pub fn end_progress(&self) {
        self.0.shows_results.store(false, Ordering::Relaxed);
        locked(&self.0.retries).set_bar(false, &self.0.bar);
    }

    /// Logs a line at a level, if the level is enabled.
    pub fn log(&self, level: Level, line: &str) {
        self.emit(level, line, |line| self.line(level, line));
    }

    /// Writes a line to the log destinations, and shows it on the terminal if its level is enabled.
    fn emit(&self, level: Level, line: &str, show: impl FnOnce(&str)) {
        if !self.is_enabled(level) {
            return;
        }
        let line = self.masked(line);
        let mut logs = locked(&self.0.logs);
        let lost = logs.write(level, &visible(&line));
        if logs.console {
            show(&line);
        }
        // Where there is no log, this is shown.
        for message in lost {
            self.line(Level::Err, &message);
        }
    }

    /// Prints a line without secrets.
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

    /// Logs to these destinations from now on.
    ///
    /// # Errors
    /// A destination cannot be written.
    pub fn log_to(&self, destinations: &[LogDest]) -> Result<(), String> {
        *locked(&self.0.logs) = Logs::open(destinations)?;
        Ok(())
    }

    /// Returns whether a log destination has lost lines.
    pub fn has_lost_lines(&self) -> bool {
        locked(&self.0.logs).has_lost()
    }

    /// Prints a text with secrets masked.
    pub fn print(&self, text: &str) {
        self.show(&self.masked(text));
    }

    /// A text in which the secrets of all current targets are masked.
    fn masked(&self, text: &str) -> String {
        locked(&self.0.mask).text(text).into_owned()
    }

    fn show(&self, text: &str) {
        self.0.bar.suspend(|| {
            let text = wrap::wrapped(&painted(text), wrap::width(&io::stderr()));
            let bytes = for_stream(&text, self.0.color_choice);
            self.0.queue.print(Stream::Stderr, &bytes);
        });
    }
}

/// Takes events that belong to no run, and events of runs, which are already masked.
impl Sink for Logger {
    fn is_enabled(&self, level: Level) -> bool {
        level >= self.min_level()
    }

    fn accept(&self, event: Event) {
        let Event {
            level,
            target,
            subject,
            message,
            display,
        } = event;
        let mut line = String::new();
        for prefix in [Some(&target), subject.as_ref()].into_iter().flatten() {
            if !prefix.is_empty() {
                // Writing to a String cannot fail.
                let _ = write!(line, "{prefix}: ");
            }
        }
        line.push_str(&message);
        let Inner {
            bar,
            retries,
            shows_results,
            ..
        } = &*self.0;
        self.emit(level, &line, |line| match display {
            EventDisplay::Again if printer::is_stderr_terminal() => {
                locked(retries).show(&target, visible(line).into_owned(), bar);
            }
            EventDisplay::InResult if shows_results.load(Ordering::Relaxed) => {}
            EventDisplay::Once | EventDisplay::Again | EventDisplay::InResult => {
                self.line(level, line)
            }
        });
    }

    fn retries_ended(&self, target: &str) {
        let Inner { bar, retries, .. } = &*self.0;
        locked(retries).remove(target, bar);
    }

    fn mask(&self) -> &Mutex<Mask> {
        &self.0.mask
    }
}
