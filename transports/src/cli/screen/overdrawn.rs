//! A line in which the cursor has been moved back, so that what is printed overwrites it.

/// The end of a line that is being written over.
#[derive(Debug)]
pub(super) struct Overdrawn {
    /// Where in the text it begins.
    pub(super) at: usize,
    /// How many columns stand before it.
    pub(super) before: usize,
    pub(super) cells: Vec<char>,
    pub(super) cursor: usize,
    /// Whether the last characters that were printed have wiped others out.
    pub(super) wipes: bool,
}

/// A cell that was wiped: a space in the middle of a line, nothing at its end.
pub(super) const WIPED: char = '\0';

impl Overdrawn {
    /// What is seen of it.
    pub(super) fn shown(&self) -> impl Iterator<Item = char> {
        let last = self.cells.iter().rposition(|&cell| cell != WIPED);
        let cells = self.cells[..last.map_or(0, |at| at + 1)].iter();
        cells.map(|&cell| if cell == WIPED { ' ' } else { cell })
    }

    pub(super) fn print(&mut self, character: char) {
        let is_blank = character == ' ';
        match self.cells.get_mut(self.cursor) {
            // Spaces over characters are how devices wipe out `--More--` and typing errors, and more than those.
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
