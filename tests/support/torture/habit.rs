//! The table of habits: each terminal's behaviour, by the name of its user.

/// A terminal's behaviour. A user name is the name of a habit, optionally followed by `.` and any text,
/// which selects another device of the same habit, with its own name, pauses and chunks.
#[derive(Debug)]
pub(crate) struct Habit {
    pub(crate) name: &'static str,
    pub(super) prompt: PromptStyle,
    /// The text above each prompt.
    pub(super) above: &'static str,
    /// Invisible sequences before and after each prompt; `{}` is the column after the prompt.
    pub(super) around: (&'static str, &'static str),
    /// Sent after the line end of an entered line.
    pub(super) entered: &'static str,
    pub(super) echo: Echo,
    pub(super) line_end: &'static str,
    pub(super) opening: Opening,
    pub(super) log: LogMessages,
    pub(super) pager: Option<Pager>,
    pub(super) link: Link,
    /// The number of characters that are added to a command, so that it is longer than a row.
    pub(crate) padded: usize,
}

/// The form of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptStyle {
    /// A name and a mark.
    Name,
    /// The time of day comes before the name.
    Clock,
    /// A number that counts commands is in the prompt.
    Counter,
    /// The time of day comes after the name.
    ClockBehind,
    /// This text, where `{}` is the name.
    As(&'static str),
}

/// How input is echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// Each character, when the line editor reads it.
    Editor,
    /// Only the line end.
    Nothing,
    /// By the terminal driver on arrival, whether or not a program reads.
    Driver,
    /// By the terminal driver while no program reads, and again by the line editor that reads the input
    /// later.
    Twice,
    /// The whole line, when it is entered.
    Whole,
    /// The prompt and the line are redrawn for each character.
    Redrawn,
    /// This text is sent at the edge of the screen; the width is the client's, up to a maximum number of
    /// columns.
    Wrapped { edge: &'static str, most: usize },
    /// A line that is too long for this number of columns is redrawn, with its beginning as `$`.
    Scrolled { columns: usize },
}

/// How the line editor handles control characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Backspace removes a character, Ctrl-U removes all; other keys do nothing. With a bell if there is
    /// nothing to remove.
    Edits { bell: bool },
    /// Only Backspace edits: Ctrl-U does nothing.
    TakesBack,
    /// Control characters are part of the line.
    Data,
}

/// Output before the first prompt, or directly after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Nothing,
    /// Lines that look like the prompt.
    PromptLike,
    /// A banner after the first prompt and a pause, followed by another prompt.
    Late,
    /// A page that waits for a key.
    Key,
}

/// When log messages appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogMessages {
    Never,
    /// After the prompt; `again` tells whether the prompt is shown again.
    AtPrompt {
        again: bool,
    },
    /// After the prompt, in words that no pattern recognises.
    Broadcast,
    /// In the middle of typed input; `again` tells whether the prompt and the input are shown again.
    AmidTyping {
        again: bool,
    },
}

/// A pager that cannot be turned off.
#[derive(Debug)]
pub(super) struct Pager {
    pub(super) text: &'static str,
    /// The sequence that erases it.
    pub(super) wiped: &'static str,
    pub(super) lines: usize,
}

/// How bytes are transmitted: each range is a minimum and a maximum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The bytes in a chunk.
    pub(super) chunk: (usize, usize),
    /// The milliseconds between two chunks.
    pub(super) gap: (usize, usize),
    /// The milliseconds of delay in each direction.
    pub(super) delay: (usize, usize),
    /// Whether only one chunk is in transit at a time.
    pub(super) one_by_one: bool,
}

const QUICK: Link = Link {
    chunk: (1000, 4000),
    gap: (0, 0),
    delay: (0, 0),
    one_by_one: false,
};

const PLAIN: Habit = Habit {
    name: "plain",
    prompt: PromptStyle::Name,
    above: "",
    around: ("", ""),
    entered: "",
    echo: Echo::Editor,
    line_end: "\r\n",
    opening: Opening::Nothing,
    log: LogMessages::Never,
    pager: None,
    link: QUICK,
    padded: 0,
};

const fn pager(text: &'static str, wiped: &'static str) -> Option<Pager> {
    Some(Pager {
        text,
        wiped,
        lines: 10,
    })
}

/// All habits.
#[rustfmt::skip]
pub(crate) const HABITS: &[Habit] = &[
    PLAIN,
    // The link.
    Habit { name: "trickle", link: Link { chunk: (1, 3), gap: (0, 3), ..QUICK }, ..PLAIN },
    Habit { name: "chunks", link: Link { chunk: (1, 40), gap: (0, 60), ..QUICK }, ..PLAIN },
    Habit { name: "far", link: Link { delay: (200, 400), ..QUICK }, ..PLAIN },
    Habit { name: "very-far", link: Link { delay: (800, 1200), ..QUICK }, ..PLAIN },
    Habit { name: "one-by-one", link: Link { delay: (150, 300), one_by_one: true, ..QUICK }, ..PLAIN },
    Habit { name: "very-far-one-by-one", link: Link { delay: (900, 1100), one_by_one: true, ..QUICK }, ..PLAIN },
    // The prompt.
    Habit { name: "clock", prompt: PromptStyle::Clock, ..PLAIN },
    Habit { name: "counter", prompt: PromptStyle::Counter, ..PLAIN },
    Habit { name: "brackets", prompt: PromptStyle::As("[{}] > "), ..PLAIN },
    Habit { name: "lldpcli", prompt: PromptStyle::As("[lldpcli] # "), ..PLAIN },
    Habit { name: "unicode", prompt: PromptStyle::As("{} ❯ "), ..PLAIN },
    Habit { name: "angle", prompt: PromptStyle::As("<{}>"), ..PLAIN },
    Habit { name: "user-at", prompt: PromptStyle::As("admin@{}:~$ "), ..PLAIN },
    Habit { name: "colours", around: ("\x1b[1m\x1b[32m", "\x1b[0m"), ..PLAIN },
    Habit { name: "paste", around: ("\x1b[?2004h", ""), entered: "\x1b[?2004l\r", ..PLAIN },
    Habit { name: "title", around: ("\x1b]0;switch: ~\x07", ""), ..PLAIN },
    Habit { name: "bell", around: ("\x07", "\x07"), ..PLAIN },
    Habit { name: "nul", around: ("\0\0", "\0"), entered: "\0\0", ..PLAIN },
    Habit { name: "empty-above", above: "\n", ..PLAIN },
    Habit { name: "edit", above: "\n[edit]\n", ..PLAIN },
    Habit { name: "master", above: "\n{master:0}\n", prompt: PromptStyle::As("admin@{}> "), ..PLAIN },
    Habit { name: "clock-behind", prompt: PromptStyle::ClockBehind, ..PLAIN },
    Habit { name: "slashes", above: "\n[/]\n", prompt: PromptStyle::As("A:admin@{}# "), ..PLAIN },
    Habit { name: "cursor", around: ("\x1b[24;1H\x1b[2K\x1b[24;1H\x1b[?25h\x1b[24;1H", "\x1b[24;1H\x1b[24;{}H\x1b[24;1H\x1b[?25h\x1b[24;{}H"), prompt: PromptStyle::As("{}# "), ..PLAIN },
    Habit { name: "returns", around: ("\r\r\r\r", "\x1b[K"), echo: Echo::Redrawn, prompt: PromptStyle::As("[admin@{}] > "), ..PLAIN },
    Habit { name: "asks-back", around: ("\x1b[6n\x1b[9999B", "\x1b[c"), prompt: PromptStyle::As("[user@{}] <SAFE> "), ..PLAIN },
    // The echo.
    Habit { name: "twice", echo: Echo::Twice, ..PLAIN },
    Habit { name: "twice-far", echo: Echo::Twice, link: Link { delay: (100, 400), ..QUICK }, ..PLAIN },
    Habit { name: "no-echo", echo: Echo::Nothing, ..PLAIN },
    Habit { name: "driver-echo", echo: Echo::Driver, ..PLAIN },
    Habit { name: "whole-echo", echo: Echo::Whole, ..PLAIN },
    Habit { name: "redrawn", echo: Echo::Redrawn, ..PLAIN },
    Habit { name: "wraps-80", echo: Echo::Wrapped { edge: " \r", most: 80 }, padded: 120, ..PLAIN },
    Habit { name: "wraps-back-80", echo: Echo::Wrapped { edge: " \x08", most: 80 }, padded: 120, ..PLAIN },
    Habit { name: "wraps-line-80", echo: Echo::Wrapped { edge: "\r\n", most: 80 }, padded: 120, ..PLAIN },
    Habit { name: "wraps", echo: Echo::Wrapped { edge: " \r", most: 10_000 }, padded: 700, ..PLAIN },
    Habit { name: "wraps-back", echo: Echo::Wrapped { edge: " \x08", most: 10_000 }, padded: 700, ..PLAIN },
    Habit { name: "wraps-line", echo: Echo::Wrapped { edge: "\r\n", most: 10_000 }, padded: 700, ..PLAIN },
    Habit { name: "scrolls", echo: Echo::Scrolled { columns: 60 }, padded: 90, ..PLAIN },
    // Line ends.
    Habit { name: "crcrlf", line_end: "\r\r\n", ..PLAIN },
    Habit { name: "lfcr", line_end: "\n\r", ..PLAIN },
    Habit { name: "lf", line_end: "\n", ..PLAIN },
    Habit { name: "padding", line_end: "\r\n\0\0", ..PLAIN },
    // Unsolicited output.
    Habit { name: "banner", opening: Opening::PromptLike, ..PLAIN },
    Habit { name: "late-banner", opening: Opening::Late, ..PLAIN },
    Habit { name: "key", opening: Opening::Key, ..PLAIN },
    Habit { name: "log", log: LogMessages::AtPrompt { again: false }, ..PLAIN },
    Habit { name: "log-again", log: LogMessages::AtPrompt { again: true }, ..PLAIN },
    Habit { name: "log-amid", log: LogMessages::AmidTyping { again: false }, ..PLAIN },
    Habit { name: "log-amid-again", log: LogMessages::AmidTyping { again: true }, ..PLAIN },
    Habit { name: "broadcast", log: LogMessages::Broadcast, ..PLAIN },
    // Pagers.
    Habit { name: "pager", pager: pager(" --More-- ", "\x08\x08\x08\x08\x08\x08\x08\x08\x08\x08          \x08\x08\x08\x08\x08\x08\x08\x08\x08\x08"), ..PLAIN },
    Habit { name: "pager-return", pager: pager("--More--", "\r        \r"), ..PLAIN },
    Habit { name: "pager-erased", pager: pager("---(more)---", "\r\x1b[K"), ..PLAIN },
    Habit { name: "pager-stays", pager: pager("<--- More --->", "\n"), ..PLAIN },
    Habit { name: "pager-coloured", pager: pager("\x1b[7m--More--\x1b[m", "\x1b[2K\r"), ..PLAIN },
    // Combinations.
    Habit { name: "clock-no-echo", prompt: PromptStyle::Clock, echo: Echo::Nothing, ..PLAIN },
    Habit { name: "clock-log", prompt: PromptStyle::Clock, log: LogMessages::AtPrompt { again: false }, ..PLAIN },
    Habit { name: "counter-chunks", prompt: PromptStyle::Counter, link: Link { chunk: (1, 40), gap: (0, 60), ..QUICK }, ..PLAIN },
    Habit { name: "far-log", link: Link { delay: (200, 400), ..QUICK }, log: LogMessages::AtPrompt { again: true }, ..PLAIN },
    Habit { name: "redrawn-chunks", echo: Echo::Redrawn, link: Link { chunk: (1, 40), gap: (0, 20), ..QUICK }, ..PLAIN },
    Habit { name: "far-pager", link: Link { delay: (200, 400), ..QUICK }, pager: pager("--More--", "\r        \r"), ..PLAIN },
];

impl Habit {
    /// Returns the habit of a user.
    pub(crate) fn of(user: &str) -> &'static Self {
        let name = user.split('.').next().unwrap_or_default();
        let mut all = HABITS.iter();
        all.find(|habit| habit.name == name).unwrap_or(&HABITS[0])
    }

    /// Whether the terminal returns to the beginning of the line before it prompts.
    pub(super) fn wipes_before_prompt(&self) -> bool {
        ["\r", "\x1b[2K"]
            .iter()
            .any(|wipes| self.around.0.contains(wipes))
    }

    /// Returns the invisible sequence that is sent after a prompt.
    pub(crate) fn behind_prompt(&self) -> &'static str {
        self.around.1
    }

    /// Returns the maximum duration of a round trip in milliseconds.
    pub(crate) fn delay(&self) -> usize {
        2 * self.link.delay.1 * if self.link.one_by_one { 2 } else { 1 }
    }

    /// Returns the time in milliseconds that the chunks take for this number of bytes.
    pub(crate) fn carrying(&self, bytes: usize) -> usize {
        let of = |(least, most): (usize, usize)| usize::midpoint(least, most);
        (bytes / of(self.link.chunk).max(1) + 1)
            * (of(self.link.gap) + usize::from(self.link.gap.1 > 0))
    }
}
