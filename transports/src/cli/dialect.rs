//! Dialects: what the engine must know about a device's CLI, as data.

use std::sync::LazyLock;

use serde::Deserialize;

pub use super::commit::Commit;
pub use super::pattern::{LinePattern, Pattern};
pub use super::text::{TerminatedText, TextEnd, TextOpening};

/// The appearance and behaviour of a device's CLI: the `dialect` of a `family.yaml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// The appearance of its prompts.
    pub prompt: Prompts,
    /// The login questions of the command line, if it asks for a login itself.
    pub authentication: Authentication,
    /// Other questions between login and prompt, and the answers.
    pub login: Vec<Answer>,
    /// Commands to run when a session opens. They turn paging off.
    pub on_open: Vec<String>,
    /// Pagers that appear nevertheless, and the keys that continue.
    pub pager: Vec<Answer>,
    /// How to enter privileged mode.
    pub enable: Option<Enable>,
    /// The command that enters configuration mode; `none` if lines are typed at the prompt of commands. Without it,
    /// the session cannot configure.
    pub enter_config: Option<String>,
    /// The command that leaves configuration mode from any depth.
    pub leave_config: Option<String>,
    /// The line that leaves a mode for the one above, by default `exit`; `none` if the lines themselves do so.
    pub leave_mode: Option<String>,
    /// How typed lines take effect, if they do so only with a commit.
    pub commit: Option<Commit>,
    /// The word before a line that makes it the opposite, by default `no`.
    pub negate: Option<String>,
    /// Questions that commands and configuration lines ask, and the answers. Any other question is
    /// answered only if the answer was given with the command.
    pub confirm: Vec<Confirm>,
    /// Configuration lines that open a multi-line text, such as a banner, and what ends it.
    pub text: Vec<TextOpening>,
    /// The key before a `?` that is not a request for help. Without it, a `?` at a prompt asks for help.
    pub literal: Option<LiteralKey>,
    /// The command that saves the running configuration.
    pub save: Option<Save>,
    /// Lines in which the device reports that a command failed.
    pub failure: Vec<Pattern>,
    /// Lines that the device may write at any time, such as log messages.
    pub unsolicited: Vec<Pattern>,
    /// Whole commands that only show something, without the filters behind them.
    pub harmless: Vec<LinePattern>,
    /// Whole filters that may follow a harmless command, each behind a `|`.
    pub filters: Vec<LinePattern>,
    /// The command that shows the whole running configuration.
    pub config_text: Option<String>,
    /// The command that ends the session. Without it, only the connection is closed.
    pub leave: Option<String>,
    /// The line end to type: a carriage return if the device requires one.
    pub newline: Newline,
}

/// The appearance of a dialect's prompts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prompts {
    /// The prompt at which commands are run.
    pub exec: LinePattern,
    /// The prompt of configuration mode, at any depth.
    pub config: Option<LinePattern>,
    /// The prompt at which privileged commands are run, if it differs from `exec`.
    pub privileged: Option<LinePattern>,
    /// The line above a prompt that belongs to it and may change with the mode, such as `[edit]`.
    pub above: Option<LinePattern>,
}

/// The login questions of a command line. Each is answered once, from the target's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Authentication {
    /// The question for the user name.
    pub user_prompt: Pattern,
    /// The question for the password.
    pub password_prompt: Pattern,
}

/// A question of the device and the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The question, at the end of the received text.
    pub pattern: Pattern,
    /// The text to type, exactly. An empty text is a bare line end.
    pub answer: String,
}

/// A question that follows a command or line, and the answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// The commands and lines that may ask it. Without it, all may.
    #[serde(default)]
    pub command: Option<Pattern>,
    /// The question, at the end of the received text.
    pub pattern: Pattern,
    /// The text to type, exactly. An empty text is a bare line end.
    pub answer: String,
}

/// How to enter privileged mode.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enable {
    /// The command.
    #[serde(default = "enable")]
    pub command: String,
    /// The question for the password.
    #[serde(default = "password_prompt")]
    pub password_prompt: Pattern,
    /// Whether sessions are useless without it. Then it is entered even without a password.
    #[serde(default)]
    pub required: bool,
}

/// How the running configuration is saved.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Save {
    /// A command that asks nothing.
    Command(String),
    /// A command that asks questions.
    Asking {
        /// The command.
        command: String,
        /// The questions and the answers.
        confirm: Vec<Answer>,
    },
}

/// The key that makes the next one a character of the line.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum LiteralKey {
    /// Ctrl-V.
    #[serde(rename = "ctrl-v")]
    CtrlV,
    /// None: every character is one of the line.
    #[serde(rename = "none")]
    NotNeeded,
}

/// The end of a typed line.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Newline {
    /// Line feed, which most devices accept.
    #[default]
    Lf,
    /// Carriage return.
    Cr,
    /// Both.
    Crlf,
}

impl Dialect {
    /// Returns the dialect for unknown devices: the prompt is learnt, and common pagers are answered.
    pub fn generic() -> Self {
        let pager = |pattern| Answer {
            pattern: Pattern::built_in(pattern),
            answer: " ".into(),
        };
        Self {
            pager: vec![
                pager(r"(?i)^\s*-+ ?\(?more\)? ?-+[ ,]*(\(q to quit\)|next page: ?space.*)\s*$"),
                pager(r"(?i)^\s*[<(\[-][<(\[ -]*more\b[-()\d% ]*[>\])]?\s*$"),
                pager(r"(?i)^press any key to continue\b.{0,20}\bq(?:uit)?\b.{0,20}$"),
            ],
            // After a command, this may be a question whether to continue with it.
            login: vec![Answer {
                pattern: Pattern::built_in(r"(?i)^press any key to continue\b.{0,20}$"),
                answer: String::new(),
            }],
            // The error messages of Cisco's command line and of the many similar ones.
            failure: vec![Pattern::built_in(
                r"^% ?(?:Unknown|Unrecognized|Invalid|Incomplete|Ambiguous|Bad)\b",
            )],
            unsolicited: vec![Pattern::built_in(
                r"%[A-Z][A-Z0-9_]*(-[A-Z0-9_]+)?-[0-7]-[A-Z0-9_]+:",
            )],
            ..Self::default()
        }
    }
}

impl Dialect {
    /// The line that leaves a mode on most devices.
    pub const EXIT_MODE: &str = "exit";

    /// The word for a command that does not exist.
    const NONE: &str = "none";

    /// Returns whether lines of configuration are typed at the prompt of commands.
    pub fn is_modeless(&self) -> bool {
        self.enter_config.as_deref() == Some(Self::NONE)
    }

    /// Returns the line that leaves a mode for the one above, unless the lines themselves do so.
    pub fn mode_exit(&self) -> Option<&str> {
        let exit = self.leave_mode.as_deref().unwrap_or(Self::EXIT_MODE);
        (exit != Self::NONE).then_some(exit)
    }

    /// Returns the word before a line that makes it the opposite.
    pub fn negation(&self) -> &str {
        self.negate.as_deref().unwrap_or("no")
    }

    /// Returns the questions that this line may ask.
    pub(crate) fn confirmations(&self, line: &str) -> impl Iterator<Item = &Confirm> {
        self.confirm.iter().filter(move |confirm| {
            let command = confirm.command.as_ref();
            command.is_none_or(|command| command.is_found_in(line))
        })
    }

    /// Returns whether a command is declared to change nothing: as `config_text`, or by patterns. All of it must be known:
    /// the command, and each filter behind a `|`. What redirects output, joins commands, or holds one in brackets, is never
    /// harmless.
    pub fn is_harmless(&self, command: &str) -> bool {
        if self.config_text.as_deref() == Some(command) {
            return true;
        }
        let redirects = |c: char| c.is_control() || matches!(c, '>' | ';');
        if command.contains(redirects) {
            return false;
        }
        let is_one_of = |patterns: &[LinePattern], text: &str| {
            let text = text.trim();
            patterns.iter().any(|pattern| pattern.is(text))
        };
        let mut parts = command.split('|');
        let command = parts.next().unwrap_or_default();
        if command.contains(['[', '{', '`']) || command.contains("$(") {
            return false;
        }
        is_one_of(&self.harmless, command) && parts.all(|filter| is_one_of(&self.filters, filter))
    }

    /// Returns what ends the text that this line opens, and the beginning of the text in the line itself, which may
    /// already be all of it.
    pub fn text_opened_by<'l>(&self, line: &'l str) -> Option<(TextEnd, &'l str)> {
        let mut openings = self.text.iter();
        openings.find_map(|opening| opening.opened_by(line))
    }

    /// Returns what ends the text that this line opens, unless the line also contains it.
    pub(crate) fn text_end(&self, line: &str) -> Option<TextEnd> {
        let (end, begun) = self.text_opened_by(line)?;
        (!end.is_in(begun)).then_some(end)
    }

    /// Returns the keys that type a line at a prompt.
    pub(crate) fn keys(&self, line: &str) -> String {
        match self.literal {
            None | Some(LiteralKey::NotNeeded) => line.to_owned(),
            Some(LiteralKey::CtrlV) => line.replace('?', "\u{16}?"),
        }
    }
}

/// Returns whether a line looks like a question for consent, a name or a password. Check only a line after
/// silence, because output may quote a question.
pub(crate) fn is_question(line: &str) -> bool {
    static QUESTION: LazyLock<Pattern> = LazyLock::new(|| {
        Pattern::built_in(
            r"(?ix) (?: \[confirm\] | [\[(] (?:y|yes) \s* (?:/|\||or) \s* (?:n|no) (?:/\S{1,10})? [\])]
                (?:\s?\[\w*\])? | \?\s?\[\S*\] | \[\S*\]\s?\? | password\s?: |
                \bpress \s (?:any \s key|[<\[(]?(?:enter|return)[>\])]?) \b .{0,40} ) \s* [:?>]? \s* \z",
        )
    });
    QUESTION.is_found_in(line)
}

impl Default for Authentication {
    fn default() -> Self {
        Self {
            // `Last login: ` is no question.
            user_prompt: Pattern::built_in(
                r"(?i)^\s*(?!last )(?:\S+ ){0,2}(?:user ?name|user|login(?: as)?) ?: ?$",
            ),
            password_prompt: Pattern::built_in(r"(?i)^\s*(?:\S+ ){0,3}password ?: ?$"),
        }
    }
}

impl Default for Prompts {
    fn default() -> Self {
        Self {
            exec: LinePattern::built_in(r".*[>#$%❯»]"),
            config: None,
            privileged: None,
            above: None,
        }
    }
}

impl Save {
    /// Returns the command.
    pub fn command(&self) -> &str {
        match self {
            Self::Command(command) | Self::Asking { command, .. } => command,
        }
    }

    /// Returns the questions that the command asks.
    pub fn confirm(&self) -> &[Answer] {
        match self {
            Self::Command(_) => &[],
            Self::Asking { confirm, .. } => confirm,
        }
    }
}

impl Newline {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::Cr => "\r",
            Self::Crlf => "\r\n",
        }
    }
}

fn enable() -> String {
    "enable".to_owned()
}

fn password_prompt() -> Pattern {
    Pattern::built_in(r"(?i)password: ?$")
}

#[cfg(test)]
mod tests;
