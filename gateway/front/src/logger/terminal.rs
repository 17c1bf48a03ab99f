//! A terminal on which lines are redrawn.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};

use console::Term;
use devgate_core::lock::locked;
use devgate_engine::process::Stream;
use indicatif::TermLike;

use crate::print_queue::PrintQueue;

/// Leaves the cursor at the beginning of the last drawn line. At its end, the `^C` of Ctrl-C would begin another line,
/// and the next redraw would miss the line above it.
#[derive(Debug)]
pub(super) struct RedrawnTerminal {
    queue: Arc<PrintQueue>,
    /// The output of one redraw.
    drawn: Mutex<String>,
}

impl RedrawnTerminal {
    /// The terminal of stderr.
    pub(super) fn stderr(queue: &Arc<PrintQueue>) -> Box<Self> {
        Box::new(Self {
            queue: Arc::clone(queue),
            drawn: Mutex::default(),
        })
    }

    /// Moves the cursor with the control sequence that ends with this letter (ECMA-48, 8.3).
    fn moved(&self, steps: usize, letter: char) -> io::Result<()> {
        if steps > 0 {
            // Writing to a String cannot fail.
            let _ = write!(locked(&self.drawn), "\u{1b}[{steps}{letter}");
        }
        Ok(())
    }
}

impl TermLike for RedrawnTerminal {
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

    /// Ends a redraw.
    fn flush(&self) -> io::Result<()> {
        let mut drawn = std::mem::take(&mut *locked(&self.drawn));
        drawn.push('\r');
        self.queue.print(Stream::Stderr, drawn.as_bytes());
        Ok(())
    }
}
