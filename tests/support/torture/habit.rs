//! The table of habits: how each terminal behaves, by the name of its user.

/// How a terminal behaves. A user is the name of a habit, or that with `.` and anything behind it: another
/// device of the same habit, with a name, pauses and chunks of its own.
#[derive(Debug)]
pub(crate) struct Habit {
    pub(crate) name: &'static str,
    pub(super) prompt: PromptStyle,
    /// What stands above each prompt.
    pub(super) above: &'static str,
    /// Sent before and behind each prompt: sequences that show nothing; `{}` is the column behind the prompt.
    pub(super) around: (&'static str, &'static str),
    /// Sent when a line was entered, behind the line end.
    pub(super) entered: &'static str,
    pub(super) echo: Echo,
    pub(super) line_end: &'static str,
    pub(super) opening: Opening,
    pub(super) log: LogMessages,
    pub(super) pager: Option<Pager>,
    pub(super) link: Link,
    /// How many more characters a command gets, so that it is longer than a row.
    pub(crate) padded: usize,
}

/// What a prompt is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptStyle {
    /// A name and a mark.
    Name,
    /// The time of day stands before it.
    Clock,
    /// A number that counts commands stands in it.
    Counter,
    /// The time of day stands behind the name.
    ClockBehind,
    /// As it stands here, `{}` being the name.
    As(&'static str),
}

/// How what is typed is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Echo {
    /// Each character when the line editor reads it.
    Editor,
    /// Nothing but the line end.
    Nothing,
    /// By the terminal driver, when it arrives, whether somebody reads or not.
    Driver,
    /// By the terminal driver while nobody reads, and again by the line editor that reads it then.
    Twice,
    /// The line as a whole, when it is entered.
    Whole,
    /// The prompt and the line anew for each character.
    Redrawn,
    /// At the edge of the screen this is sent; the width is the client's, or at most so many columns.
    Wrapped { edge: &'static str, most: usize },
    /// A line that is too long for so many columns is drawn anew, its beginning as `$`.
    Scrolled { columns: usize },
}

/// What the line editor makes of control characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// Backspace takes back a character, Ctrl-U all; others do nothing. With a bell where nothing is to be taken.
    Edits { bell: bool },
    /// The same, but Backspace alone: Ctrl-U does nothing.
    TakesBack,
    /// They are characters of the line.
    Data,
}

/// What comes before the first prompt, or just behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Nothing,
    /// Lines that look like the prompt.
    PromptLike,
    /// Behind the first prompt, after a pause, and then the prompt again.
    Late,
    /// A page that wants a key.
    Key,
}

/// When log messages come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogMessages {
    Never,
    /// Behind the prompt; whether the prompt is shown again.
    AtPrompt {
        again: bool,
    },
    /// Behind the prompt, and in words that no pattern knows.
    Broadcast,
    /// In the middle of what is typed; whether the prompt and what was typed are shown again.
    AmidTyping {
        again: bool,
    },
}

/// A pager that nothing turns off.
#[derive(Debug)]
pub(super) struct Pager {
    pub(super) shown: &'static str,
    /// What wipes it out.
    pub(super) wiped: &'static str,
    pub(super) lines: usize,
}

/// How bytes come through: the least and the most of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// Bytes of a chunk.
    pub(super) chunk: (usize, usize),
    /// Milliseconds between two chunks.
    pub(super) gap: (usize, usize),
    /// Milliseconds of delay, each way.
    pub(super) delay: (usize, usize),
    /// Whether only one chunk is on its way at a time.
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

const fn pager(shown: &'static str, wiped: &'static str) -> Option<Pager> {
    Some(Pager {
        shown,
        wiped,
        lines: 10,
    })
}

/// Every habit.
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
    // What comes unasked.
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
    // Several at once.
    Habit { name: "clock-no-echo", prompt: PromptStyle::Clock, echo: Echo::Nothing, ..PLAIN },
    Habit { name: "clock-log", prompt: PromptStyle::Clock, log: LogMessages::AtPrompt { again: false }, ..PLAIN },
    Habit { name: "counter-chunks", prompt: PromptStyle::Counter, link: Link { chunk: (1, 40), gap: (0, 60), ..QUICK }, ..PLAIN },
    Habit { name: "far-log", link: Link { delay: (200, 400), ..QUICK }, log: LogMessages::AtPrompt { again: true }, ..PLAIN },
    Habit { name: "redrawn-chunks", echo: Echo::Redrawn, link: Link { chunk: (1, 40), gap: (0, 20), ..QUICK }, ..PLAIN },
    Habit { name: "far-pager", link: Link { delay: (200, 400), ..QUICK }, pager: pager("--More--", "\r        \r"), ..PLAIN },
];

impl Habit {
    /// The habit of a user.
    pub(crate) fn of(user: &str) -> &'static Self {
        let name = user.split('.').next().unwrap_or_default();
        let mut all = HABITS.iter();
        all.find(|habit| habit.name == name).unwrap_or(&HABITS[0])
    }

    /// Whether it returns to the beginning of the line before it prompts.
    pub(super) fn wipes_before_prompt(&self) -> bool {
        ["\r", "\x1b[2K"]
            .iter()
            .any(|wipes| self.around.0.contains(wipes))
    }

    /// What is sent behind a prompt, and shows nothing.
    pub(crate) fn behind_prompt(&self) -> &'static str {
        self.around.1
    }

    /// Milliseconds that one exchange takes at most, there and back.
    pub(crate) fn delay(&self) -> usize {
        2 * self.link.delay.1 * if self.link.one_by_one { 2 } else { 1 }
    }

    /// How long its chunks take for so many bytes, in milliseconds.
    pub(crate) fn carrying(&self, bytes: usize) -> usize {
        let of = |(least, most): (usize, usize)| usize::midpoint(least, most);
        (bytes / of(self.link.chunk).max(1) + 1)
            * (of(self.link.gap) + usize::from(self.link.gap.1 > 0))
    }
}
