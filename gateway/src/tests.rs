//! Tests of the whole command line: its help, and the examples in it.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::help;

/// Every command that help shows, by its words, with what stands before and after its options.
fn commands() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::from("devgate"), help::with_examples(Cli::command()))];
    while let Some((path, command)) = open.pop() {
        let texts = [command.get_before_help(), command.get_after_help()];
        let texts = texts.into_iter().flatten().map(ToString::to_string);
        found.push((path.clone(), texts.collect::<Vec<_>>().join("\n")));
        let below = command.get_subcommands().filter(|one| !one.is_hide_set());
        open.extend(below.map(|one| (format!("{path} {}", one.get_name()), one.clone())));
    }
    found
}

/// The commands of ours in a text: each is a line with two blanks before it, or stands in a pipe.
fn examples(text: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter(|line| line.starts_with("  "));
    let parts = lines.flat_map(|line| {
        let line = line.split("  #").next().unwrap_or_default();
        line.split(" | ").map(str::trim).collect::<Vec<_>>()
    });
    let ours = parts.filter(|part| part.starts_with("devgate "));
    let unredirected = ours.map(|part| part.split(" > ").next().unwrap_or_default());
    let unfed = unredirected.map(|part| part.split(" < ").next().unwrap_or_default());
    unfed.map(shell_words).collect()
}

/// The words of a command as a shell takes them apart.
fn shell_words(command: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in command.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is one").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_has_an_example_and_each_is_one_that_it_takes() {
    for (path, text) in commands() {
        let examples = examples(&text);
        let own = format!("{path} ");
        let has_own = examples
            .iter()
            .any(|words| (words.join(" ") + " ").starts_with(&own));
        assert!(has_own, "`{path}` has no example:\n{text}");
        for words in examples {
            let line = words.join(" ");
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            if let Err(error) = Cli::parse_words(&words) {
                assert!(!error.use_stderr(), "`{line}` of `{path}`: {error}");
            }
        }
    }
}

#[test]
fn options_of_every_command_are_shown_once() {
    for words in [
        &["devgate", "--help"][..],
        &["devgate", "verify", "-h"],
        &["devgate", "task", "run", "--help"],
    ] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let help = Cli::parse_words(&words).expect_err("help").to_string();
        for option in [
            "--inventoryfile",
            "--log-level",
            "--private-key",
            "--run-as",
        ] {
            assert!(!help.contains(option), "{option} in\n{help}");
        }
        assert!(help.contains("devgate help options"), "{help}");
    }
}
