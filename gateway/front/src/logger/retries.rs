//! Retries on a terminal: one line per target, above the progress bar of the run.

use std::sync::Arc;

use console::{Term, truncate_str};
use indexmap::IndexMap;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::logger::terminal::RedrawnTerminal;
use crate::print_queue::PrintQueue;

/// The maximum number of lines.
const MAX_LINES: usize = 10;

/// The maximum number of redraws per second.
const REDRAW_RATE: u8 = 20;

/// The progress bar of a run with many targets.
const BAR_TEMPLATE: &str = "{pos}/{len} targets, {msg}{elapsed} {wide_bar}";

/// The lines, and whether a bar is below them.
#[derive(Debug)]
pub(super) struct Retries {
    queue: Arc<PrintQueue>,
    lines: IndexMap<String, String>,
    has_bar: bool,
}

impl Retries {
    /// No lines.
    pub(super) fn new(queue: &Arc<PrintQueue>) -> Self {
        Self {
            queue: Arc::clone(queue),
            lines: IndexMap::new(),
            has_bar: false,
        }
    }

    /// Shows or hides the bar.
    pub(super) fn set_bar(&mut self, has_bar: bool, bar: &ProgressBar) {
        self.has_bar = has_bar;
        self.draw(bar);
    }

    /// Shows the line of a target.
    pub(super) fn show(&mut self, target: &str, line: String, bar: &ProgressBar) {
        self.lines.insert(target.to_owned(), line);
        self.draw(bar);
    }

    /// Removes the line of a target.
    pub(super) fn remove(&mut self, target: &str, bar: &ProgressBar) {
        if self.lines.shift_remove(target).is_some() {
            self.draw(bar);
        }
    }

    fn draw(&self, bar: &ProgressBar) {
        let template = match (self.lines.is_empty(), self.has_bar) {
            (true, false) => return bar.finish_and_clear(),
            (true, true) => BAR_TEMPLATE.to_owned(),
            (false, false) => "{prefix}".to_owned(),
            (false, true) => format!("{{prefix}}\n{BAR_TEMPLATE}"),
        };
        let style = ProgressStyle::with_template(&template);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        if bar.is_hidden() {
            bar.set_draw_target(ProgressDrawTarget::term_like_with_hz(
                RedrawnTerminal::stderr(&self.queue),
                REDRAW_RATE,
            ));
        }
        if bar.is_finished() {
            bar.reset();
        }
        let (_, width) = Term::stderr().size();
        bar.set_prefix(self.text(usize::from(width)));
    }

    /// The lines, truncated to the width.
    fn text(&self, width: usize) -> String {
        let mut lines: Vec<String> = self
            .lines
            .values()
            .take(MAX_LINES)
            .map(|line| truncate_str(line, width, "…").into_owned())
            .collect();
        if let Some(more @ 1..) = self.lines.len().checked_sub(MAX_LINES) {
            lines.push(format!("{more} more targets are retried"));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_one_line_and_no_line_is_wider_than_the_terminal() {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let mut retries = Retries::new(&Arc::default());
        for number in 0..12 {
            retries.show(&format!("r{number}"), format!("r{number}: try 2"), &bar);
        }
        retries.show("r0", "r0: try 3 follows in a while".to_owned(), &bar);
        let text = retries.text(12);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 11);
        assert_eq!((lines[0], lines[1]), ("r0: try 3 f…", "r1: try 2"));
        assert_eq!(lines[10], "2 more targets are retried");
        for number in 0..12 {
            retries.remove(&format!("r{number}"), &bar);
        }
        assert_eq!(retries.text(80), "");
    }
}
