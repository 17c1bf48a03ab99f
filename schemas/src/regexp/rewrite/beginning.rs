//! Where the matches of a group can begin.

/// Whether each alternative of a group begins with `^` or `\A`. Says no when in doubt.
#[derive(Debug)]
pub(super) struct Beginning {
    /// Where the first atom of the present alternative starts, and whether it holds only at the start of a line.
    first: Option<(usize, bool)>,
    /// Whether the alternatives before it do.
    others: bool,
}

impl Beginning {
    pub(super) fn new() -> Self {
        Self {
            first: None,
            others: true,
        }
    }

    /// Takes the next atom of the alternative.
    pub(super) fn atom(&mut self, start: usize, at_line: bool) {
        self.first.get_or_insert((start, at_line));
    }

    /// Takes a repeat of the atom that starts there, which may allow none.
    pub(super) fn repeat(&mut self, start: usize) {
        if let Some((first, at_line)) = &mut self.first
            && *first == start
        {
            *at_line = false;
        }
    }

    pub(super) fn next_alternative(&mut self) {
        *self = Self {
            first: None,
            others: self.is_at_line(),
        };
    }

    /// Returns whether all alternatives so far can only match from the start of a line on.
    pub(super) fn is_at_line(&self) -> bool {
        self.others && self.first.is_some_and(|(_, at_line)| at_line)
    }
}
