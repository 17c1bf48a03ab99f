//! The plan: which commands are sent to which devices, and how.

use crate::device::Torture;
use crate::device::answer::{KINDS, Kind};
use crate::device::dice::Dice;
use crate::device::habit::{HABITS, Habit};

/// Habits for which more than one answer in a hundred ends with an error: devices without a line editor
/// that write messages after or over the prompt, with a long delay or a clock. They are only used when they
/// are named.
const NOT_YET: [&str; 2] = ["clock-log", "far-log"];

/// The number of commands and the seed.
pub(crate) struct PlanOptions {
    commands: usize,
    pub(crate) seed: u64,
    habit: Option<String>,
    /// Whether the user has set it.
    pub(crate) is_verbose: bool,
}

/// The commands of one session.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) number: usize,
    pub(crate) user: String,
    pub(crate) mode: CommandMode,
    /// Whether a family describes the device, or `ssh_cli` detects its prompt.
    pub(crate) family: bool,
    pub(crate) telnet: bool,
    pub(crate) commands: Vec<String>,
}

/// The way in which commands are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandMode {
    /// `session exec COMMAND`.
    Exec,
    /// `session exec COMMAND` with an answer to its question.
    Answered,
    /// `session exec -`.
    Lines,
    /// A task that runs `session exec` for each command.
    Task,
    /// `command run`, with commands that the family declares harmless.
    Show,
}

/// The maximum duration of a session's commands, in milliseconds.
const MAX_DURATION: usize = 20_000;

/// The maximum number of commands in a session.
const MAX_COMMANDS: usize = 14;

impl PlanOptions {
    pub(crate) fn of_environment() -> Self {
        let options = std::env::var("DEVGATE_TORTURE").ok();
        let mut words = options.iter().flat_map(|options| options.split(':'));
        let mut number = |otherwise: u64| {
            words
                .next()
                .and_then(|word| word.parse().ok())
                .unwrap_or(otherwise)
        };
        let (commands, seed) = (number(260), number(7));
        Self {
            commands: usize::try_from(commands).expect("a number of commands"),
            seed,
            habit: words.next().map(str::to_owned),
            is_verbose: options.is_some(),
        }
    }
}

impl Batch {
    /// Returns the target of the session.
    pub(crate) fn target(&self) -> String {
        let by = if self.family { "family" } else { "bare" };
        let over = if self.telnet { "telnet" } else { "ssh" };
        format!("{}-{by}-{over}", self.user.replace('.', "_"))
    }
}

/// Generates sessions until there are enough commands; the slowest first.
pub(crate) fn draw(device: &Torture, options: &PlanOptions) -> Vec<Batch> {
    let is_selected = |habit: &&Habit| match &options.habit {
        Some(name) => habit.name == name,
        None => !NOT_YET.contains(&habit.name),
    };
    let habits: Vec<&Habit> = HABITS.iter().filter(is_selected).collect();
    assert!(!habits.is_empty(), "no habit is called so");
    let each = options.commands.div_ceil(habits.len());
    let mut batches = Vec::new();
    for habit in habits {
        let (mut drawn, mut number) = (0, 0);
        while drawn < each {
            let mut batch = session(device, options, habit, number, each - drawn);
            (drawn, number) = (drawn + batch.commands.len(), number + 1);
            batch.number = batches.len();
            batches.push(batch);
        }
    }
    batches.sort_by_key(|batch| std::cmp::Reverse(duration(device, batch)));
    batches
}

fn session(
    device: &Torture,
    options: &PlanOptions,
    habit: &'static Habit,
    number: usize,
    most: usize,
) -> Batch {
    let user = format!("{}.{number}", habit.name);
    let mut dice = Dice::of(options.seed, &format!("plan of {user}"));
    let (family, telnet) = (dice.chance(40), dice.chance(15));
    let mut mode = *dice.pick(&[
        CommandMode::Lines,
        CommandMode::Lines,
        CommandMode::Lines,
        CommandMode::Task,
        CommandMode::Exec,
    ]);
    if family && mode == CommandMode::Lines && dice.chance(60) {
        mode = CommandMode::Show;
    }
    let mut commands = Vec::new();
    let most = if mode == CommandMode::Exec {
        1
    } else {
        most.min(MAX_COMMANDS)
    };
    let mut time = 0;
    while commands.len() < most && time < MAX_DURATION {
        let kind = kind(&mut dice, habit);
        let asks = matches!(kind.name, "answered" | "confirm");
        if asks && mode == CommandMode::Show {
            continue;
        }
        if kind.name == "answered" {
            if !commands.is_empty() {
                continue;
            }
            mode = CommandMode::Answered;
        }
        let command = command(&mut dice, habit, kind, commands.len());
        time += cost(device, habit, &user, &command);
        commands.push(command);
        // An unanswered question ends the session.
        if asks {
            break;
        }
    }
    Batch {
        number,
        mode,
        family,
        telnet,
        user,
        commands,
    }
}

fn kind(dice: &mut Dice, habit: &Habit) -> &'static Kind {
    let all: Vec<&Kind> = KINDS.iter().filter(|kind| kind.suits(habit)).collect();
    let weights: usize = all.iter().map(|kind| kind.weight).sum();
    let mut at = dice.between(1, weights);
    all.into_iter()
        .find(|kind| {
            let found = at <= kind.weight;
            at = at.saturating_sub(kind.weight);
            found
        })
        .expect("it is within the sum")
}

fn command(dice: &mut Dice, habit: &Habit, kind: &Kind, index: usize) -> String {
    let mut command = format!("show {} {}{index:02}", kind.name, dice.between(1, 9999));
    let length = command.len() + dice.between(0, habit.padded);
    while command.len() < length {
        command.push(' ');
        for _ in 0..dice.between(1, 12) {
            command.push(*dice.pick(&['a', 'b', 'r', 'x', '7', '-']));
        }
    }
    command
}

/// Returns the approximate duration of a command in milliseconds.
fn cost(device: &Torture, habit: &Habit, user: &str, command: &str) -> usize {
    let answer = device.answer(user, command);
    300 + answer.pauses() + 3 * habit.delay() + habit.carrying(answer.length() + 3 * command.len())
}

fn duration(device: &Torture, batch: &Batch) -> usize {
    let habit = Habit::of(&batch.user);
    let cost = |command: &String| cost(device, habit, &batch.user, command);
    5 * habit.delay() + batch.commands.iter().map(cost).sum::<usize>()
}
