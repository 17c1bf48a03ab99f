//! Asking whether the device's line editor reads, without Enter: a few blanks are typed and taken back.
//!
//! At a prompt the editor shows the blanks, and then none: the line has grown by just so many columns, and has
//! come back to what it was. No output does that. A program that is still running shows nothing of it, or a
//! terminal shows for it what nobody reads: then control characters are visible, and the line stays longer.
//! Nothing is consented to, whatever comes instead of the prompt: no Enter is pressed, and the first key is
//! neither a blank nor a letter.

use super::screen::Screen;

/// What is typed first: Ctrl-K, which takes away what stands behind the cursor, that is, nothing. A device
/// without a line editor takes it for a blank.
pub(super) const LEAD: &str = "\x0b";

/// What takes back a character.
pub(super) const BACK: &str = "\x08";

/// How a terminal shows [`LEAD`] and [`BACK`] while nobody reads.
pub(super) const UNREAD: [&str; 2] = ["^K", "^H"];

/// The questions of this kind within one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touches(Vec<Touch>);

#[derive(Clone, Copy, Debug)]
struct Touch {
    /// Where the text ended when it was typed.
    at: usize,
    blanks: usize,
}

impl Touches {
    /// Notes that so many blanks are typed now, and gives what is typed.
    pub(crate) fn ask(&mut self, screen: &Screen, blanks: usize) -> String {
        let at = screen.text().len();
        self.0.push(Touch { at, blanks });
        [LEAD, &" ".repeat(blanks), &BACK.repeat(blanks)].concat()
    }

    pub(crate) fn asked(&self) -> usize {
        self.0.len()
    }

    /// Whether a line editor reads where the screen ends.
    pub(crate) fn is_answered(&self, screen: &Screen) -> bool {
        let back = screen.taken_back();
        self.0.iter().any(|touch| touch.blanks == back)
    }

    /// Where the first of them was typed.
    pub(crate) fn first(&self) -> Option<usize> {
        self.0.first().map(|touch| touch.at)
    }

    /// A line without what a terminal has shown of them at its end.
    pub(crate) fn stripped<'l>(&self, mut line: &'l str) -> &'l str {
        for touch in self.0.iter().rev() {
            line = line.strip_suffix(&*touch.shown_unread()).unwrap_or(line);
        }
        line
    }

    /// Takes out of an output (which began at `start`) what a terminal has shown of them while nobody read.
    pub(crate) fn without_unread(&self, output: &mut String, start: usize) {
        for touch in self.0.iter().rev() {
            let Some(from) = touch.at.checked_sub(start) else {
                continue;
            };
            let rest = output.get(from..).unwrap_or_default();
            let shown = &*touch.shown_unread();
            let found = match rest.find(shown) {
                Some(at) => Some((at, shown.len())),
                // Where the terminal takes back what is typed, too, the lead is left.
                None => rest.find(UNREAD[0]).map(|at| (at, UNREAD[0].len())),
            };
            if let Some((at, length)) = found {
                output.replace_range(from + at..from + at + length, "");
            }
        }
    }
}

impl Touch {
    fn shown_unread(self) -> String {
        let [lead, back] = UNREAD;
        [lead, &" ".repeat(self.blanks), &back.repeat(self.blanks)].concat()
    }
}
