//! Completion values for the words of a command.
//!
//! The values come only from files of the project. No device, plugin or program of a module is asked. Errors in these
//! files are ignored here.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::names::Names;

/// Targets and groups, the last of a list with commas.
pub(super) fn targets() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let current = current.to_string_lossy();
        let (before, last) = match current.rsplit_once(',') {
            Some((before, last)) => (format!("{before},"), last.to_owned()),
            None => (String::new(), current.into_owned()),
        };
        let taken: Vec<&str> = before.split(',').collect();
        let mut names = Names::from_command_line().targets();
        names.retain(|name| !taken.contains(&name.as_str()));
        with_prefix(names, &last)
            .into_iter()
            .map(|candidate| candidate.add_prefix(before.clone()))
            .collect()
    })
}

/// Tasks.
pub(super) fn tasks() -> ArgValueCompleter {
    completer(Names::tasks)
}

/// Transports, families included.
pub(super) fn transports() -> ArgValueCompleter {
    completer(Names::transports)
}

/// Families.
pub(super) fn families() -> ArgValueCompleter {
    completer(Names::families)
}

/// Families, each with the `=` before a command.
pub(super) fn commands_of_families() -> ArgValueCompleter {
    completer(|names| {
        let families = names.families();
        families.into_iter().map(|family| family + "=").collect()
    })
}

/// Resource types.
pub(super) fn types() -> ArgValueCompleter {
    completer(Names::types)
}

/// The values of a list that begin with the typed text.
pub fn one_of(names: Vec<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        with_prefix(names.clone(), &current.to_string_lossy())
    })
}

fn completer(names: fn(&Names) -> Vec<String>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| {
        with_prefix(
            names(&Names::from_command_line()),
            &current.to_string_lossy(),
        )
    })
}

/// The values with this prefix, sorted and unique.
fn with_prefix(mut names: Vec<String>, current: &str) -> Vec<CompletionCandidate> {
    names.retain(|name| name.starts_with(current));
    names.sort();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}
