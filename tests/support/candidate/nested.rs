//! Configurations of nested lines, as IOS XR and EOS have them: which lines open a submode, which set something, and how
//! a configuration is shown.

use std::fmt::Write;

use super::config::{Edit, Statements};

/// What a line may be in a mode.
pub(super) struct Mode {
    /// The first words of the line that opens it; none for the mode of the whole configuration.
    pub(super) opened_by: &'static [&'static str],
    /// Whether a name follows these words.
    pub(super) is_named: bool,
    /// Its name in the prompt.
    pub(super) name: &'static str,
    /// What can be set in it.
    pub(super) lines: &'static [(&'static str, Value)],
    /// The modes that can be opened in it, as positions in the same table.
    pub(super) modes: &'static [usize],
}

/// What follows the first words of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing.
    None,
    /// Any text.
    Text,
    /// A number.
    Number(u32, u32),
    /// Words that are a part of the name: there can be many such lines.
    Item,
}

/// What a line does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    Change(Edit),
    /// Opens a submode.
    Enter(String),
}

/// Returns the mode in which the lines of `context` end.
pub(super) fn mode_of<'t>(table: &'t [Mode], context: &[String]) -> &'t Mode {
    let mut mode = &table[0];
    for opened in context {
        let found = mode.modes.iter().map(|at| &table[*at]);
        let mut found = found.filter(|one| is_opened(one, opened));
        mode = found.next().expect("only known modes are opened");
    }
    mode
}

fn is_opened(mode: &Mode, line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.starts_with(mode.opened_by)
}

/// Returns what a line does in a mode. `None` if it is wrong there.
fn action(table: &[Mode], context: &[String], line: &str) -> Option<Action> {
    let mode = mode_of(table, context);
    let words: Vec<&str> = line.split_whitespace().collect();
    let (is_no, words) = match words.split_first()? {
        (&"no", rest) => (true, rest),
        _ => (false, &words[..]),
    };
    let line = words.join(" ");
    let path = |last: String| [context, &[last]].concat();
    for at in mode.modes {
        let submode = &table[*at];
        let length = submode.opened_by.len() + usize::from(submode.is_named);
        if is_opened(submode, &line) && words.len() == length {
            return Some(if is_no {
                Action::Change(Edit::Delete(path(line)))
            } else {
                Action::Enter(line)
            });
        }
    }
    mode.lines.iter().find_map(|(known, value)| {
        let known_words: Vec<&str> = known.split_whitespace().collect();
        let rest = words.strip_prefix(&*known_words)?;
        let fits = match (value, rest) {
            (Value::None, []) => true,
            (Value::Text, [_, ..]) => true,
            (Value::Item, [_, _, ..]) => true,
            (Value::Number(least, most), [number]) => {
                (*least..=*most).contains(&number.parse().ok()?)
            }
            (Value::Text | Value::Number(..), []) => is_no,
            _ => false,
        };
        let last = match value {
            Value::Item => line.clone(),
            _ => (*known).to_owned(),
        };
        let edit = if is_no {
            Edit::Delete(path(last))
        } else {
            Edit::Set(path(last), line.clone())
        };
        fits.then_some(Action::Change(edit))
    })
}

/// Applies a line in the deepest of the open modes that knows it, as these devices do, and leaves the deeper ones.
/// Returns false if none knows it.
pub(super) fn apply(
    table: &[Mode],
    context: &mut Vec<String>,
    config: &mut Statements,
    line: &str,
) -> bool {
    let depths = (0..=context.len()).rev();
    let mut known =
        depths.filter_map(|depth| Some((depth, action(table, &context[..depth], line)?)));
    let Some((depth, action)) = known.next() else {
        return false;
    };
    drop(known);
    context.truncate(depth);
    match action {
        Action::Change(edit) => {
            config.apply(edit);
        }
        Action::Enter(line) => context.push(line),
    }
    true
}

/// Writes a configuration as nested lines.
pub(super) fn shown(config: &Statements, indent: &str) -> String {
    let mut text = String::new();
    let mut open: Vec<String> = vec![];
    for (path, line) in config.iter() {
        let around = &path[..path.len() - 1];
        let kept = open.iter().zip(around).take_while(|(a, b)| a == b).count();
        if kept < open.len() {
            close(&mut text, &mut open, kept, indent);
        }
        for opened in &around[kept..] {
            writeln!(text, "{}{opened}", indent.repeat(open.len())).expect("a text can be written");
            open.push(opened.clone());
        }
        let indent = indent.repeat(open.len());
        for (number, part) in line.lines().enumerate() {
            let indent = if number == 0 { &*indent } else { "" };
            writeln!(text, "{indent}{part}").expect("a text can be written");
        }
    }
    close(&mut text, &mut open, 0, indent);
    text
}

fn close(text: &mut String, open: &mut Vec<String>, kept: usize, indent: &str) {
    while open.len() > kept {
        open.pop();
        writeln!(text, "{}!", indent.repeat(open.len())).expect("a text can be written");
    }
}

/// Writes what makes `after` of `before`, with a sign before each line.
pub(super) fn difference(before: &Statements, after: &Statements, indent: &str) -> String {
    let mut text = String::new();
    let mut open: &[String] = &[];
    for (path, old, new) in before.difference(after) {
        let around = &path[..path.len() - 1];
        if around != open {
            for (depth, opened) in around.iter().enumerate() {
                writeln!(text, "   {}{opened}", indent.repeat(depth))
                    .expect("a text can be written");
            }
            open = around;
        }
        let indent = indent.repeat(around.len());
        for (sign, lines) in [('-', old), ('+', new)] {
            for line in lines.unwrap_or_default().lines() {
                writeln!(text, "{sign}  {indent}{line}").expect("a text can be written");
            }
        }
    }
    text
}

/// Returns the name of the device.
pub(super) fn hostname(config: &Statements) -> &str {
    let mut lines = config.iter().map(|(_, line)| line);
    lines
        .find_map(|line| line.strip_prefix("hostname "))
        .unwrap_or("ios")
}
