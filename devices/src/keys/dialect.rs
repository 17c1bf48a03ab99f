//! `dialect` in `family.yaml`.

use super::table::Kind::{Boolean, List, Object as In, OneOf, Pattern, Text, Word};
use super::table::{Object, key};

pub(super) static DIALECT: Object = Object {
    name: "dialect",
    desc: "The command line of a device. Patterns are regular expressions. `eapi` and `nxapi` take only `harmless`, \
           `filters`, `text` and `config_text`.",
    keys: &[
        key("prompt", In(&PROMPT), "the prompts"),
        key(
            "authentication",
            In(&AUTHENTICATION),
            "the login questions of a command line that asks for a login itself",
        ),
        key(
            "login",
            List(&In(&ANSWER)),
            "other questions between login and prompt",
        ),
        key(
            "on_open",
            List(&Text),
            "commands to run when a session opens; they turn paging off",
        ),
        key(
            "pager",
            List(&In(&ANSWER)),
            "pagers that appear nevertheless",
        ),
        key("enable", In(&ENABLE), "how to enter privileged mode"),
        key(
            "enter_config",
            Text,
            "the command that enters configuration mode; `none` if lines are typed at the prompt of commands; without it, the \
             device cannot be configured",
        ),
        key(
            "leave_config",
            Text,
            "the command that leaves configuration mode from any depth",
        ),
        key(
            "leave_mode",
            Text,
            "the line that leaves a mode for the one above; `exit` by default, `none` if the lines themselves do so",
        ),
        key(
            "negate",
            Text,
            "the word before a line that makes it the opposite; `no` by default",
        ),
        key(
            "commit",
            In(&COMMIT),
            "how typed lines take effect, if they do so only with a commit",
        ),
        key(
            "confirm",
            List(&In(&CONFIRM)),
            "questions of commands and lines, and the answers; a question that is not here is never answered",
        ),
        key(
            "text",
            List(&OneOf(&[Pattern, In(&TEXT)])),
            "lines that open a text of several lines: patterns whose first group ends the text, or `{opens, end}`",
        ),
        key(
            "literal",
            Word(&["ctrl-v", "none"]),
            "the key that makes a `?` at a prompt a character instead of a request for help; `none` where a `?` never asks for help",
        ),
        key(
            "save",
            OneOf(&[Text, In(&SAVE)]),
            "the command that saves the configuration, and what it asks; `none` if the device saves by itself",
        ),
        key(
            "failure",
            List(&Pattern),
            "lines that say that a command failed",
        ),
        key(
            "unsolicited",
            List(&Pattern),
            "lines that the device may write at any time, such as log messages",
        ),
        key(
            "harmless",
            List(&Pattern),
            "commands that change nothing: patterns for whole commands. `devgate command run` sends no others without \
             `--any`. A command with `>`, `;`, `[`, `{`, a line end, or a `|` before something that is not in `filters` is never harmless",
        ),
        key(
            "config_text",
            Text,
            "the command that shows the whole running configuration, for backups and rollbacks; it counts as harmless",
        ),
        key(
            "filters",
            List(&Pattern),
            "filters that may follow a harmless command: patterns for what follows a `|`, such as `include \\S.*`; not for \
             what writes files",
        ),
        key(
            "leave",
            Text,
            "the command that ends the session; without it, devgate closes the connection",
        ),
        key(
            "newline",
            Word(&["lf", "cr", "crlf"]),
            "the line end to type; `lf` by default",
        ),
    ],
};

static COMMIT: Object = Object {
    name: "commit",
    desc: "A candidate configuration, which takes effect with a commit. Every command may contain `{session}`, the name of \
           the configuration session.",
    keys: &[
        key(
            "diff",
            Text,
            "shows what the candidate changes; an empty answer means that it changes nothing",
        ),
        key(
            "no_diff",
            Pattern,
            "lines of that answer that are no change",
        ),
        key(
            "check",
            Text,
            "checks the candidate, without changing anything",
        ),
        key(
            "commit",
            Text,
            "makes the candidate the running configuration",
        )
        .required(),
        key(
            "confirmed",
            Text,
            "commits until a time has passed, unless `confirm` follows; the time is `{minutes}`, `{seconds}` or `{time}` \
             (`hh:mm:ss`)",
        ),
        key("confirm", Text, "makes such a commit permanent"),
        key("cancel", Text, "takes such a commit back at once"),
        key(
            "pending",
            In(&PENDING),
            "how the device shows a commit, of any session, that waits for its confirmation",
        ),
        key("discard", Text, "empties the candidate").required(),
        key("reason", Text, "shows why a commit has failed"),
        key(
            "saves",
            Boolean,
            "whether a commit survives a restart; by default it does, otherwise `save` is needed",
        ),
    ],
};

static PENDING: Object = Object {
    name: "pending",
    desc: "A commit that waits for its confirmation. devgate changes nothing meanwhile, and reports nothing that such a \
           commit may have changed.",
    keys: &[
        key(
            "command",
            Text,
            "the command that shows it, at the prompt for commands",
        )
        .required(),
        key(
            "in_config",
            Text,
            "the same command in configuration mode, if it is another one there",
        ),
        key(
            "pattern",
            Pattern,
            "lines of its answer that are there only as long as a commit waits",
        )
        .required(),
    ],
};

static PROMPT: Object = Object {
    name: "prompt",
    desc: "The prompts of a command line.",
    keys: &[
        key(
            "exec",
            Pattern,
            "the prompt at which commands run; by default any text that ends with `>`, `#`, `$` or `%`",
        ),
        key(
            "config",
            Pattern,
            "the prompt of configuration mode, at any depth",
        ),
        key(
            "above",
            Pattern,
            "the line above a prompt that belongs to it and may change with the mode, such as `[edit]`",
        ),
        key(
            "privileged",
            Pattern,
            "the prompt of privileged mode, if it differs from `exec`",
        ),
    ],
};

static AUTHENTICATION: Object = Object {
    name: "authentication",
    desc: "The login questions of a command line.",
    keys: &[
        key("user_prompt", Pattern, "the question for the user name"),
        key("password_prompt", Pattern, "the question for the password"),
    ],
};

static ANSWER: Object = Object {
    name: "answer",
    desc: "A question of the device, and the answer.",
    keys: &[
        key(
            "pattern",
            Pattern,
            "the question, at the end of what was received",
        )
        .required(),
        key(
            "answer",
            Text,
            "what to type; an empty text is a bare line end",
        )
        .required(),
    ],
};

static CONFIRM: Object = Object {
    name: "confirm",
    desc: "A question of a command or a line, and the answer.",
    keys: &[
        key(
            "command",
            Pattern,
            "the commands and lines that may ask it; by default all",
        ),
        key(
            "pattern",
            Pattern,
            "the question, at the end of what was received",
        )
        .required(),
        key(
            "answer",
            Text,
            "what to type; an empty text is a bare line end",
        )
        .required(),
    ],
};

static ENABLE: Object = Object {
    name: "enable",
    desc: "How to enter privileged mode.",
    keys: &[
        key("command", Text, "the command; `enable` by default"),
        key("password_prompt", Pattern, "the question for the password"),
        key(
            "required",
            Boolean,
            "enter it even without a password; by default not",
        ),
    ],
};

static TEXT: Object = Object {
    name: "text",
    desc: "Lines that open a text of several lines, which a fixed line ends.",
    keys: &[
        key("opens", Pattern, "the lines that open it").required(),
        key("end", Text, "the line that ends it, alone").required(),
    ],
};

static SAVE: Object = Object {
    name: "save",
    desc: "A command that saves the configuration and asks something.",
    keys: &[
        key("command", Text, "the command").required(),
        key("confirm", List(&In(&ANSWER)), "its questions").required(),
    ],
};
