//! `devgate family record`: makes a test case of what a device answers.

use clap::{ArgGroup, Args};
use devgate_core::failure::Failure;
use devgate_core::results::{Action, TargetResult};
use devgate_devices::Family as Declared;
use devgate_engine::record;
use devgate_engine::run::TargetJob;
use devgate_engine::session::{self, SessionAccess, Sessions};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::printer::Printer;
use rustix::fs::Mode;
use rustix::process::umask;
use serde_json::json;

use super::declared::declared;
use crate::complete;
use crate::targets::TargetOptions;
use crate::terminal_view::follow;

/// Make a test case of what a device answers: its outputs, and the expected result for your review
///
/// Asks what the family asks for its facts, or with --type for the resources of a type, and writes the case into the
/// family's folder, in cases/CASE/. Sends only what reads. The target is of this family (`remote-transport`), a real
/// device or a practice one. Known secrets are masked, as `devgate record` does: review the case before you share it.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "Examples:\n  devgate family record acme -t sw1 --case facts_sw1\n  devgate family record acme -t sw1 \
                  --type acme_vlan --case vlans_sw1"
)]
pub struct Record {
    /// Name of the family
    #[arg(add = complete::families())]
    name: String,
    #[command(flatten)]
    targets: TargetOptions,
    /// Name of the new case
    #[arg(long, value_name = "CASE")]
    case: String,
    /// Record what this type reads, instead of the facts
    #[arg(long = "type", value_name = "TYPE", add = complete::types())]
    type_name: Option<String>,
}

impl Record {
    pub(super) async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        context.read_schema(&self.name).await?;
        let family = declared(context, &self.name)?;
        family.case_folder(&self.case)?;
        let selected = self.targets.select(context).await?;
        let (inventory, targets) = (selected.inventory, selected.targets);
        if targets.len() > 1 {
            return Err(Failure::other(
                "a case is about one device: name one target",
            ));
        }
        for target in &targets {
            let name = target.remote_transport().unwrap_or("none");
            if name != self.name {
                let message = format!(
                    "{} is of family `{name}`, and not of `{}`: set its `remote-transport` in the inventory",
                    target.name, self.name
                );
                return Err(Failure::other(message));
            }
        }
        // Until somebody has reviewed the output of the device, only this user may read it.
        umask(Mode::from_bits_truncate(0o077));
        let run = context.begin(self.targets.concurrency);
        let ran = run.with_sessions(&inventory, async |sessions| {
            let record = async |job: &TargetJob<'_>| self.record(sessions, job, family).await;
            run.on_targets(&targets, Action::new("record"), record)
                .await
        });
        Ok(exit_status(&follow(context, &run, printer, ran).await?))
    }

    async fn record(
        &self,
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
        family: &Declared,
    ) -> Result<TargetResult, Failure> {
        let recorded = session::with_session(sessions, job, SessionAccess::Read, async |ctx, _| {
            record::record_case(job, ctx, family, self.type_name.as_deref()).await
        });
        let case = recorded.await?;
        let desc = format!("Recorded from {}.", job.target.name);
        let (folder, _) = case.write(family, &self.case, &desc)?;
        let (queries, refused) = case.queries();
        let folder = folder.display().to_string();
        let text = format!(
            "{} answers are saved in {folder}; the device refused {}. devgate does not know every secret: review the \
             folder before you share it.\n\n  devgate family test {}",
            queries.len(),
            refused.len(),
            self.name
        );
        let value = json!({ "folder": folder, "queries": queries, "refused": refused });
        Ok(TargetResult::success(value).with_text(text))
    }
}
