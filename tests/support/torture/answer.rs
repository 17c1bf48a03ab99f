//! The table of commands: what the device answers, drawn from the seed, and what of it is output.

use super::dice::Dice;
use super::habit::{Echo, Habit, LogMessages};
use super::world::World;

/// What one command makes the device do.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) steps: Vec<Step>,
}

/// One thing that the device does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Shows a text; its lines end as the habit has it.
    Show(String),
    /// Sends bytes, which look like this text.
    Raw(Vec<u8>, String),
    /// Shows nothing for so many milliseconds.
    Pause(usize),
    /// Asks this, and goes on when a key was pressed.
    Ask(String),
    /// Is called this from now on.
    Rename(String),
}

/// What must become of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// This output, to the byte.
    Output(String),
    /// An error that quotes this question, which nobody answered.
    Question(String),
}

/// A command by its name, and what its answer is drawn by.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    draw: fn(&mut Dice, &World) -> Vec<Step>,
    /// How often it is asked, compared with others.
    pub(crate) weight: usize,
}

/// What a question is answered with by the commands that answer it.
pub(crate) const CONSENT: &str = "y";

#[rustfmt::skip]
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: "plain", draw: |dice, _| vec![lines(dice, 0, 30)], weight: 4 },
    Kind { name: "nothing", draw: |_, _| vec![], weight: 2 },
    Kind { name: "unended", draw: unended, weight: 4 },
    Kind { name: "blank-lines", draw: blank_lines, weight: 2 },
    Kind { name: "prompt-line", draw: prompt_line, weight: 3 },
    Kind { name: "prompt-pause", draw: prompt_pause, weight: 5 },
    Kind { name: "prompt-blanks-last", draw: prompt_blanks_last, weight: 6 },
    Kind { name: "prompt-blanks-more", draw: prompt_blanks_more, weight: 5 },
    Kind { name: "prompt-tail", draw: prompt_tail, weight: 3 },
    Kind { name: "prompt-unended", draw: prompt_unended, weight: 3 },
    Kind { name: "prompts", draw: prompts, weight: 2 },
    Kind { name: "transcript", draw: transcript, weight: 2 },
    Kind { name: "echo-like", draw: |dice, _| vec![lines(dice, 1, 4)], weight: 1 },
    Kind { name: "long", draw: long, weight: 1 },
    Kind { name: "characters", draw: |dice, _| characters(dice), weight: 2 },
    Kind { name: "sequences", draw: |dice, _| sequences(dice), weight: 2 },
    Kind { name: "overwritten", draw: |dice, _| overwritten(dice), weight: 2 },
    Kind { name: "pager-like", draw: pager_like, weight: 1 },
    Kind { name: "question-like", draw: question_like, weight: 1 },
    Kind { name: "logging", draw: logging, weight: 2 },
    Kind { name: "slow", draw: slow, weight: 2 },
    Kind { name: "big", draw: |dice, _| vec![lines(dice, 1000, 4000)], weight: 1 },
    Kind { name: "rename", draw: rename, weight: 1 },
    Kind { name: "confirm", draw: confirm, weight: 1 },
    Kind { name: "answered", draw: confirm, weight: 1 },
];

/// Log messages as they come over a terminal at any time.
pub(super) const MESSAGES: &[&str] = &[
    "*Nov 21 09:48:53.123: %LINK-3-UPDOWN: Interface Gi0/3, changed state to up",
    "%SYS-5-CONFIG_I: Configured from console by admin on vty0 (192.0.2.9)",
    "2026 Nov 21 09:48:53 sw1 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/7 is down",
];

const WORDS: &[&str] = &[
    "Interface",
    "up",
    "down",
    "192.0.2.1/24",
    "swp1",
    "is",
    "MTU 1500",
    "VLAN 7",
    "a4:5d:36:00:12:9f",
    "-",
    "10%",
    "description uplink",
    "2001:db8::1",
    "[OK]",
    "(connected)",
    "bytes:",
    "14",
    "|",
    "last input 00:00:01",
    "<none>",
];

impl Answer {
    /// The answer to a command `show KIND NUMBER …` of a user.
    pub(crate) fn of(seed: u64, world: &World, command: &str) -> Option<Self> {
        let mut words = command.split_whitespace();
        let (show, kind, number) = (words.next()?, words.next()?, words.next()?);
        let kind = KINDS
            .iter()
            .find(|known| show == "show" && known.name == kind)?;
        let mut dice = Dice::of(seed, &format!("{} {} {number}", world.name, kind.name));
        let mut steps = (kind.draw)(&mut dice, world);
        match kind.name {
            "echo-like" => steps.insert(0, Step::Show(format!("{command}\n"))),
            "transcript" => {
                let quoted = world.quoted(&mut dice);
                steps.insert(1, Step::Show(format!("{quoted}{command}\n")));
            }
            _ => {}
        }
        Some(Self { steps })
    }

    /// What must become of it, where its question is answered or not.
    pub(crate) fn expected(&self, is_answered: bool) -> Expected {
        let mut output = String::new();
        for step in &self.steps {
            match step {
                Step::Show(text) | Step::Raw(_, text) => output.push_str(text),
                Step::Ask(question) if !is_answered => return Expected::Question(question.clone()),
                Step::Ask(_) | Step::Pause(_) | Step::Rename(_) => {}
            }
        }
        Expected::Output(output)
    }

    /// How many milliseconds it takes by itself.
    pub(crate) fn pauses(&self) -> usize {
        let pause = |step: &Step| match step {
            Step::Pause(time) => *time,
            _ => 0,
        };
        self.steps.iter().map(pause).sum()
    }

    /// How many bytes it sends, about.
    pub(crate) fn length(&self) -> usize {
        let length = |step: &Step| match step {
            Step::Show(text) => text.len(),
            Step::Raw(bytes, _) => bytes.len(),
            _ => 0,
        };
        self.steps.iter().map(length).sum()
    }
}

impl Kind {
    /// Whether its end can be told on such a terminal. Left out is what no client could know:
    /// a prompt and a message behind it, where the device writes just that of itself; and prompts one behind another,
    /// each with a pause, where the terminal does not show what is typed, or shows it while nobody reads.
    pub(crate) fn suits(&self, habit: &Habit) -> bool {
        let logs = habit.log != LogMessages::Never;
        let is_blind = matches!(habit.echo, Echo::Nothing | Echo::Driver);
        match self.name {
            "logging" => !logs,
            "prompts" | "transcript" => !is_blind,
            "big" => habit.carrying(200_000) < 2000 && habit.pager.is_none(),
            _ => true,
        }
    }
}

/// Some lines.
fn lines(dice: &mut Dice, least: usize, most: usize) -> Step {
    let mut text = String::new();
    for _ in 0..dice.between(least, most) {
        text.push_str(&" ".repeat(if dice.chance(30) {
            dice.between(1, 4)
        } else {
            0
        }));
        text.push_str(&line(dice));
        text.push_str(&" ".repeat(if dice.chance(10) {
            dice.between(1, 9)
        } else {
            0
        }));
        text.push('\n');
    }
    Step::Show(text)
}

fn line(dice: &mut Dice) -> String {
    let words: Vec<&str> = (0..dice.between(1, 7)).map(|_| *dice.pick(WORDS)).collect();
    words.join(*dice.pick(&[" ", "  ", "\t"]))
}

/// A pause that may be none, or longer than any patience that one would dare to have.
fn pause(dice: &mut Dice) -> Step {
    Step::Pause(*dice.pick(&[0, 0, 15, 60, 250, 400, 900, 1600, 2600]))
}

fn blanks(dice: &mut Dice, least: usize) -> String {
    " ".repeat(dice.between(least, 14))
}

fn unended(dice: &mut Dice, _: &World) -> Vec<Step> {
    let last = line(dice) + *dice.pick(&["", "", " ", ":"]);
    vec![
        lines(dice, 0, 8),
        pause(dice),
        Step::Show(last),
        pause(dice),
    ]
}

fn blank_lines(dice: &mut Dice, _: &World) -> Vec<Step> {
    let empty = |dice: &mut Dice| Step::Show("\n".repeat(dice.between(0, 4)));
    vec![
        empty(dice),
        lines(dice, 0, 3),
        empty(dice),
        lines(dice, 0, 3),
        empty(dice),
    ]
}

fn prompt_line(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let pauses = (pause(dice), pause(dice));
    vec![
        lines(dice, 0, 5),
        pauses.0,
        Step::Show(format!("{quoted}\n")),
        pauses.1,
        lines(dice, 0, 5),
    ]
}

fn prompt_pause(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    vec![
        lines(dice, 0, 5),
        Step::Show(quoted),
        pause(dice),
        Step::Show("\n".into()),
        lines(dice, 0, 5),
    ]
}

fn prompt_blanks_last(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let blanks = blanks(dice, 0);
    vec![
        lines(dice, 0, 5),
        Step::Show(format!("{quoted}{blanks}\n")),
        pause(dice),
    ]
}

fn prompt_blanks_more(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = prompt_blanks_last(dice, world);
    if dice.chance(30) {
        let quoted = world.quoted(dice);
        steps.extend([
            Step::Show(quoted),
            pause(dice),
            Step::Show(blanks(dice, 0) + "\n"),
        ]);
    }
    steps.extend([lines(dice, 1, 5), pause(dice)]);
    steps
}

fn prompt_tail(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let tail = format!("{}{}\n", blanks(dice, 0), line(dice));
    vec![
        lines(dice, 0, 5),
        Step::Show(quoted),
        pause(dice),
        Step::Show(tail),
        lines(dice, 0, 2),
    ]
}

/// Its last line ends with a prompt, and has no line end.
fn prompt_unended(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let before = if dice.chance(50) {
        line(dice) + " "
    } else {
        String::new()
    };
    vec![
        lines(dice, 0, 4),
        Step::Show(before + quoted.trim_end()),
        pause(dice),
    ]
}

fn prompts(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = vec![lines(dice, 0, 3)];
    for _ in 0..dice.between(2, 4) {
        let (quoted, blanks) = (world.quoted(dice), blanks(dice, 0));
        steps.extend([Step::Show(format!("{quoted}{blanks}\n")), pause(dice)]);
    }
    steps.push(lines(dice, 0, 2));
    steps
}

/// What a session looks like: prompts with commands behind them.
fn transcript(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = vec![lines(dice, 0, 2)];
    for command in ["show version", "", "exit"] {
        let quoted = world.quoted(dice);
        steps.extend([
            Step::Show(format!("{quoted}{command}\n")),
            lines(dice, 0, 3),
        ]);
    }
    steps
}

fn long(dice: &mut Dice, _: &World) -> Vec<Step> {
    let mut text = String::new();
    let length = dice.between(70, 4000);
    while text.len() < length {
        text = text + &line(dice) + " ";
    }
    vec![Step::Show(text + "\n"), lines(dice, 0, 2)]
}

/// Bytes that are more than one to a character, or none at all.
fn characters(dice: &mut Dice) -> Vec<Step> {
    let cut = Step::Pause(*dice.pick(&[0, 30]));
    vec![
        Step::Raw(
            b"Z\xfcrich caf\xc3".to_vec(),
            "Z\u{fffd}rich caf".to_owned(),
        ),
        cut,
        Step::Raw(b"\xa9 \xe2\x86".to_vec(), "é ".to_owned()),
        Step::Pause(*dice.pick(&[0, 30])),
        Step::Raw(b"\x92 \xe2\x9d\xaf".to_vec(), "→ ❯".to_owned()),
        Step::Show("\n".to_owned()),
        lines(dice, 0, 3),
    ]
}

/// Colours, titles, bells and padding.
fn sequences(dice: &mut Dice) -> Vec<Step> {
    let raw = |bytes: &[u8], shown: &str| Step::Raw(bytes.to_vec(), shown.to_owned());
    let mut all = [
        raw(b"\x1b[1;31mred\x1b[0m", "red"),
        raw(b"\x1b]0;a title#\x07", ""),
        raw(b"\x07\x07ding", "ding"),
        raw(b"\0\0", ""),
        raw(b"\x1b(B\x1b[m plain", " plain"),
        raw(b"\x1b[?25l\x1b[?25h", ""),
        raw(b"word \x1b[K", "word "),
        raw(b"\x1b[38;5;196mx\x1b[39;49m", "x"),
    ]
    .to_vec();
    let mut steps = vec![lines(dice, 0, 2)];
    for _ in 0..3 {
        let at = dice.between(0, all.len() - 1);
        steps.extend([all.swap_remove(at), Step::Pause(*dice.pick(&[0, 0, 20]))]);
    }
    steps.extend([Step::Show("\n".to_owned()), lines(dice, 0, 2)]);
    steps
}

/// What is written over: progress, a spinner, letters struck twice.
fn overwritten(dice: &mut Dice) -> Vec<Step> {
    let (bytes, shown): (&[u8], &str) = *dice.pick::<(&[u8], &str)>(&[
        (b"copying  10%\rcopying  55%\rcopying 100%", "copying 100%"),
        (b"wait |\x08/\x08-\x08\\\x08done", "wait done"),
        (b"N\x08NA\x08AM\x08ME\x08E", "NAME"),
        (b"shwo\x08\x08ow version", "show version"),
    ]);
    let raw = Step::Raw(bytes.to_vec(), shown.to_owned());
    vec![
        lines(dice, 0, 2),
        raw,
        Step::Show("\n".to_owned()),
        lines(dice, 0, 2),
    ]
}

fn pager_like(dice: &mut Dice, _: &World) -> Vec<Step> {
    let pager = *dice.pick(&[
        "--More--",
        " --More-- ",
        "---(more 45%)---",
        "<--- More --->",
    ]);
    vec![
        lines(dice, 0, 3),
        Step::Show(format!("{pager}\n")),
        lines(dice, 1, 3),
    ]
}

fn question_like(dice: &mut Dice, _: &World) -> Vec<Step> {
    let question = *dice.pick(&[
        "Overwrite? [y/n]",
        "Proceed? [confirm]",
        "Password:",
        "login:",
        "Username: ",
    ]);
    vec![
        lines(dice, 0, 3),
        Step::Show(format!("{question}\n")),
        pause(dice),
        lines(dice, 0, 3),
    ]
}

/// Messages that the command shows, such as those of `show logging`.
fn logging(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = vec![lines(dice, 0, 2)];
    for _ in 0..dice.between(1, 4) {
        let message = *dice.pick(MESSAGES);
        steps.extend([Step::Show(format!("{message}\n")), pause(dice)]);
    }
    if dice.chance(40) {
        let quoted = world.quoted(dice);
        steps.insert(1, Step::Show(format!("{quoted}\n")));
    }
    steps
}

fn slow(dice: &mut Dice, world: &World) -> Vec<Step> {
    let text = format!("{} {}\n{}\n", line(dice), world.quoted(dice), line(dice));
    let each = dice.between(1, 25);
    let bytes = text
        .chars()
        .map(|character| Step::Show(character.to_string()));
    bytes.flat_map(|byte| [byte, Step::Pause(each)]).collect()
}

fn rename(dice: &mut Dice, world: &World) -> Vec<Step> {
    let name = format!("{}{}", world.name, dice.between(2, 9));
    vec![pause(dice), Step::Rename(name)]
}

/// A question behind a line that looks like the prompt, and a pause.
fn confirm(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let (before, pause) = match dice.between(0, 3) {
        0 => (Step::Show(String::new()), Step::Pause(0)),
        1 => (Step::Show(format!("{quoted}\n")), pause(dice)),
        _ => (Step::Show(quoted), pause(dice)),
    };
    let question = *dice.pick(&[
        "Proceed with reload? [confirm]",
        "Delete flash:old.bin? [confirm]",
        "Save? [yes/no]: ",
        "Continue (y/n) ",
        "Destination filename [startup-config]? ",
    ]);
    let end = if matches!(&before, Step::Show(text) if text.ends_with('\n') || text.is_empty()) {
        ""
    } else {
        "\n"
    };
    vec![
        lines(dice, 0, 3),
        before,
        pause,
        Step::Show(end.to_owned()),
        Step::Ask(question.to_owned()),
        Step::Show("Done.\n".to_owned()),
    ]
}
