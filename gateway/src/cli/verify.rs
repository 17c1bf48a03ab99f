//! `devgate verify`: can the targets be reached, and do they take the credentials.

use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::{ArgGroup, Args};
use serde_json::json;

use super::{Ending, Setting, Targets};
use crate::inventory::Target;
use crate::output::Output;
use crate::results::{Action, Answer};
use crate::run;
use crate::session::{self, Access};

/// Test that targets can be reached and that their credentials are accepted.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "Examples:\n  devgate verify -t r1\n  devgate verify -t routers,'sw[1-9]'\n  devgate verify -t all \
                  --format jsonl\n  devgate verify -t sw1 --direct\n\n--direct reaches sw1 from this node, \
                  though it has a proxy (`run-on`)."
)]
pub(super) struct Verify {
    #[command(flatten)]
    targets: Targets,
}

impl Verify {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets).await?;
        verify(setting, &targets, self.targets.concurrency, output).await
    }
}

/// Says of every target whether it can be reached.
///
/// # Errors
/// That the run cannot begin.
pub(crate) async fn verify(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    output: &Output,
) -> anyhow::Result<Ending> {
    let action = Action::new("verify");
    let ran = run::over(setting, targets, concurrency, output, action, async |job| {
        let open = session::within(setting, job, Access::Read, async |ctx, transport| {
            transport.verify(ctx).await?;
            Ok(transport.leaves_credentials_open())
        })
        .await?;
        let text = match open {
            None => "It can be reached, and takes the credentials.".to_owned(),
            Some(open) => format!("It can be reached; {open}."),
        };
        Ok(Answer::success(json!({})).with_text(text))
    });
    Ok(ran.await?.ending)
}
