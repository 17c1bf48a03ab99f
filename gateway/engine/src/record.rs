//! Recording a session with a device: what it shows, and what it says to commands that only read.

use std::fs;
use std::io;
use std::path::Path;

use devgate_devices::{Family, Recording};
use devgate_schemas::{REDACTED, Value, starred};
use devgate_transports::{CommandLine, Context, Error, Transport};

use crate::job::TargetJob;
use devgate_core::failure::{ErrorContext, Failure};

/// A command that no device knows. It begins like one that only reads: where a single word is
/// unknown, some devices take it for a host's name, and look for that.
const UNKNOWN: &str = "show devgate-knows-no-such-thing";

/// What was recorded, and what the device refused.
#[derive(Debug)]
pub struct Recorded {
    /// The session.
    pub recording: Recording,
    /// Every command that was asked.
    pub commands: Vec<String>,
    /// Those that the device says no to.
    pub refused: Vec<String>,
}

/// Makes the folder of a recording, which must be new or empty: nothing is written over.
///
/// # Errors
/// It cannot be made, or something is in it.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display();
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::create_dir_all(folder).with_context(|| format!("cannot make {shown}"));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot record into {shown}")),
    };
    if entries.next().is_some() {
        return Err(Failure::other(format!(
            "{shown} is not empty: name a new folder for the recording"
        )));
    }
    Ok(())
}

/// Asks the device every command of its family that only reads, then `more`, and one that it does
/// not know; gives all of it without secrets.
///
/// # Errors
/// The session is none at a command line, or is lost.
pub async fn record(
    job: &TargetJob<'_>,
    ctx: &Context<'_>,
    transport: &dyn Transport,
    family: Option<&Family>,
    more: &[String],
) -> Result<Recorded, Failure> {
    let Some(line) = ctx.command_line() else {
        let message =
            "only sessions with a command line can be recorded, and this transport has none";
        return Err(Failure::new("devgate/not-a-command-line", message));
    };
    let opening = line.opening().await.unwrap_or_default();
    let facts = transport.facts(ctx).await?;
    let ssh_version = facts.get("ssh.version").and_then(Value::as_str);
    let mut recording = Recording {
        family: family
            .map(|family| family.name().to_owned())
            .unwrap_or_default(),
        greeting: opening.greeting,
        prompt: opening.prompt,
        ssh_version: ssh_version.unwrap_or_default().to_owned(),
        unknown_command: UNKNOWN.to_owned(),
        unknown: asked(line, ctx, UNKNOWN).await?.text,
        ..Recording::default()
    };
    let own = family.map(Family::commands).unwrap_or_default();
    let more = more.iter().map(String::as_str);
    let (mut commands, mut refused) = (Vec::new(), Vec::new());
    for command in own.into_iter().chain(more) {
        if commands.iter().any(|known| known == command) {
            continue;
        }
        let answer = asked(line, ctx, command).await?;
        if answer.refused {
            ctx.warning(format!("it refuses `{command}`: {}", answer.text.trim()));
            refused.push(command.to_owned());
        }
        recording.note(command, answer.text);
        commands.push(command.to_owned());
    }
    if let Some(family) = family {
        job.hide(&family.secrets_in(|command| recording.answer(command)));
    }
    Ok(Recorded {
        recording: recording.masked(|text| masked(job, text)),
        commands,
        refused,
    })
}

/// What a device said to a command.
struct Answer {
    text: String,
    refused: bool,
}

async fn asked(
    line: &dyn CommandLine,
    ctx: &Context<'_>,
    command: &str,
) -> Result<Answer, Failure> {
    match line.exec(ctx, command).await {
        Ok(text) => Ok(Answer {
            text,
            refused: false,
        }),
        Err(Error::CommandFailed { said, .. }) => Ok(Answer {
            text: format!("{said}\n"),
            refused: true,
        }),
        Err(error) => Err(error.into()),
    }
}

/// A text without the secrets that are known, and without what is said to be one.
fn masked(job: &TargetJob<'_>, text: &str) -> String {
    job.masked(&starred(text, |word| job.masked(word) == REDACTED))
}
