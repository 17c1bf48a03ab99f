//! A line in which the cursor was moved back, so that printed characters overwrite it.

/// The end of a line that is being overwritten.
#[derive(Debug)]
pub(super) struct Overwritten {
    /// Its start in the text.
    pub(super) at: usize,
    /// The number of columns before it.
    pub(super) before: usize,
    pub(super) cells: Vec<char>,
    pub(super) cursor: usize,
    /// Whether the last printed characters have erased others.
    pub(super) wipes: bool,
}

/// An erased cell: a space in the middle of a line, nothing at its end.
pub(super) const WIPED: char = '\0';

impl Overwritten {
    /// Returns the visible characters.
    pub(super) fn shown(&self) -> impl Iterator<Item = char> {
        let last = self.cells.iter().rposition(|&cell| cell != WIPED);
        let cells = self.cells[..last.map_or(0, |at| at + 1)].iter();
        cells.map(|&cell| if cell == WIPED { ' ' } else { cell })
    }

    pub(super) fn print(&mut self, character: char) {
        let is_blank = character == ' ';
        match self.cells.get_mut(self.cursor) {
            // Devices erase `--More--` and typing errors by printing spaces over them, and over more than those.
            Some(&mut WIPED) if is_blank && self.wipes => {}
            Some(cell) if is_blank && *cell != WIPED => {
                self.wipes |= *cell != ' ';
                *cell = WIPED;
            }
            Some(cell) => *cell = character,
            None if is_blank && self.wipes => self.cells.push(WIPED),
            None => self.cells.push(character),
        }
        self.wipes &= is_blank;
        self.cursor += 1;
    }
}
