//! The generators of the commands' answers: lines, and everything that resembles a prompt, a pager or a
//! question.

use super::answer::{MESSAGES, Step};
use super::dice::Dice;
use super::habit::Echo;
use super::world::World;

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

/// Generates some lines.
pub(super) fn lines(dice: &mut Dice, least: usize, most: usize) -> Step {
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

/// Generates a pause: none, or up to longer than any timeout that a client would dare to use.
fn pause(dice: &mut Dice) -> Step {
    Step::Pause(*dice.pick(&[0, 0, 15, 60, 250, 400, 900, 1600, 2600]))
}

fn blanks(dice: &mut Dice, least: usize) -> String {
    " ".repeat(dice.between(least, 14))
}

pub(super) fn unended(dice: &mut Dice, _: &World) -> Vec<Step> {
    let last = line(dice) + *dice.pick(&["", "", " ", ":"]);
    vec![
        lines(dice, 0, 8),
        pause(dice),
        Step::Show(last),
        pause(dice),
    ]
}

pub(super) fn blank_lines(dice: &mut Dice, _: &World) -> Vec<Step> {
    let empty = |dice: &mut Dice| Step::Show("\n".repeat(dice.between(0, 4)));
    vec![
        empty(dice),
        lines(dice, 0, 3),
        empty(dice),
        lines(dice, 0, 3),
        empty(dice),
    ]
}

pub(super) fn prompt_line(dice: &mut Dice, world: &World) -> Vec<Step> {
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

pub(super) fn prompt_pause(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    vec![
        lines(dice, 0, 5),
        Step::Show(quoted),
        pause(dice),
        Step::Show("\n".into()),
        lines(dice, 0, 5),
    ]
}

pub(super) fn prompt_blanks_last(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    let blanks = blanks(dice, 0);
    vec![
        lines(dice, 0, 5),
        Step::Show(format!("{quoted}{blanks}\n")),
        pause(dice),
    ]
}

pub(super) fn prompt_blanks_more(dice: &mut Dice, world: &World) -> Vec<Step> {
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

pub(super) fn prompt_tail(dice: &mut Dice, world: &World) -> Vec<Step> {
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

/// Ends the last line with a prompt and without a line end.
pub(super) fn prompt_unended(dice: &mut Dice, world: &World) -> Vec<Step> {
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

pub(super) fn prompts(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = vec![lines(dice, 0, 3)];
    for _ in 0..dice.between(2, 4) {
        let (quoted, blanks) = (world.quoted(dice), blanks(dice, 0));
        steps.extend([Step::Show(format!("{quoted}{blanks}\n")), pause(dice)]);
    }
    steps.push(lines(dice, 0, 2));
    steps
}

/// Shows a recorded session: prompts followed by commands.
pub(super) fn transcript(dice: &mut Dice, world: &World) -> Vec<Step> {
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

pub(super) fn long(dice: &mut Dice, _: &World) -> Vec<Step> {
    let mut text = String::new();
    let length = dice.between(70, 4000);
    while text.len() < length {
        text = text + &line(dice) + " ";
    }
    vec![Step::Show(text + "\n"), lines(dice, 0, 2)]
}

/// Shows multi-byte characters and invalid bytes.
pub(super) fn characters(dice: &mut Dice) -> Vec<Step> {
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

/// Shows colours, titles, bells and padding.
pub(super) fn sequences(dice: &mut Dice) -> Vec<Step> {
    let raw = |bytes: &[u8], output: &str| Step::Raw(bytes.to_vec(), output.to_owned());
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

/// Shows overwritten text: progress, a spinner, overstruck letters.
pub(super) fn overwritten(dice: &mut Dice) -> Vec<Step> {
    let (bytes, output): (&[u8], &str) = *dice.pick::<(&[u8], &str)>(&[
        (b"copying  10%\rcopying  55%\rcopying 100%", "copying 100%"),
        (b"wait |\x08/\x08-\x08\\\x08done", "wait done"),
        (b"N\x08NA\x08AM\x08ME\x08E", "NAME"),
        (b"shwo\x08\x08ow version", "show version"),
    ]);
    let raw = Step::Raw(bytes.to_vec(), output.to_owned());
    vec![
        lines(dice, 0, 2),
        raw,
        Step::Show("\n".to_owned()),
        lines(dice, 0, 2),
    ]
}

pub(super) fn pager_like(dice: &mut Dice, _: &World) -> Vec<Step> {
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

pub(super) fn question_like(dice: &mut Dice, _: &World) -> Vec<Step> {
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

/// Shows messages, like those of `show logging`.
pub(super) fn logging(dice: &mut Dice, world: &World) -> Vec<Step> {
    let mut steps = vec![lines(dice, 0, 2)];
    for _ in 0..dice.between(1, 4) {
        let message = *dice.pick(MESSAGES);
        steps.extend([Step::Show(format!("{message}\n")), pause(dice)]);
    }
    // A prompt followed only by messages is byte for byte what a device writes at its own prompt.
    if dice.chance(40) {
        let quoted = world.quoted(dice);
        steps.insert(1, Step::Show(format!("{quoted}\n")));
        steps.push(lines(dice, 1, 2));
    }
    steps
}

pub(super) fn slow(dice: &mut Dice, world: &World) -> Vec<Step> {
    let text = format!("{} {}\n{}\n", line(dice), world.quoted(dice), line(dice));
    let each = dice.between(1, 25);
    let bytes = text
        .chars()
        .map(|character| Step::Show(character.to_string()));
    bytes.flat_map(|byte| [byte, Step::Pause(each)]).collect()
}

pub(super) fn rename(dice: &mut Dice, world: &World) -> Vec<Step> {
    let name = format!("{}{}", world.name, dice.between(2, 9));
    vec![pause(dice), Step::Rename(name)]
}

/// Asks a question after a line that looks like the prompt, and a pause.
pub(super) fn confirm(dice: &mut Dice, world: &World) -> Vec<Step> {
    let quoted = world.quoted(dice);
    // If typed characters cannot be removed, a terminal that echoes nothing or everything can be probed
    // only with Enter, which does not distinguish a question from the prompt.
    let is_echoed = !matches!(world.habit.echo, Echo::Nothing | Echo::Driver);
    let (before, pause) = match dice.between(0, 3) {
        number if number == 0 || !is_echoed => (Step::Show(String::new()), Step::Pause(0)),
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
