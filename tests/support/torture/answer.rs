//! The table of commands: what the device answers, generated from the seed, and which part of it is output.

use super::dice::Dice;
use super::drawn;
use super::habit::{Echo, Habit, LogMessages};
use super::world::World;

/// The device's reaction to a command.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) steps: Vec<Step>,
}

/// One action of the device.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Shows a text; the habit determines its line ends.
    Show(String),
    /// Sends bytes, which look like this text.
    Raw(Vec<u8>, String),
    /// Shows nothing for this number of milliseconds.
    Pause(usize),
    /// Asks this question, and continues after consent.
    Ask(String),
    /// Changes the device's name.
    Rename(String),
}

/// The expected result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Exactly this output.
    Output(String),
    /// An error that quotes this question, which was not answered. If a key that is not consent refused it,
    /// the output `refused` is also correct.
    Question { question: String, refused: String },
    /// An output that begins and ends like this, with the question and its answer in between.
    Answered { begin: String, end: String },
}

/// A command by its name, with the generator of its answer.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    draw: fn(&mut Dice, &World) -> Vec<Step>,
    /// How often the command is sent, compared with others.
    pub(crate) weight: usize,
}

/// The answer to a question, for commands that are sent with an answer.
pub(crate) const CONSENT: &str = "y";

#[rustfmt::skip]
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: "plain", draw: |dice, _| vec![drawn::lines(dice, 0, 30)], weight: 4 },
    Kind { name: "nothing", draw: |_, _| vec![], weight: 2 },
    Kind { name: "unended", draw: drawn::unended, weight: 4 },
    Kind { name: "blank-lines", draw: drawn::blank_lines, weight: 2 },
    Kind { name: "prompt-line", draw: drawn::prompt_line, weight: 3 },
    Kind { name: "prompt-pause", draw: drawn::prompt_pause, weight: 5 },
    Kind { name: "prompt-blanks-last", draw: drawn::prompt_blanks_last, weight: 6 },
    Kind { name: "prompt-blanks-more", draw: drawn::prompt_blanks_more, weight: 5 },
    Kind { name: "prompt-tail", draw: drawn::prompt_tail, weight: 3 },
    Kind { name: "prompt-unended", draw: drawn::prompt_unended, weight: 3 },
    Kind { name: "prompts", draw: drawn::prompts, weight: 2 },
    Kind { name: "transcript", draw: drawn::transcript, weight: 2 },
    Kind { name: "echo-like", draw: |dice, _| vec![drawn::lines(dice, 1, 4)], weight: 1 },
    Kind { name: "long", draw: drawn::long, weight: 1 },
    Kind { name: "characters", draw: |dice, _| drawn::characters(dice), weight: 2 },
    Kind { name: "sequences", draw: |dice, _| drawn::sequences(dice), weight: 2 },
    Kind { name: "overwritten", draw: |dice, _| drawn::overwritten(dice), weight: 2 },
    Kind { name: "pager-like", draw: drawn::pager_like, weight: 1 },
    Kind { name: "question-like", draw: drawn::question_like, weight: 1 },
    Kind { name: "logging", draw: drawn::logging, weight: 2 },
    Kind { name: "slow", draw: drawn::slow, weight: 2 },
    Kind { name: "big", draw: |dice, _| vec![drawn::lines(dice, 1000, 4000)], weight: 1 },
    Kind { name: "rename", draw: drawn::rename, weight: 1 },
    Kind { name: "confirm", draw: drawn::confirm, weight: 1 },
    Kind { name: "answered", draw: drawn::confirm, weight: 1 },
];

/// Log messages that appear on a terminal at any time.
pub(super) const MESSAGES: &[&str] = &[
    "*Nov 21 09:48:53.123: %LINK-3-UPDOWN: Interface Gi0/3, changed state to up",
    "%SYS-5-CONFIG_I: Configured from console by admin on vty0 (192.0.2.9)",
    "2026 Nov 21 09:48:53 sw1 %ETHPORT-5-IF_DOWN_LINK_FAILURE: Interface Ethernet1/7 is down",
];

impl Answer {
    /// Returns the answer to a user's command `show KIND NUMBER …`.
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

    /// Returns the expected result, if its question is answered or not.
    pub(crate) fn expected(&self, is_answered: bool) -> Expected {
        let mut output = String::new();
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Show(text) | Step::Raw(_, text) => output.push_str(text),
                Step::Ask(_) if is_answered => {
                    let rest = Self {
                        steps: self.steps[at + 1..].to_vec(),
                    };
                    let Expected::Output(end) = rest.expected(true) else {
                        panic!("no command asks twice");
                    };
                    return Expected::Answered { begin: output, end };
                }
                Step::Ask(question) => {
                    let refused = format!("{output}{question}\n");
                    return Expected::Question {
                        question: question.clone(),
                        refused,
                    };
                }
                Step::Pause(_) | Step::Rename(_) => {}
            }
        }
        Expected::Output(output)
    }

    /// Returns the milliseconds of its own pauses.
    pub(crate) fn pauses(&self) -> usize {
        let pause = |step: &Step| match step {
            Step::Pause(time) => *time,
            _ => 0,
        };
        self.steps.iter().map(pause).sum()
    }

    /// Returns the approximate number of bytes that it sends.
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
    /// Whether its end can be recognised on such a terminal. Excluded are the cases that no client could
    /// distinguish: messages that the command itself shows, if the device also logs such messages by
    /// itself; successive prompts with pauses, if the terminal does not echo input, or echoes it while no
    /// program reads; and a last line without an end, if the device erases that line before it prompts.
    pub(crate) fn suits(&self, habit: &Habit) -> bool {
        let logs = habit.log != LogMessages::Never;
        let is_blind = matches!(habit.echo, Echo::Nothing | Echo::Driver | Echo::Twice);
        match self.name {
            "logging" => !logs,
            "prompts" | "transcript" => !is_blind,
            "unended" | "prompt-unended" => !habit.wipes_before_prompt(),
            "big" => habit.carrying(200_000) < 2000 && habit.pager.is_none(),
            _ => true,
        }
    }
}
