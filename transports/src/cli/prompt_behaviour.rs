//! How a device answers a line of blanks at its prompt.

/// The maximum number of lines between two prompts.
pub(super) const LONGEST_GAP: usize = 3;

/// How a device answers a line of blanks at its prompt, according to its last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether and how it shows the blanks. If it does, a prompt without them proves nothing.
    pub(crate) blanks: Blanks,
    /// The text between two prompts: empty, an empty line, or a line such as `[edit]`. It also
    /// precedes the first prompt. It is not output.
    pub(crate) gap: String,
    /// Whether the lead key of [`touch`](super::touch) is known to do no harm.
    pub(crate) lead: bool,
}

/// How the device shows blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// It shows them and erases them on request: it has a line editor.
    Edited,
    Shown,
    /// It shows them only after Enter.
    Late,
    Hidden,
    /// It shows nothing at all, not even the line end, and answers such a line with the same text each time, perhaps
    /// with an error about an unknown command.
    Answered,
}

impl Manner {
    /// Returns the text that precedes each prompt and is not output.
    pub(crate) fn above(&self) -> &str {
        if self.gap.lines().count() <= LONGEST_GAP {
            return &self.gap;
        }
        // If the gap is an answer, only the empty lines at its end count.
        let answer = self.gap.trim_end_matches('\n').len();
        &self.gap[(answer + 1).min(self.gap.len())..]
    }
}

pub(super) fn manner_of(blanks: Blanks, gap: String) -> Manner {
    Manner {
        blanks,
        gap,
        lead: false,
    }
}
