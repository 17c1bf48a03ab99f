//! `devgate verify`: can the targets be reached, and do they take the credentials.

use clap::Args;
use serde_json::json;

use super::{Ending, Setting, Targets};
use crate::output::Output;
use crate::results::Item;
use crate::{run, session};

const ACTION: &str = "verify";

/// Test that targets can be reached and that their credentials are accepted.
#[derive(Args, Debug)]
pub(super) struct Verify {
    #[command(flatten)]
    targets: Targets,
}

impl Verify {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets)?;
        run::over(
            setting,
            &targets,
            self.targets.concurrency,
            output,
            async |job| {
                let outcome = session::within(&setting.registry, job, async |ctx, transport| {
                    Ok(transport.verify(ctx).await?)
                });
                match outcome.await {
                    Ok(()) => Item::success(&job.target.name, ACTION, json!({}))
                        .with_text("It can be reached, and takes the credentials.".to_owned()),
                    Err(failure) => Item::failure(&job.target.name, ACTION, failure.into_value()),
                }
            },
        )
        .await
    }
}
