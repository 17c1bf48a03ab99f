//! A dialect: what the engine must know of a device's CLI, as data.

use std::sync::LazyLock;

use serde::Deserialize;

pub use super::pattern::{LinePattern, Pattern};

/// How a device's CLI looks and wants to be talked to: the `dialect` of a `family.yaml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dialect {
    /// What its prompts look like.
    pub prompt: Prompts,
    /// How the command line asks who is there, where it does so itself.
    pub authentication: Authentication,
    /// Other questions between login and prompt, and what is typed in answer.
    pub login: Vec<Answer>,
    /// Commands that are run when a session opens: they turn paging off.
    pub on_open: Vec<String>,
    /// Pagers that appear nevertheless, and the keys that go on.
    pub pager: Vec<Answer>,
    /// How to become privileged.
    pub enable: Option<Enable>,
    /// The command that enters configuration mode; without it the session cannot configure.
    pub enter_config: Option<String>,
    /// The command that leaves configuration mode from any depth.
    pub leave_config: Option<String>,
    /// Questions that commands and lines of configuration ask, and what is typed in answer. What is
    /// not here is never answered unless the answer was given with the command.
    pub confirm: Vec<Confirm>,
    /// Lines of configuration that open a text of several lines, such as a banner: the first group
    /// is what the text ends with.
    pub text: Vec<Pattern>,
    /// The command that saves the running configuration.
    pub save: Option<Save>,
    /// Lines in which the device says that a command failed.
    pub failure: Vec<Pattern>,
    /// Lines that the device may write at any time, such as log messages.
    pub unsolicited: Vec<Pattern>,
    /// The command that ends the session; without it only the connection is closed.
    pub leave: Option<String>,
    /// What ends a typed line: a carriage return where the device insists on one.
    pub newline: Newline,
}

/// What a dialect's prompts look like.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prompts {
    /// Where commands are run.
    pub exec: LinePattern,
    /// In configuration mode, at any depth.
    pub config: Option<LinePattern>,
    /// Where privileged commands are run, if that differs from `exec`.
    pub privileged: Option<LinePattern>,
}

/// How a command line asks who is there. Each is answered once, by the target's settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Authentication {
    /// What the question for the name looks like.
    pub user_prompt: Pattern,
    /// What the question for the password looks like.
    pub password_prompt: Pattern,
}

/// A question of the device and what is typed in answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the question looks like, at the end of what has arrived.
    pub pattern: Pattern,
    /// What is typed, exactly; an empty text is a bare line end.
    pub answer: String,
}

/// A question that comes in answer to what was typed, and what is typed then.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confirm {
    /// Which commands and lines may ask it; without it all.
    #[serde(default)]
    pub command: Option<Pattern>,
    /// What the question looks like, at the end of what has arrived.
    pub pattern: Pattern,
    /// What is typed, exactly; an empty text is a bare line end.
    pub answer: String,
}

/// How to become privileged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Enable {
    /// The command.
    #[serde(default = "enable")]
    pub command: String,
    /// What the question for the password looks like.
    #[serde(default = "password_prompt")]
    pub password_prompt: Pattern,
    /// Whether sessions are useless without it: then it is asked for even without a password.
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
        /// The questions and what is typed in answer.
        confirm: Vec<Answer>,
    },
}

/// What ends a typed line.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Newline {
    /// Line feed, as most devices take it.
    #[default]
    Lf,
    /// Carriage return.
    Cr,
    /// Both.
    Crlf,
}

impl Dialect {
    /// The dialect of an unknown device: its prompt is learnt, and common pagers are answered.
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
            // Behind a command it may be a question whether to go on with it.
            login: vec![Answer {
                pattern: Pattern::built_in(r"(?i)^press any key to continue\b.{0,20}$"),
                answer: String::new(),
            }],
            // As Cisco's command line and its many likenesses refuse.
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
    /// The questions that this line may ask.
    pub(crate) fn confirmations(&self, line: &str) -> impl Iterator<Item = &Confirm> {
        self.confirm.iter().filter(move |confirm| {
            let command = confirm.command.as_ref();
            command.is_none_or(|command| command.is_found_in(line))
        })
    }

    /// What ends the text that this line opens, if it opens one and does not end it itself.
    pub(crate) fn text_end(&self, line: &str) -> Option<String> {
        self.text.iter().find_map(|pattern| {
            let (at, end) = pattern.first_group(line)?;
            let after = &line[at + end.len()..];
            (!end.is_empty() && !after.contains(end)).then(|| end.to_owned())
        })
    }
}

/// Whether this looks like a question that waits for consent, a name or a password. It must be asked
/// of a line that has stood still: an output may quote one.
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
            exec: LinePattern::new(r".*[>#$%❯»]").expect("a built-in pattern compiles"),
            config: None,
            privileged: None,
        }
    }
}

impl Save {
    /// The command.
    pub fn command(&self) -> &str {
        match self {
            Self::Command(command) | Self::Asking { command, .. } => command,
        }
    }

    /// The questions that it asks.
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
mod tests {
    use super::*;

    #[test]
    fn built_in_patterns_compile_and_know_pagers() {
        let Dialect {
            pager,
            failure,
            unsolicited,
            prompt,
            ..
        } = Dialect::generic();
        let is_pager = |line| pager.iter().any(|answer| answer.pattern.is_found_in(line));
        for line in [
            "--More--",
            " --More-- ",
            "<--- More --->",
            "-- More --",
            "---- More ----",
            "---(more)---",
            "---(more 45%)---",
            "[More]",
            "--More--(50%)",
            "Press any key to continue (Q to quit)",
            "--More-- (q to quit)",
            "-- MORE --, next page: Space, next line: Enter, quit: Control-C",
        ] {
            assert!(is_pager(line), "{line}");
        }
        for line in [
            "more",
            "- more than one",
            "no more",
            "description --More-- or less",
            "r1#",
        ] {
            assert!(!is_pager(line), "{line}");
        }
        assert!(failure[0].is_found_in("% Invalid input detected at '^' marker."));
        assert!(failure[0].is_found_in("% Unknown command: show bogus"));
        assert!(!failure[0].is_found_in("% BGP not active"));
        assert!(unsolicited[0].is_found_in("*Nov 21 10:00:00: %SYS-5-CONFIG_I: by admin"));
        assert!(unsolicited[0].is_found_in("%LINEPROTO-SP-5-UPDOWN: down"));
        assert!(!unsolicited[0].is_found_in("% Invalid input"));
        assert!(prompt.exec.is("r1#") && prompt.exec.is("> ") && !prompt.exec.is("Password:"));
        assert!(password_prompt().is_found_in("Password: "));
        for line in [
            "Proceed with reload? [confirm]",
            "Are you sure you want to save? (y/n) ",
            "Continue? [yes/no]: ",
            "Delete? [Y/N]:",
            "Really? (yes/no)[no]: ",
            "Save? [no]:",
            "Destination filename [startup-config]? ",
            "Password: ",
            "Press any key to continue",
            "Press <Enter> to reload the switch: ",
        ] {
            assert!(is_question(line), "{line}");
        }
        for line in [
            "r1#",
            "value [1]",
            "neighbor x password",
            "is it?",
            "do not express any key",
            "10:00:00: ",
        ] {
            assert!(!is_question(line), "{line}");
        }
        let Authentication {
            user_prompt,
            password_prompt,
        } = Authentication::default();
        for line in [
            "Username: ",
            "login: ",
            "r1 login: ",
            "User:",
            "login as: ",
            "User Name:",
        ] {
            assert!(user_prompt.is_found_in(line), "{line}");
        }
        for line in ["Last login: ", "last login: Mon", "r1#", "Users: "] {
            assert!(!user_prompt.is_found_in(line), "{line}");
        }
        assert!(password_prompt.is_found_in("Password: "));
        assert!(password_prompt.is_found_in("admin@r1's password:"));
        assert!(!password_prompt.is_found_in("Password: never tell it"));
    }
}
