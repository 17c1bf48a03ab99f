//! A user's device: its habit, its name and its prompts.

use std::time::Duration;

use super::dice::Dice;
use super::habit::{Echo, Habit, Keys, PromptStyle};

/// Names of devices: short ones, and names with dots, dashes and digits.
const NAMES: &[&str] = &[
    "sw1",
    "omega13",
    "core-2.example",
    "a",
    "R7",
    "edge_4",
    "leaf-101",
    "10.0.0.7",
    "Zurich-access-switch-29",
];

/// A user's device.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) habit: &'static Habit,
    pub(crate) name: String,
    mark: &'static str,
    pub(super) keys: Keys,
    /// The time of the device's clock when a session begins.
    midnight: Duration,
}

impl World {
    pub(crate) fn of(seed: u64, user: &str) -> Self {
        let mut dice = Dice::of(seed, &format!("world of {user}"));
        let habit = Habit::of(user);
        let (name, mark) = (
            (*dice.pick(NAMES)).to_owned(),
            *dice.pick(&["#", "# ", ">", "> ", "#", "$ "]),
        );
        let keys = *dice.pick(&[
            Keys::Edits { bell: false },
            Keys::Edits { bell: true },
            Keys::Edits { bell: false },
            Keys::TakesBack,
            Keys::Data,
        ]);
        Self {
            habit,
            name,
            mark,
            keys: match keys {
                // What a driver has echoed is echoed again by an editor, which supports editing.
                Keys::Data if habit.echo == Echo::Twice => Keys::TakesBack,
                keys => keys,
            },
            midnight: Duration::from_millis(dice.between(0, 86_399_999) as u64),
        }
    }

    /// Returns the prompt with its variable parts: the time since the session began, and the number of
    /// commands so far.
    pub(crate) fn prompt(&self, since: Duration, count: usize) -> String {
        let (name, mark) = (&self.name, self.mark);
        match self.habit.prompt {
            PromptStyle::Name => format!("{name}{mark}"),
            PromptStyle::Clock => format!("{} {name}{mark}", self.time(since)),
            PromptStyle::ClockBehind => format!("{name}.{}{mark}", &self.time(since)[..8]),
            PromptStyle::Counter => format!("{name}:{count}{mark}"),
            PromptStyle::As(pattern) => pattern.replace("{}", name),
        }
    }

    fn time(&self, since: Duration) -> String {
        let now = (self.midnight + since).as_millis();
        let (second, milli) = (now / 1000, now % 1000);
        let (hour, minute, second) = (second / 3600 % 24, second / 60 % 60, second % 60);
        format!("{hour:02}:{minute:02}:{second:02}.{milli:03}")
    }

    /// Returns a prompt as an output may quote it.
    pub(crate) fn quoted(&self, dice: &mut Dice) -> String {
        let since = Duration::from_millis(dice.between(0, 600_000) as u64);
        self.prompt(since, dice.between(1, 40))
    }
}
