//! Hints for command lines of Bolt, and for targets without `-t`.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::cli::Cli;

/// Words that people try as commands, most of them from Bolt, and the hints for them.
const VERBS: [(&[&str], &str); 15] = [
    (
        &["cmd", "exec", "shell", "ssh"],
        "commands on the command lines of devices: `devgate command run 'show version' -t r1`, or `devgate session exec` \
         to configure or to answer questions; on hosts, commands run as tasks: `devgate task run`",
    ),
    (
        &["script"],
        "a script that talks to a device: `devgate session run -t r1 -- ./script.sh`; as a task, put it \
         into modules/MODULE/tasks/ and run `devgate task run MODULE::SCRIPT -t TARGETS`",
    ),
    (
        &["plan", "plans"],
        "devgate has no plans: `devgate task run` runs a task on many targets, and a shell script can run several \
         tasks in order",
    ),
    (
        &["file", "upload", "download", "copy"],
        "devgate copies files to a host with the task that needs them (`files` in its metadata); to change the \
         configuration of a device, use `devgate device --apply` or `devgate session exec --config -`",
    ),
    (
        &["apply", "puppet", "catalog", "manifest"],
        "`devgate device -t r1 --apply FILE`, with --noop for a preview",
    ),
    (
        &["ping", "check", "test", "status"],
        "`devgate verify -t TARGETS` tests whether targets can be reached",
    ),
    (
        &[
            "targets", "target", "group", "groups", "hosts", "nodes", "list", "show",
        ],
        "`devgate inventory show` lists targets and groups",
    ),
    (
        &["get", "set"],
        "`devgate session get` and `devgate session set` read and change the data of a device",
    ),
    (
        &["run"],
        "`devgate command run`, `devgate task run`, or `devgate session run`",
    ),
    (
        &["secret", "encrypt", "decrypt"],
        "secrets are encrypted with age (docs/how-to/secrets.md)",
    ),
    (
        &["module", "modules", "puppetfile"],
        "modules are folders of modules/; `devgate task show` lists their tasks",
    ),
    (
        &["project", "init"],
        "a project is a folder with inventory.yaml",
    ),
    (&["lookup", "hiera"], "devgate does not use Hiera"),
    (
        &["guide", "man", "docs"],
        "`devgate help COMMAND` shows a command with examples",
    ),
    (
        &["vendors", "platforms", "drivers"],
        "`devgate transport list` and `devgate family list` show what can be reached",
    ),
];

/// Adds a hint to an error of the command line.
pub(crate) fn add(error: &mut clap::Error, words: &[OsString]) {
    let hint = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
                return;
            };
            // `devgate command 'show version'`, `devgate command show version`.
            let is_command = words.get(1).is_some_and(|first| first == "command");
            let quoted = |word: &String| format!("`devgate command run '{word}' -t TARGETS`");
            let command = Some(word).filter(|_| is_command).map(quoted);
            // Only a command with subcommands and targets takes a target for a subcommand.
            command.or_else(|| verb(word)).or_else(|| target(words))
        }
        ErrorKind::UnknownArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(word)) if !word.starts_with('-') => target(words),
            Some(ContextValue::String(word)) => option(word, words),
            _ => None,
        },
        ErrorKind::MissingRequiredArgument => missing(words),
        ErrorKind::InvalidValue => match (
            error.get(ContextKind::InvalidArg),
            error.get(ContextKind::InvalidValue),
        ) {
            (Some(ContextValue::String(argument)), Some(_))
                if argument.starts_with("--transport ") =>
            {
                Some(String::from(
                    "the protocol or family of a device is not an option: write `transport: remote` and `remote: \
                     {remote-transport: NAME}` into the inventory; `devgate transport list` lists the names",
                ))
            }
            _ => None,
        },
        _ => None,
    };
    if let Some(hint) = hint {
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedValue);
        let hint = ContextValue::StyledStrs(vec![hint.into()]);
        error.insert(ContextKind::Suggested, hint);
    }
}

fn verb(word: &str) -> Option<String> {
    let found = VERBS.iter().find(|(words, _)| words.contains(&word));
    found.map(|(_, hint)| (*hint).to_owned())
}

/// The hint to use -t, if a command takes targets and got a bare word.
fn target(words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let root = Cli::command();
    let mut command = &root;
    let mut path = Vec::new();
    let mut rest = words.iter().skip(1);
    let word = loop {
        let word = *rest.next()?;
        match command.find_subcommand(word) {
            Some(below) => {
                command = below;
                path.push(word);
            }
            None => break word,
        }
    };
    let names_targets = |word: &&str| word.starts_with("-t") || word.starts_with("--target");
    if word.starts_with('-') || !takes_targets(command) || words.iter().any(names_targets) {
        return None;
    }
    let path = path.join(" ");
    Some(format!("name targets with -t: `devgate {path} -t {word}`"))
}

/// The hint for an unknown option.
fn option(option: &str, words: &[OsString]) -> Option<String> {
    let first = words.get(1).and_then(|word| word.to_str());
    match option {
        "-o" | "--output" | "--json" => {
            Some("the format of the results is --format: `--format json`".to_owned())
        }
        _ if first.is_some_and(|first| first.starts_with('-')) => {
            Some("write the command first: `devgate COMMAND -t TARGETS`".to_owned())
        }
        _ => None,
    }
}

/// The hint for a command line that lacks something: a word that was probably meant for an option.
fn missing(words: &[OsString]) -> Option<String> {
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let is_manifest = |word: &&str| {
        [".yaml", ".yml", ".pp", ".json"]
            .iter()
            .any(|end| word.ends_with(end))
    };
    match words.get(1..)? {
        ["device", rest @ ..] => {
            let manifest = rest.iter().find(|word| is_manifest(word))?;
            Some(format!("to apply a manifest, write `--apply {manifest}`"))
        }
        ["task", "run", name, target, ..] if !target.contains('=') && !target.starts_with('-') => {
            Some(format!(
                "name targets with -t: `devgate task run {name} -t {target}`"
            ))
        }
        _ => None,
    }
}

fn takes_targets(command: &Command) -> bool {
    let mut arguments = command.get_arguments();
    arguments.any(|argument| ["targets", "target"].contains(&argument.get_id().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of an invalid command line, with its hint.
    fn error_for(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut error = Cli::parse_words(&words).expect_err("it is wrong");
        add(&mut error, &words);
        error.render().to_string()
    }

    #[test]
    fn bolt_s_verbs_lead_to_what_there_is_here() {
        for (verb, expected) in [
            ("cmd", "devgate command run 'show version' -t r1"),
            ("script", "devgate session run -t r1"),
            ("plan", "devgate has no plans"),
            ("file", "devgate copies files to a host with the task"),
            ("apply", "devgate device -t r1 --apply FILE"),
        ] {
            let error = error_for(&format!("devgate {verb} run x"));
            assert!(
                error.contains(&format!("unrecognized subcommand '{verb}'")),
                "{error}"
            );
            assert!(
                error.contains(&format!("tip: {expected}")) || error.contains(expected),
                "{error}"
            );
        }
        assert!(error_for("devgate verfy").contains("'verify'"));
    }

    #[test]
    fn a_bare_target_leads_to_the_option() {
        for (line, expected) in [
            ("devgate verify r1", "`devgate verify -t r1`"),
            ("devgate facts r1,r2 --verbose", "`devgate facts -t r1,r2`"),
            (
                "devgate inventory show r1",
                "`devgate inventory show -t r1`",
            ),
            ("devgate record r1 folder", "`devgate record -t r1`"),
        ] {
            let error = error_for(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
        for (line, expected) in [
            ("devgate device -t r1 vlans.yaml", "`--apply vlans.yaml`"),
            (
                "devgate task run net::ports r1",
                "`devgate task run net::ports -t r1`",
            ),
            ("devgate facts -t r1 -o json", "`--format json`"),
            ("devgate -t r1 verify", "write the command first"),
            (
                "devgate verify -t r1 --transport ssh_cli",
                "remote-transport: NAME",
            ),
        ] {
            let error = error_for(line);
            assert!(error.contains(expected), "{line}: {error}");
        }
        assert!(!error_for("devgate verify -t r1 r2").contains("name targets with"));
        assert!(!error_for("devgate verify").contains("name targets with"));
        let quoted = "`devgate command run 'show' -t TARGETS`";
        assert!(error_for("devgate command show version").contains(quoted));
    }
}
