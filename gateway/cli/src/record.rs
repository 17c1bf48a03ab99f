//! `devgate record`: records a session with a device, to replay it and to test its family without the device.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use devgate_core::failure::Failure;
use devgate_core::results::{Action, TargetResult};
use devgate_devices::{Comparison, UpdateExpected};
use devgate_engine::record::{self, RecordedSession};
use devgate_engine::registry::Family;
use devgate_engine::run::TargetJob;
use devgate_engine::session::{self, SessionAccess, Sessions};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;
use rustix::fs::Mode;
use rustix::process::umask;
use serde_json::json;

use crate::targets::TargetOptions;
use crate::terminal_view::follow;

/// Record a session with a device, to replay it and to test its family without the device
///
/// Runs every command that the family uses to read facts and resources, and one unknown command. Saves the output in a
/// folder, with the prompt and the greeting, in the form of a test case of the family. Sends only commands that read.
/// `devgate practice --replay DIR` replays the recording; `devgate family test FAMILY --case DIR` tests it.
///
/// Known secrets are masked: those of the target, attributes that the family's types declare sensitive, and the word
/// after `password`, `secret`, `community`, `key` and similar. Other secrets are not masked: keys of several lines,
/// certificates, secrets in URLs or descriptions, names, addresses. Review the folder before you share it. Only your
/// user can read it.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "Examples:\n  devgate record -t r1 recorded/r1\n  devgate record -t r1 --command \
                  'show ip route' recorded/r1\n  devgate practice --replay recorded/r1"
)]
pub struct Record {
    #[command(flatten)]
    targets: TargetOptions,
    /// Record this command too; can be repeated
    #[arg(long = "command", value_name = "COMMAND")]
    commands: Vec<String>,
    /// Folder for the recording, new or empty
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Record {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let selected = self.targets.select(context).await?;
        let (inventory, targets) = (selected.inventory, selected.targets);
        if targets.len() > 1 {
            return Err(Failure::other(
                "a recording contains one device: name one target",
            ));
        }
        // Until somebody has reviewed the output of the device, only this user may read it.
        umask(Mode::from_bits_truncate(0o077));
        record::make_folder(&self.folder)?;
        let run = context.begin(self.targets.concurrency);
        let ran = run.with_sessions(&inventory, async |sessions| {
            let record = async |job: &TargetJob<'_>| self.record(sessions, job).await;
            run.on_targets(&targets, Action::new("record"), record)
                .await
        });
        Ok(exit_status(&follow(context, &run, printer, ran).await?))
    }

    async fn record(
        &self,
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let registry = &job.run.registry;
        let name = job.target.remote_transport().unwrap_or_default();
        let family = registry.family(name).ok().and_then(Family::declared);
        let recorded = session::with_session(
            sessions,
            job,
            SessionAccess::Read,
            async |ctx, transport| {
                record::record(job, ctx, transport, family, &self.commands).await
            },
        );
        let RecordedSession {
            mut recording,
            commands,
            refused,
        } = recorded.await?;
        recording.desc = format!("Recorded from {}.", job.target.name);
        recording.write(&self.folder)?;
        if let Some(family) = family {
            family.test_folder(&self.folder, UpdateExpected::Yes, Comparison::Whole)?;
        }
        let folder = self.folder.display().to_string();
        let text = format!(
            "{} commands are saved in {folder}; the device refused {} of them. devgate does not know every secret: \
             review the folder before you share it.\n\n  devgate practice --replay {folder}",
            commands.len(),
            refused.len()
        );
        let value = json!({ "folder": folder, "commands": commands, "refused": refused });
        Ok(TargetResult::success(value).with_text(text))
    }
}
