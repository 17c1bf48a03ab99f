//! Records a session with a device: its prompts, and the outputs of read-only commands.

use std::fs;
use std::io;
use std::path::Path;

use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::{Family, LiveCase, Recording, Unanswered};
use devgate_schemas::{REDACTED, Value, starred};
use devgate_transports::{CommandLine, Context, Error, Transport};

use crate::job::TargetJob;

/// A command that no device knows. It begins like a read-only one, because some devices take a single unknown word for
/// a host name and try to resolve it.
const UNKNOWN_COMMAND: &str = "show devgate-knows-no-such-thing";

/// A recording, and the refused commands.
#[derive(Debug)]
pub struct RecordedSession {
    /// The session.
    pub recording: Recording,
    /// All commands that were sent.
    pub commands: Vec<String>,
    /// The commands that the device has refused.
    pub refused: Vec<String>,
}

/// Creates the folder of a recording, which must be new or empty, so that nothing is overwritten.
///
/// # Errors
/// Fails when it cannot be created, or is not empty.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    let path = folder.display();
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::create_dir_all(folder).with_context(|| format!("cannot make {path}"));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot record into {path}")),
    };
    if entries.next().is_some() {
        return Err(Failure::other(format!(
            "{path} is not empty: name a new folder for the recording"
        )));
    }
    Ok(())
}

/// Sends all read-only commands of the device's family, then `more`, and an unknown command. Returns the recording
/// without secrets.
///
/// # Errors
/// Fails when the session has no command line, or is lost.
pub async fn record(
    job: &TargetJob<'_>,
    ctx: &Context<'_>,
    transport: &dyn Transport,
    family: Option<&Family>,
    more: &[String],
) -> Result<RecordedSession, Failure> {
    let Some(command_line) = ctx.command_line() else {
        let message =
            "only sessions with a command line can be recorded, and this transport has none";
        return Err(Failure::new("devgate/not-a-command-line", message));
    };
    let opening = command_line.opening().await.unwrap_or_default();
    let facts = transport.facts(ctx).await?;
    let ssh_version = facts.get("ssh.version").and_then(Value::as_str);
    let mut recording = Recording {
        family: family
            .map(|family| family.name().to_owned())
            .unwrap_or_default(),
        greeting: opening.greeting,
        prompt: opening.prompt,
        ssh_version: ssh_version.unwrap_or_default().to_owned(),
        unknown_command: UNKNOWN_COMMAND.to_owned(),
        unknown: run_command(command_line, ctx, UNKNOWN_COMMAND).await?.text,
        ..Recording::default()
    };
    let more = more.iter().map(|command| Unanswered {
        query: command.clone(),
        is_optional: false,
    });
    let (mut commands, mut refused): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut next: Vec<Unanswered> = more.collect();
    loop {
        // The answers so far tell what else the family asks about.
        let of_family = family.map(|family| family.unanswered(|query| recording.answer(query)));
        let mut pending = of_family.unwrap_or_default();
        pending.append(&mut next);
        pending.retain(|one| !commands.contains(&one.query));
        if pending.is_empty() {
            break;
        }
        for Unanswered { query, is_optional } in pending {
            if commands.contains(&query) {
                continue;
            }
            let answer = run_command(command_line, ctx, &query).await?;
            if answer.refused {
                ctx.warning(format!("it refuses `{query}`: {}", answer.text.trim()));
                refused.push(query.clone());
            }
            // A case reads what is not there as a refusal of what may be refused.
            if !(answer.refused && is_optional) {
                recording.note(&query, answer.text);
            }
            commands.push(query);
        }
    }
    if let Some(family) = family {
        job.hide(&family.secrets_in(|command| recording.answer(command)));
    }
    Ok(RecordedSession {
        recording: recording.masked(|text| masked(job, text)),
        commands,
        refused,
    })
}

/// Asks the device what a family's facts, or the type of this name, are made of. Returns the case without secrets.
///
/// # Errors
/// Fails when there is no such type, when the session is lost, and when answers do not match.
pub async fn record_case(
    job: &TargetJob<'_>,
    ctx: &Context<'_>,
    family: &Family,
    type_name: Option<&str>,
) -> Result<LiveCase, Failure> {
    let case = family.record_case(ctx, type_name).await?;
    job.hide(&case.secrets(family));
    Ok(case.masked(|text| masked(job, text)))
}

/// A device's answer to a command.
struct Answer {
    text: String,
    refused: bool,
}

async fn run_command(
    command_line: &dyn CommandLine,
    ctx: &Context<'_>,
    command: &str,
) -> Result<Answer, Failure> {
    match command_line.exec(ctx, command).await {
        Ok(text) => Ok(Answer {
            text,
            refused: false,
        }),
        Err(Error::CommandFailed { message, .. }) => Ok(Answer {
            text: format!("{message}\n"),
            refused: true,
        }),
        Err(error) => Err(error.into()),
    }
}

/// Masks the known secrets in a text, and what its own words declare to be one.
fn masked(job: &TargetJob<'_>, text: &str) -> String {
    job.masked(&starred(text, |word| job.masked(word) == REDACTED))
}
