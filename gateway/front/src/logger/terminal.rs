//! The terminal on which lines are drawn in place of others.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

use console::Term;
use devgate_core::lock::locked;
use devgate_engine::process::Stream;
use indicatif::TermLike;

use crate::print_queue::PrintQueue;

/// Leaves the cursor at the beginning of the last line that was drawn. At its end, where it would be, the `^C` that a
/// terminal shows for Ctrl-C begins another line, and the one above it is not found any more when all is drawn anew.
#[derive(Debug)]
pub(super) struct Terminal {
    queue: Arc<PrintQueue>,
    /// What is drawn at once.
    drawn: Mutex<String>,
}

impl Terminal {
    /// The one of stderr.
    pub(super) fn stderr(queue: &Arc<PrintQueue>) -> Box<Self> {
        Box::new(Self {
            queue: Arc::clone(queue),
            drawn: Mutex::default(),
        })
    }

    /// Moves the cursor, by the control sequence that ends with this letter (ECMA-48, 8.3).
    fn moved(&self, steps: usize, letter: char) -> io::Result<()> {
        if steps > 0 {
            // Writing to a String cannot fail.
            let _ = write!(locked(&self.drawn), "\u{1b}[{steps}{letter}");
        }
        Ok(())
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        Term::stderr().size().1
    }

    fn height(&self) -> u16 {
        Term::stderr().size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.moved(lines, 'A')
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.moved(lines, 'B')
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.moved(columns, 'C')
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.moved(columns, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        locked(&self.drawn).push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_str("\r\u{1b}[2K")
    }

    /// All has been drawn.
    fn flush(&self) -> io::Result<()> {
        let mut drawn = std::mem::take(&mut *locked(&self.drawn));
        drawn.push('\r');
        self.queue.print(Stream::Stderr, drawn.as_bytes());
        Ok(())
    }
}
