//! What goes to stderr: what happens while it happens, without secrets, beside a progress bar.

mod raw;
mod retries;
mod terminal;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use anstream::{AutoStream, ColorChoice};
use devgate_schemas::{Course, Event, Level, Listen, Mask, Value, visible};
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::Value as Json;

use crate::cli::{Global, LogLevel, When};
use crate::lock::locked;
use crate::logdest::{LogDest, Logs};
use crate::output;
use crate::paint::{BAD, Paint, painted};
use crate::project::Format;
use crate::results::Answer;
use crate::wrap;
use retries::Retries;

/// Speaks to the person at the terminal.
#[derive(Clone, Debug)]
pub(crate) struct Voice(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    least: LogLevel,
    /// Whether there is no progress to be seen.
    quiet: bool,
    choice: ColorChoice,
    bar: ProgressBar,
    retries: Mutex<Retries>,
    /// Whether people read results, on stdout.
    shows_results: AtomicBool,
    /// The secrets of all targets that are worked on: no line leaves without passing these.
    mask: Mutex<Mask>,
    logs: Mutex<Logs>,
}

/// Hears the events of one target, and speaks of them; as long as it lives, the target's secrets
/// are in no line.
#[derive(Debug)]
pub(crate) struct Listener<'a> {
    voice: &'a Voice,
    mask: Mutex<Mask>,
    /// The warnings that were said: a session that is opened again says no news.
    warned: Mutex<HashSet<String>>,
}

impl Voice {
    /// A voice as the global options want it; log lines of libraries go through it too.
    pub(crate) fn new(global: &Global, color: When) -> Self {
        let default = match (global.quiet, global.verbose) {
            (true, _) => LogLevel::Error,
            (false, true) => LogLevel::Info,
            (false, false) => LogLevel::Notice,
        };
        let least = global.log_level.unwrap_or(default);
        let choice = color.on(&io::stderr());
        let voice = Self(Arc::new(Inner {
            least,
            quiet: global.quiet,
            choice,
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            retries: Mutex::default(),
            shows_results: AtomicBool::default(),
            mask: Mutex::default(),
            logs: Mutex::default(),
        }));
        raw::listen(&voice, least);
        voice
    }

    /// Begins the work on so many targets, with a bar if somebody watches.
    pub(crate) fn begin(&self, count: usize, results: Format) {
        let shows = results == Format::Human;
        self.0.shows_results.store(shows, Ordering::Relaxed);
        if count > 1 && !self.0.quiet && output::is_watched() {
            self.0.bar.set_length(count as u64);
            locked(&self.0.retries).count(true, &self.0.bar);
        }
    }

    /// Shows that time passes. A thread that did it would be one that may not be had.
    pub(crate) fn tick(&self) {
        self.0.bar.tick();
    }

    /// Shows how many targets are worked on, and how many have failed.
    pub(crate) fn progress(&self, running: usize, failed: usize) {
        let failed = match failed {
            0 => String::new(),
            failed => format!("{failed} failed, "),
        };
        self.0
            .bar
            .set_message(format!("{failed}{running} running, "));
    }

    /// One target is done; what `print` prints stands above the bar.
    pub(crate) fn step(&self, print: impl FnOnce()) {
        self.0.bar.inc(1);
        self.above(print);
    }

    /// What `print` prints stands above the bar.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        self.0.bar.suspend(print);
    }

    /// The work on many targets is done.
    pub(crate) fn end(&self) {
        self.0.shows_results.store(false, Ordering::Relaxed);
        locked(&self.0.retries).count(false, &self.0.bar);
    }

    /// Says a line at a level, if it is loud enough.
    pub(crate) fn say(&self, level: Level, line: &str) {
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
    pub(crate) fn log_to(&self, places: &[LogDest]) -> Result<(), String> {
        *locked(&self.0.logs) = Logs::open(places)?;
        Ok(())
    }

    /// Whether a line of a level is loud enough to be said.
    fn says(&self, level: Level) -> bool {
        let level = match level {
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Notice => LogLevel::Notice,
            Level::Warning => LogLevel::Warn,
            Level::Err => LogLevel::Error,
        };
        level >= self.0.least
    }

    /// Prints a text without the secrets.
    pub(crate) fn print(&self, text: &str) {
        self.show(&self.masked(text));
    }

    /// A text without the secrets of all targets that are worked on.
    fn masked(&self, text: &str) -> String {
        locked(&self.0.mask).text(text).into_owned()
    }

    fn show(&self, text: &str) {
        self.0.bar.suspend(|| {
            let mut stderr = AutoStream::new(io::stderr(), self.0.choice);
            let text = wrap::wrapped(&painted(text), wrap::width(&io::stderr()));
            let _ = stderr.write_all(text.as_bytes());
        });
    }
}

impl<'a> Listener<'a> {
    /// Hears one target's events, of which no secret is known yet.
    pub(crate) fn new(voice: &'a Voice) -> Self {
        Self {
            voice,
            mask: Mutex::default(),
            warned: Mutex::default(),
        }
    }

    /// Keeps these secrets of the target out of everything from now on.
    pub(crate) fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        let mut own = locked(&self.mask);
        let mut all = locked(&self.voice.0.mask);
        all.leave(&own);
        own.add(secrets);
        all.join(&own);
    }

    /// A text without the target's secrets.
    pub(crate) fn masked_text(&self, text: &str) -> String {
        locked(&self.mask).text(text).into_owned()
    }

    /// Data without the target's secrets.
    pub(crate) fn masked_value(&self, value: Json) -> Json {
        locked(&self.mask).json(value)
    }

    /// What became of the target, without its secrets.
    pub(crate) fn masked(&self, answer: Answer) -> Answer {
        Answer {
            value: self.masked_value(answer.value),
            text: answer.text.map(|text| self.masked_text(&text)),
            ..answer
        }
    }
}

/// A target that is done is no reason any more to hide a text in what is said of others.
impl Drop for Listener<'_> {
    fn drop(&mut self) {
        locked(&self.voice.0.mask).leave(&locked(&self.mask));
    }
}

impl Listen for Listener<'_> {
    fn hear(&self, event: Event) {
        let Event {
            level,
            target,
            subject,
            message,
            course,
        } = event;
        // What nobody hears needs no mask, which is the dearer the more secrets there are.
        if !self.voice.says(level) {
            return;
        }
        let mut line = format!("{target}: ");
        if let Some(subject) = subject {
            // Writing to a String cannot fail.
            let _ = write!(line, "{subject}: ");
        }
        line.push_str(&locked(&self.mask).text(&message));
        if matches!(level, Level::Warning) && !locked(&self.warned).insert(line.clone()) {
            return;
        }
        let Inner {
            bar,
            retries,
            shows_results,
            ..
        } = &*self.voice.0;
        self.voice.tell(level, &line, |line| match course {
            Course::Again if output::is_watched() => {
                locked(retries).show(&target, visible(line).into_owned(), bar);
            }
            Course::InResult if shows_results.load(Ordering::Relaxed) => {}
            Course::Once | Course::Again | Course::InResult => self.voice.line(level, line),
        });
    }

    fn settled(&self, target: &str) {
        let Inner { bar, retries, .. } = &*self.voice.0;
        locked(retries).settled(target, bar);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::cli::Cli;

    fn voice() -> Voice {
        Voice::new(Cli::parse_from(["devgate", "demo"]).global(), When::Never)
    }

    #[test]
    fn what_became_of_a_target_holds_none_of_its_secrets() {
        let voice = voice();
        let listener = Listener::new(&voice);
        listener.hide(&[Value::from("canary").into_sensitive()]);
        let value = json!({"password": "canary", "_error": {"msg": "it said canary1"}});
        let answer = listener.masked(Answer::success(value).with_text("a canary".into()));
        assert_eq!(
            answer.value,
            json!({"password": "Sensitive [value redacted]", "_error": {"msg": "it said ********1"}})
        );
        assert_eq!(answer.text.as_deref(), Some("a ********"));
    }

    #[test]
    fn the_secrets_of_finished_targets_are_forgotten() {
        let voice = voice();
        for _ in 0..1000 {
            Listener::new(&voice).hide(&[Value::from("canary").into_sensitive()]);
        }
        assert_eq!(voice.masked("a canary"), "a canary");
    }
}
