//! How a device answers a line of blanks at its prompt.

/// The maximum number of lines between two prompts.
pub(super) const MAX_GAP: usize = 3;

/// How a device answers a line of blanks at its prompt, according to its last answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptBehaviour {
    /// Whether and how it shows the blanks. If it does, a prompt without them proves nothing.
    pub(crate) blanks: BlankDisplay,
    /// The text between two prompts: empty, an empty line, or a line such as `[edit]`. It also
    /// precedes the first prompt. It is not output.
    pub(crate) gap: String,
    /// Whether the lead key of [`editor_probe`](super::editor_probe) is known to do no harm.
    pub(crate) lead: bool,
}

/// How the device shows blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlankDisplay {
    /// It shows them and erases them on request: it has a line editor.
    Edited,
    Shown,
    /// It shows them only after Enter.
    Late,
    Hidden,
    /// It shows nothing at all, not even the line end, and answers such a line with the same text each time, perhaps
    /// with an error about an unknown command.
    AnsweredQuestion,
}

impl PromptBehaviour {
    /// Returns the text that precedes each prompt and is not output.
    pub(crate) fn text_above_prompt(&self) -> &str {
        if self.gap.lines().count() <= MAX_GAP {
            return &self.gap;
        }
        // If the gap is an answer, only the empty lines at its end count.
        let answer = self.gap.trim_end_matches('\n').len();
        &self.gap[(answer + 1).min(self.gap.len())..]
    }
}

pub(super) fn prompt_behaviour_of(blanks: BlankDisplay, gap: String) -> PromptBehaviour {
    PromptBehaviour {
        blanks,
        gap,
        lead: false,
    }
}
