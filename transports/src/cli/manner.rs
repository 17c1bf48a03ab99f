//! How a device answers a line of blanks at its prompt.

/// How many lines may stand between two prompts.
pub(super) const LONGEST_GAP: usize = 3;

/// How a device answers a line of blanks at its prompt, as its last answer has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it shows the blanks; then a prompt without them proves nothing.
    pub(crate) blanks: Blanks,
    /// What stands between two prompts: nothing, an empty line, a line such as `[edit]`. It stands
    /// above the first prompt too and is no output.
    pub(crate) gap: String,
    /// Whether what [`touch`](super::touch) types first does no harm.
    pub(crate) lead: bool,
}

/// Whether a device shows the blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// It shows them, and takes them back when it is told to: it has a line editor.
    Edited,
    Shown,
    /// It shows them when Enter is pressed behind them.
    Late,
    Hidden,
    /// It shows nothing at all, not even the end of the line, and answers such a line with the same text each
    /// time: an unknown command, perhaps.
    Answered,
}

impl Manner {
    /// What stands above each prompt, and is no output.
    pub(crate) fn above(&self) -> &str {
        if self.gap.lines().count() <= LONGEST_GAP {
            return &self.gap;
        }
        // Of an answer, that is the empty lines at its end.
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
