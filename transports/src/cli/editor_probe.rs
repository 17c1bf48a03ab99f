//! Probing for the device's line editor without Enter: a few blanks are typed and erased.
//!
//! At a prompt, the editor shows the blanks and erases them: the line grows by exactly as many columns and
//! returns to its previous state. No output does that. While a program is still running, nothing is shown, or
//! the terminal itself echoes the unread input: then control characters are visible, and the line stays longer.
//! Whatever comes instead of the prompt, the probe consents to nothing: it contains no Enter, and its first key
//! is neither a blank nor a letter.

use super::screen::Screen;

/// The lead, typed first: Ctrl-K, which erases the text behind the cursor, where there is none. A device
/// without a line editor treats it as a blank.
pub(super) const LEAD: &str = "\x0b";

/// Erases a character.
pub(super) const BACK: &str = "\x08";

/// How a terminal echoes [`LEAD`] and [`BACK`] while nothing reads the input.
pub(super) const UNREAD: [&str; 2] = ["^K", "^H"];

/// The probes of this kind within one answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct EditorProbes(Vec<EditorProbe>);

#[derive(Clone, Copy, Debug)]
struct EditorProbe {
    /// The length of the text when it was typed.
    at: usize,
    blanks: usize,
}

impl EditorProbes {
    /// Records a probe with this many blanks, and returns the keys to type.
    pub(crate) fn record_probe(&mut self, screen: &Screen, blanks: usize) -> String {
        let at = screen.text().len();
        self.0.push(EditorProbe { at, blanks });
        [LEAD, &" ".repeat(blanks), &BACK.repeat(blanks)].concat()
    }

    pub(crate) fn probe_count(&self) -> usize {
        self.0.len()
    }

    /// Returns whether a line editor reads at the end of the screen.
    pub(crate) fn is_answered(&self, screen: &Screen) -> bool {
        let back = screen.erased_columns();
        self.0
            .iter()
            .any(|editor_probe| editor_probe.blanks == back)
    }

    /// Returns where the first probe was typed.
    pub(crate) fn first_position(&self) -> Option<usize> {
        self.0.first().map(|editor_probe| editor_probe.at)
    }

    /// Returns a line without the terminal's echo of unread probes at its end.
    pub(crate) fn without_echo<'l>(&self, mut line: &'l str) -> &'l str {
        for editor_probe in self.0.iter().rev() {
            line = line
                .strip_suffix(&*editor_probe.unread_echo())
                .unwrap_or(line);
        }
        line
    }

    /// Removes the terminal's echo of unread probes from an output that began at `start`.
    pub(crate) fn remove_unread_echo(&self, output: &mut String, start: usize) {
        for editor_probe in self.0.iter().rev() {
            let Some(from) = editor_probe.at.checked_sub(start) else {
                continue;
            };
            let rest = output.get(from..).unwrap_or_default();
            let shown = &*editor_probe.unread_echo();
            let found = match rest.find(shown) {
                Some(at) => Some((at, shown.len())),
                // If the terminal erases on backspace, too, only the lead remains.
                None => rest.find(UNREAD[0]).map(|at| (at, UNREAD[0].len())),
            };
            if let Some((at, length)) = found {
                output.replace_range(from + at..from + at + length, "");
            }
        }
    }
}

impl EditorProbe {
    fn unread_echo(self) -> String {
        let [lead, back] = UNREAD;
        [lead, &" ".repeat(self.blanks), &back.repeat(self.blanks)].concat()
    }
}
