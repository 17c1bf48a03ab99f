//! The terminal on which lines are drawn in place of others.

use std::io;

use console::Term;
use indicatif::TermLike;

/// Leaves the cursor at the beginning of the last line that was drawn. At its end, where it would be, the `^C` that a
/// terminal shows for Ctrl-C begins another line, and the one above it is not found any more when all is drawn anew.
#[derive(Debug)]
pub(super) struct Terminal(Term);

impl Terminal {
    /// The one of stderr.
    pub(super) fn stderr() -> Box<Self> {
        Box::new(Self(Term::buffered_stderr()))
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        self.0.size().1
    }

    fn height(&self) -> u16 {
        self.0.size().0
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.0.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.0.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    /// All has been drawn.
    fn flush(&self) -> io::Result<()> {
        self.0.write_str("\r")?;
        self.0.flush()
    }
}
