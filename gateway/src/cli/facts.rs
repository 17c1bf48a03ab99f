//! `devgate facts`: what targets tell of themselves.

use std::num::NonZeroUsize;

use clap::Args;
use devgate_schemas::Value;

use super::{Ending, Setting, Targets};
use crate::output::Output;
use crate::results::Item;
use crate::{run, session};

const ACTION: &str = "facts";

/// Collect the facts of targets.
///
/// Facts have Facter's structured names (os.name, networking.hostname) and the flat ones that device
/// modules use (operatingsystem, hostname). A fact that could not be read is absent, and told on
/// stderr.
#[derive(Args, Debug)]
pub(super) struct Facts {
    #[command(flatten)]
    targets: Targets,
}

impl Facts {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets)?;
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
    run::over(setting, targets, concurrency, output, async |job| {
        let outcome = session::within(&setting.registry, job, async |ctx, transport| {
            Ok(Value::Hash(transport.facts(ctx).await?.into_hash()).to_json())
        });
        match outcome.await {
            Ok(facts) => Item::success(&job.target.name, ACTION, facts),
            Err(failure) => Item::failure(&job.target.name, ACTION, failure.into_value()),
        }
    })
    .await
}
