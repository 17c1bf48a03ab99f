//! Interprets a line in a mode: finds and runs its command, or refuses it like IOS.

use std::mem;

use super::commands;
use super::filter::{Filter, FilterError};
use super::grammar::{self, Arguments, ParseError, Rule};
use super::switch::Switch;
use super::vty::{Mode, Reply, Vty};

/// Runs a line that begins at a column of the screen.
///
/// # Errors
/// The text of the refusal. Nothing was done.
pub(super) fn run(
    switch: &mut Switch,
    vty: &mut Vty,
    line: &str,
    column: usize,
) -> Result<Reply, String> {
    if line.trim().is_empty() || line.trim_start().starts_with('!') {
        return Ok(Reply::empty());
    }
    let found = find(&vty.mode, line).map_err(|error| error.text(column, line))?;
    if found.is_global {
        vty.mode = Mode::Config;
    }
    let user = vty.user.clone();
    let reply = switch.recording_changes(&user, |switch| {
        (found.rule.run)(switch, vty, &found.arguments)
    });
    let reply = match reply {
        Reply::Exec { line, column } => exec(switch, vty, &line, column),
        reply => reply,
    };
    Ok(match (reply, found.filter) {
        (Reply::Text(text), Some(filter)) => Reply::Text(filter.apply(&text)),
        (reply, _) => reply,
    })
}

/// Runs an exec command without leaving the current mode.
fn exec(switch: &mut Switch, vty: &mut Vty, line: &str, column: usize) -> Reply {
    let mode = mem::replace(&mut vty.mode, Mode::Privileged);
    let reply = run(switch, vty, line, column);
    vty.mode = mode;
    match reply {
        Ok(Reply::Close) => Reply::empty(),
        Ok(reply) => reply,
        Err(error) => Reply::Text(error),
    }
}

/// The tokens that are possible at the end of a line in a mode.
///
/// # Errors
/// The refusal of the words before.
pub(super) fn expected(mode: &Mode, line: &str) -> Result<Vec<&'static str>, ParseError> {
    let mut found: Result<Vec<_>, _> = Err(ParseError::Incomplete);
    for rules in commands::rules(mode) {
        match (&mut found, grammar::expected(&rules, line)) {
            (Ok(tokens), Ok(more)) => tokens.extend(more),
            (Ok(_), Err(_)) => {}
            (found, result) => *found = result,
        }
    }
    let mut tokens = found?;
    tokens.sort_unstable();
    tokens.dedup();
    Ok(tokens)
}

/// A command that was found.
struct Found {
    rule: &'static Rule,
    arguments: Arguments,
    filter: Option<Filter>,
    /// Whether it is not from the rules of the mode itself.
    is_global: bool,
}

fn find(mode: &Mode, line: &str) -> Result<Found, LineError> {
    let (command, filter) = match line.split_once('|') {
        Some((command, filter)) if !mode.is_config() => (command, Some(filter)),
        _ => (line, None),
    };
    let mut furthest = None;
    for (list, rules) in commands::rules(mode).into_iter().enumerate() {
        match grammar::parse(&rules, command) {
            Ok((rule, arguments)) => {
                let filter = filter
                    .map(|text| read_filter(rule, text, command.len()))
                    .transpose()?;
                return Ok(Found {
                    rule,
                    arguments,
                    filter,
                    is_global: list > 0,
                });
            }
            Err(ParseError::Invalid { column, word }) => {
                furthest = furthest.max(Some((column, word)));
            }
            Err(other) => return Err(LineError::Parse(other)),
        }
    }
    let (column, word) = furthest.unwrap_or_default();
    if !mode.is_config() && word == 0 && line.split_whitespace().count() == 1 {
        return Err(LineError::Unknown);
    }
    Err(LineError::Parse(ParseError::Invalid { column, word }))
}

/// Parses the filter after the `|` at a column. Only `show` uses it.
fn read_filter(rule: &Rule, text: &str, column: usize) -> Result<Filter, LineError> {
    let invalid = |column| LineError::Parse(ParseError::Invalid { column, word: 0 });
    if !rule.pattern.starts_with("show ") {
        return Err(invalid(column));
    }
    Filter::parse(text).map_err(|error| match error {
        FilterError::InvalidAt(offset) => invalid(column + 1 + offset),
        FilterError::Incomplete => LineError::Parse(ParseError::Incomplete),
        FilterError::Expression => LineError::BadExpression,
    })
}

/// Why a line was not run.
enum LineError {
    Parse(ParseError),
    Unknown,
    BadExpression,
}

impl LineError {
    /// The message of IOS for a line that begins at a column of the screen.
    fn text(&self, column: usize, line: &str) -> String {
        match self {
            Self::Parse(ParseError::Invalid { column: at, .. }) => {
                let caret = column + at + 1;
                format!(
                    "{:>caret$}\n% Invalid input detected at '^' marker.\n\n",
                    "^"
                )
            }
            Self::Parse(ParseError::Ambiguous) => {
                format!("% Ambiguous command:  \"{}\"\n", line.trim_end())
            }
            Self::Parse(ParseError::Incomplete) => "% Incomplete command.\n\n".to_owned(),
            Self::Unknown => format!(
                "Translating \"{}\"\n\n\
                 % Unknown command or computer name, or unable to find computer address\n",
                line.trim()
            ),
            Self::BadExpression => "% Bad regular expression\n\n".to_owned(),
        }
    }
}
