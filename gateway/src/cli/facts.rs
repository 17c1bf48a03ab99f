//! `devgate facts`: what targets tell of themselves.

use std::num::NonZeroUsize;

use clap::{ArgGroup, Args};
use devgate_schemas::Value;

use super::{Ending, Setting, Targets};
use crate::output::Output;
use crate::results::{Action, Answer};
use crate::run;
use crate::session::{self, Access};

/// Collect the facts of targets.
///
/// Facts have Facter's structured names (os.name, networking.hostname) and the flat ones that device
/// modules use (operatingsystem, hostname). A fact that could not be read is absent, and told on
/// stderr.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
pub(super) struct Facts {
    #[command(flatten)]
    targets: Targets,
}

impl Facts {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets).await?;
        collect(setting, &targets, self.targets.concurrency, output).await
    }
}

/// Prints the facts of every target.
pub(super) async fn collect(
    setting: &Setting,
    targets: &[std::sync::Arc<crate::inventory::Target>],
    concurrency: Option<NonZeroUsize>,
    output: &Output,
) -> anyhow::Result<Ending> {
    let action = Action::new("facts");
    let ran = run::over(setting, targets, concurrency, output, action, async |job| {
        let facts = session::within(setting, job, Access::Read, async |ctx, transport| {
            Ok(transport.facts(ctx).await?)
        });
        let facts = Value::Hash(facts.await?.into_hash());
        Ok(Answer::success(facts.to_json()))
    });
    Ok(ran.await?.ending)
}
