//! A terminal screen: a device's bytes become lines of text as they arrive.
//!
//! Escape sequences, NUL and other control bytes are dropped. Carriage returns, backspaces and cursor
//! movements within a line overwrite, as on a screen. A character that is split between two chunks is
//! reassembled, and invalid UTF-8 becomes U+FFFD. Each byte is examined once.

mod overwritten;
#[cfg(test)]
mod tests;

use crate::terminal::{COLUMNS, USUAL_WIDTHS};
use overwritten::{Overwritten, WIPED};

/// The number of columns at the end of a line over which a cursor can be moved back: several rows. It limits the
/// redrawing that a device can cause with each byte.
const REACH: usize = 8 * COLUMNS;

/// The number of bytes of an escape sequence that are kept. No supported sequence is longer.
const MAX_SEQUENCE_LENGTH: usize = 32;

/// The text that has arrived since the screen was last cleared. Its last line may still grow.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    text: String,
    last_line: usize,
    /// The end of the last line after the cursor has been moved back in it. `text` then contains its image.
    overwritten: Option<Overwritten>,
    escape: Escape,
    /// The first bytes of an incomplete character.
    split: Vec<u8>,
    /// The column of the cursor in the last line, from 0.
    column: usize,
    /// The farthest column in the last line, since it began or since [`mark`](Self::mark).
    farthest: usize,
    /// The number of vertical tabs received.
    vertical_tabs: usize,
    /// The previous contents of lines that were redrawn since [`mark`](Self::mark), with their starts; `None` if none
    /// are kept.
    begun_anew: Option<Vec<(usize, String)>>,
}

/// The position within an escape sequence (ECMA-48, 5.4 and 5.6).
#[derive(Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Started,
    /// In a control sequence, with its parameters.
    Control(Vec<u8>),
    /// In a string that BEL or ESC `\` ends. `escaped` tells whether ESC was the last byte.
    Text { escaped: bool },
}

impl Screen {
    /// Processes received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let joined: Vec<u8>;
        let bytes = if self.split.is_empty() {
            bytes
        } else {
            joined = [self.split.as_slice(), bytes].concat();
            self.split.clear();
            &joined
        };
        let mut rest = bytes;
        while let [first, ..] = rest {
            let ends = rest.starts_with(b"\r\n") && self.escape == Escape::None;
            if ends && self.overwritten.is_none() {
                // The carriage return moves the cursor in a line that ends here anyway.
                rest = &rest[1..];
                continue;
            }
            if self.escape != Escape::None || first.is_ascii_control() {
                self.control(*first);
                rest = &rest[1..];
                continue;
            }
            let end = rest
                .iter()
                .position(u8::is_ascii_control)
                .unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            self.print_bytes(run, after.is_empty());
            rest = after;
        }
        self.show_overwritten();
    }

    /// Returns the whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the last line, without its end.
    pub(crate) fn last_line(&self) -> &str {
        &self.text[self.last_line..]
    }

    /// Returns the start of the last line in the text.
    pub(crate) fn last_line_start(&self) -> usize {
        self.last_line
    }

    /// Returns whether no character or escape sequence is incomplete.
    pub(crate) fn is_settled(&self) -> bool {
        self.escape == Escape::None && self.split.is_empty()
    }

    /// Resets the farthest column of the last line, and keeps the contents of redrawn lines from now on.
    pub(crate) fn mark(&mut self) {
        self.farthest = self.column;
        self.begun_anew.get_or_insert_default();
    }

    /// Returns the contents of the line that begins at this offset before the device first returned to its beginning
    /// since [`mark`](Self::mark). Some devices redraw the line for each key, without the text before the prompt.
    pub(crate) fn before_redraw(&self, start: usize) -> Option<&str> {
        let mut kept = self.redrawn_lines();
        kept.find_map(|(at, line)| (*at == start).then_some(line.as_str()))
    }

    /// Returns the previous contents of all redrawn lines, with their starts.
    pub(crate) fn redrawn_lines(&self) -> impl Iterator<Item = &(usize, String)> {
        self.begun_anew.iter().flatten()
    }

    /// Returns the number of columns by which the last line has shrunk, since it began or since [`mark`](Self::mark).
    /// Returns 0 if the cursor is not at the end of the visible line.
    pub(crate) fn erased_columns(&self) -> usize {
        let shown = self.last_line().chars().count();
        if shown > self.column {
            return 0;
        }
        self.farthest - self.column
    }

    /// Returns the column of the cursor in the last line, from 0.
    pub(crate) fn column(&self) -> usize {
        self.column
    }

    /// Returns the number of vertical tabs received. A line editor does not echo those that are typed.
    pub(crate) fn vertical_tabs(&self) -> usize {
        self.vertical_tabs
    }

    /// Removes all but the last line, which may still grow.
    pub(crate) fn keep_last_line(&mut self) {
        self.text.drain(..self.last_line);
        self.text.shrink_to(RETAINED);
        if let Some(line) = &mut self.overwritten {
            line.at -= self.last_line;
        }
        self.last_line = 0;
        self.begun_anew = None;
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.begun_anew = None;
        self.text.shrink_to(RETAINED);
        self.last_line = 0;
        self.overwritten = None;
        (self.column, self.farthest) = (0, 0);
    }

    fn print_bytes(&mut self, run: &[u8], at_end: bool) {
        let mut chunks = run.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.print(chunk.valid());
            let invalid = chunk.invalid();
            if invalid.is_empty() {
                continue;
            }
            // An incomplete character may continue in the next chunk.
            let cut_off = at_end && chunks.peek().is_none() && is_incomplete_character(invalid);
            if cut_off {
                self.split.extend_from_slice(invalid);
            } else {
                self.print("\u{fffd}");
            }
        }
    }

    fn print(&mut self, text: &str) {
        match &mut self.overwritten {
            None => self.text.push_str(text),
            Some(line) => {
                text.chars().for_each(|character| line.print(character));
                if line.cells.len() > 2 * REACH {
                    self.settle();
                }
            }
        }
        self.column += text.chars().count();
        self.farthest = self.farthest.max(self.column);
    }

    /// Draws the line and makes the result final.
    fn settle(&mut self) {
        self.show_overwritten();
        self.overwritten = None;
    }

    fn control(&mut self, byte: u8) {
        match &mut self.escape {
            Escape::None => match byte {
                0x1b => self.escape = Escape::Started,
                b'\n' => self.new_line(),
                b'\t' => self.print("\t"),
                b'\r' if self.is_at_edge() => self.move_cursor(|column| column - 1),
                b'\r' => self.move_cursor(|column| column.saturating_sub(1) / COLUMNS * COLUMNS),
                0x0b => self.vertical_tabs += 1,
                0x08 => self.move_cursor(|cursor| cursor.saturating_sub(1)),
                _ => {}
            },
            Escape::Started => {
                self.escape = match byte {
                    b'[' => Escape::Control(Vec::new()),
                    b']' | b'P' | b'X' | b'^' | b'_' => Escape::Text { escaped: false },
                    // Intermediate bytes: the sequence continues.
                    0x20..=0x2f | 0x1b => Escape::Started,
                    _ => Escape::None,
                }
            }
            Escape::Control(parameters) => match byte {
                0x40..=0x7e => {
                    let parameters = std::mem::take(parameters);
                    self.escape = Escape::None;
                    self.control_sequence(&parameters, byte);
                }
                0x20..=0x3f if parameters.len() == MAX_SEQUENCE_LENGTH => {}
                0x20..=0x3f => parameters.push(byte),
                0x1b => self.escape = Escape::Started,
                // An invalid byte ends a sequence, so that a stray ESC swallows no text.
                b'\n' | b'\r' => {
                    self.escape = Escape::None;
                    self.control(byte);
                }
                _ => {}
            },
            Escape::Text { escaped } => match (byte, *escaped) {
                (0x07, _) | (b'\\', true) => self.escape = Escape::None,
                (b'\n', _) => {
                    self.escape = Escape::None;
                    self.new_line();
                }
                _ => *escaped = byte == 0x1b,
            },
        }
    }

    fn control_sequence(&mut self, parameters: &[u8], end: u8) {
        let number = std::str::from_utf8(parameters)
            .ok()
            .and_then(|text| text.parse().ok());
        match end {
            b'C' => self.move_cursor(|cursor| cursor.saturating_add(number.unwrap_or(1))),
            b'D' => self.move_cursor(|cursor| cursor.saturating_sub(number.unwrap_or(1))),
            b'G' => self.move_cursor(|_| number.unwrap_or(1).saturating_sub(1)),
            b'K' => self.erase(number.unwrap_or(0)),
            b'J' if number.unwrap_or(0) == 0 => self.erase(0),
            b'P' => {
                if let Some(line) = &mut self.overwritten {
                    let end = line
                        .cells
                        .len()
                        .min(line.cursor.saturating_add(number.unwrap_or(1)));
                    line.cells.drain(line.cursor.min(end)..end);
                }
            }
            _ => {}
        }
    }

    fn erase(&mut self, how: usize) {
        let is_empty = self.last_line().is_empty();
        if how > 0 {
            self.save_before_redraw();
        }
        match (&mut self.overwritten, how) {
            (Some(line), 0) => line.cells.truncate(line.cursor),
            // Blanks that are printed here from now on are real blanks and erase nothing.
            (Some(line), 2) if self.column == 0 => line.cells.clear(),
            (Some(line), 2) => line.cells.iter_mut().for_each(|cell| *cell = WIPED),
            (Some(line), 1) => {
                let end = line.cells.len().min(line.cursor);
                line.cells[..end].fill(WIPED);
            }
            (None, 1 | 2) if !is_empty => {
                self.move_cursor(|cursor| cursor.saturating_sub(1));
                self.erase(2);
            }
            _ => {}
        }
    }

    /// Returns whether a blank was printed just behind the edge of a usual terminal.
    fn is_at_edge(&self) -> bool {
        let before = self.column.saturating_sub(1);
        let is_edge = |width: &usize| before > 0 && before.is_multiple_of(*width);
        USUAL_WIDTHS.iter().any(is_edge)
            && match &self.overwritten {
                None => self.last_line().ends_with(' '),
                Some(line) => {
                    let last = line.cursor.checked_sub(1).map(|at| line.cells[at]);
                    line.cursor == line.cells.len() && matches!(last, Some(' ' | WIPED))
                }
            }
    }

    /// Moves the cursor within the line. The line is split into cells only when the cursor moves.
    fn move_cursor(&mut self, to: impl FnOnce(usize) -> usize) {
        let column = to(self.column);
        if column == 0 {
            self.save_before_redraw();
        }
        if self.overwritten.is_none() {
            if self.last_line().is_empty() {
                return;
            }
            let mut cells: Vec<char> = self.last_line().chars().rev().take(REACH).collect();
            cells.reverse();
            let length: usize = cells.iter().map(|cell| cell.len_utf8()).sum();
            self.overwritten = Some(Overwritten {
                at: self.text.len() - length,
                before: self.column - cells.len(),
                cursor: cells.len(),
                cells,
                wipes: false,
            });
        }
        if let Some(line) = &mut self.overwritten {
            line.wipes = false;
            line.cursor = column.saturating_sub(line.before).min(line.cells.len());
            self.column = line.before + line.cursor;
            if self.column == 0 && line.cells.iter().all(|&cell| cell == WIPED) {
                // Blanks that are printed here from now on are real blanks and erase nothing.
                line.cells.clear();
            }
        }
    }

    /// Keeps the current contents of the line, if contents are kept and this line's are not yet.
    fn save_before_redraw(&mut self) {
        let at = self.last_line;
        if let Some(kept) = &mut self.begun_anew
            && kept.last().is_none_or(|(last, _)| *last != at)
        {
            let line = match &self.overwritten {
                Some(line) => {
                    [&self.text[at..line.at], &*line.shown().collect::<String>()].concat()
                }
                None => self.text[at..].to_owned(),
            };
            if kept.len() == MAX_KEPT {
                kept.remove(MAX_KEPT / 2);
            }
            if !line.is_empty() {
                kept.push((at, line));
            }
        }
    }

    fn new_line(&mut self) {
        self.settle();
        if let Some(kept) = &mut self.begun_anew {
            // A line end also returns to the beginning, but changes nothing.
            let line = &self.text[self.last_line..];
            kept.pop_if(|(at, before)| *at == self.last_line && before == line);
        }
        self.text.push('\n');
        self.last_line = self.text.len();
        (self.column, self.farthest) = (0, 0);
    }

    fn show_overwritten(&mut self) {
        if let Some(line) = &self.overwritten {
            self.text.truncate(line.at);
            self.text.extend(line.shown());
        }
    }
}

/// The maximum number of kept lines: the first, where typed keys are processed, and the last, where an answer
/// ends.
const MAX_KEPT: usize = 128;

/// The memory that a screen keeps for the next command, in bytes.
const RETAINED: usize = 4 * 1024;

/// Returns whether these bytes are the beginning of a valid character.
fn is_incomplete_character(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
