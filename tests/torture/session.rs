//! Runs one session through the binary, and judges each of its commands.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::process::Output;
use std::slice;

use serde_json::{Value, json};

use crate::device::answer::{CONSENT, Expected};
use crate::device::{PASSWORD, Torture};
use crate::folder::{Project, messages_of};
use crate::plan::{Batch, CommandMode};
use crate::report::{JudgedCommand, Verdict};

/// The number of seconds after which a run counts as hanging.
const LIMIT: &str = "150";

/// A family for all devices, as a user might write it.
const FAMILY: &str = r"name: torture
desc: A device that behaves badly.
protocol: ssh_cli
dialect:
  prompt: { exec: '(?:[\d:.]+ )?[\[<]?[\w.@:~-]+\]?(?: <SAFE>| ?[#>$❯])' }
  pager: [{ pattern: '(?i)^\s*[<-]+ ?\(?more\)? ?[->]+\s*$', answer: ' ' }, { pattern: '^Press any key', answer: ' ' }]
  failure: ['^% Unknown']
  harmless: ['show .*']
  unsolicited: ['%[A-Z]+-\d-\w+:']
";

/// Writes the inventory of all targets, and devgate's other files.
pub(crate) fn describe(project: &Project, device: &Torture, batches: &[Batch]) {
    project.write("known_hosts", &device.known_hosts());
    project.write("modules/m/devices/torture/family.yaml", FAMILY);
    let targets: BTreeMap<String, Value> = batches
        .iter()
        .map(|batch| {
            let mut info = json!({
                "remote-transport": if batch.family { "torture" } else { "ssh_cli" },
                "host": "127.0.0.1",
                "port": device.port(),
                "user": batch.user,
                "password": PASSWORD,
                // Longer than any pause of the device, so that a session that is out of step is given up
                // soon.
                "idle_timeout": 12,
                "known_hosts_file": project.0.path().join("known_hosts"),
            });
            if batch.telnet {
                info["protocol"] = "telnet".into();
                info["port"] = device.telnet_port().into();
            }
            let config = json!({ "transport": "remote", "remote": info });
            let target = json!({ "name": batch.target(), "config": config });
            (batch.target(), target)
        })
        .collect();
    let inventory = json!({ "version": 2, "targets": targets.into_values().collect::<Vec<_>>() });
    project.write("inventory.yaml", &inventory.to_string());
}

/// The result of a command: its output, or an error.
type CommandOutput = Result<String, String>;

/// Runs a session. Commands that it could not reach are left for other sessions.
pub(crate) fn run(
    project: &Project,
    device: &Torture,
    batch: &Batch,
) -> (Vec<JudgedCommand>, Option<Batch>) {
    let outputs = match batch.mode {
        CommandMode::Exec | CommandMode::Answered => exec(project, batch),
        CommandMode::Lines => lines(project, batch),
        CommandMode::Show => show(project, batch),
        CommandMode::Task => task(project, batch),
    };
    let mut rest = batch.clone();
    rest.commands.drain(..outputs.len());
    let judged = batch.commands.iter().zip(outputs);
    let judged = judged
        .map(|(command, output)| judge(device, batch, command, output))
        .collect();
    (judged, (!rest.commands.is_empty()).then_some(rest))
}

fn devgate(project: &Project, words: &[&str], stdin: Option<&str>) -> Output {
    let words = [&[env!("CARGO_BIN_EXE_devgate")], words].concat();
    let mut command = project.command_under(&[&["timeout", LIMIT][..], &words].concat(), &[]);
    if let Some(file) = stdin {
        let file = File::open(project.0.path().join(file)).expect("it was written");
        command.stdin(file);
    }
    command.output().expect("the binary starts")
}

/// Runs a single command: its standard output is the command's output.
fn exec(project: &Project, batch: &Batch) -> Vec<CommandOutput> {
    let target = batch.target();
    let mut words = vec!["session", "exec", "-t", &target];
    if batch.mode == CommandMode::Answered {
        words.extend(["--answer", CONSENT]);
    }
    words.push("--");
    words.extend(batch.commands[0].split(' '));
    plain_outputs(&devgate(project, &words, None))
}

/// Runs commands that only read; one document has all answers.
fn show(project: &Project, batch: &Batch) -> Vec<CommandOutput> {
    let target = batch.target();
    let mut words = vec!["command", "run", "-t", &target, "--format", "json"];
    words.extend(batch.commands.iter().map(String::as_str));
    outputs_of(batch, &devgate(project, &words, None))
}

/// Sends commands by standard input; one document has all answers.
fn lines(project: &Project, batch: &Batch) -> Vec<CommandOutput> {
    let file = format!("lines-{}", batch.number);
    project.write(&file, &(batch.commands.join("\n") + "\n"));
    let words = [
        "session",
        "exec",
        "-t",
        &batch.target(),
        "--format",
        "json",
        "-",
    ];
    outputs_of(batch, &devgate(project, &words, Some(&file)))
}

fn outputs_of(batch: &Batch, output: &Output) -> Vec<CommandOutput> {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let value = &document["items"][0]["value"];
    let commands = value["commands"]
        .as_array()
        .map_or_else(|| slice::from_ref(value), Vec::as_slice);
    let mut outputs: Vec<CommandOutput> = commands
        .iter()
        .filter_map(|command| Some(Ok(command["output"].as_str()?.to_owned())))
        .collect();
    if !output.status.success() {
        assert!(
            outputs.len() < batch.commands.len(),
            "all was read: {}",
            messages_of(output)
        );
        let why = value.pointer("/_error/msg").and_then(Value::as_str);
        outputs.push(Err([why.unwrap_or_default(), &messages_of(output)].concat()));
    }
    outputs
}

/// Runs a task that sends each command over its lent session.
fn task(project: &Project, batch: &Batch) -> Vec<CommandOutput> {
    let (name, folder) = (
        format!("t{}", batch.number),
        project.0.path().join(format!("t{}", batch.number)),
    );
    let (devgate_, output) = (env!("CARGO_BIN_EXE_devgate"), folder.display());
    let mut script = format!("mkdir -p {output}\n");
    for (number, command) in batch.commands.iter().enumerate() {
        script += &format!(
            "{devgate_} session exec --format json -- {command} >{output}/{number}.out 2>{output}/{number}.err\n\
             echo $? >{output}/{number}.code\n"
        );
    }
    project.task(&name, &script);
    let run = devgate(
        project,
        &["task", "run", &format!("m::{name}"), "-t", &batch.target()],
        None,
    );
    let read =
        |number: usize, what: &str| fs::read_to_string(folder.join(format!("{number}.{what}")));
    let outputs = (0..batch.commands.len()).map_while(|number| {
        let code = read(number, "code").ok()?;
        Some(if code == "0\n" {
            let document: Value = serde_json::from_str(&read(number, "out").ok()?).ok()?;
            Ok(document["output"].as_str().unwrap_or_default().to_owned())
        } else {
            Err(read(number, "err").unwrap_or_default())
        })
    });
    let outputs: Vec<CommandOutput> = outputs.collect();
    if outputs.is_empty() {
        vec![Err(messages_of(&run))]
    } else {
        outputs
    }
}

fn plain_outputs(output: &Output) -> Vec<CommandOutput> {
    vec![if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(messages_of(output))
    }]
}

fn judge(device: &Torture, batch: &Batch, command: &str, output: CommandOutput) -> JudgedCommand {
    let is_answered = batch.mode == CommandMode::Answered;
    let mut expected = device.expected(&batch.user, command, is_answered);
    if let (CommandMode::Exec | CommandMode::Answered, Expected::Output(text)) =
        (batch.mode, &mut expected)
        && !text.is_empty()
        && !text.ends_with('\n')
    {
        // Output for people always ends its last line.
        text.push('\n');
    }
    let consents = device.journal.consents(&batch.user, command);
    let allowed = if is_answered { CONSENT.as_bytes() } else { b"" };
    let times = device.journal.count_received(&batch.user, command);
    // A command that only reads may be run again, by itself, if it was typed ahead amid an output.
    let most = if batch.mode == CommandMode::Show {
        2
    } else {
        1
    };
    let verdict = if !allowed.starts_with(&consents) {
        Verdict::Wrong(format!(
            "its question was answered by {:?}",
            String::from_utf8_lossy(&consents)
        ))
    } else if times > most {
        Verdict::Wrong(format!("the device heard it {times} times"))
    } else {
        match (&expected, output) {
            (Expected::Output(text), Ok(output)) if *text == output => Verdict::Right,
            (Expected::Question { refused, .. }, Ok(output)) if *refused == output => {
                Verdict::Right
            }
            (Expected::Answered { begin, end }, Ok(output))
                if output.starts_with(begin) && output.ends_with(end) =>
            {
                Verdict::Right
            }
            (_, Ok(output)) => Verdict::Wrong(format!("output {output:?}")),
            (Expected::Question { question, .. }, Err(why)) if why.contains(question.trim()) => {
                Verdict::Right
            }
            (_, Err(why)) => Verdict::Failed(why),
        }
    };
    JudgedCommand {
        batch: batch.clone(),
        command: command.to_owned(),
        expected,
        verdict,
    }
}
