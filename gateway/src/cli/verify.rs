//! `devgate verify`: can the targets be reached, and do they take the credentials.

use clap::{ArgGroup, Args};
use serde_json::json;

use super::{Ending, Setting, Targets};
use crate::output::Output;
use crate::results::{Action, Answer};
use crate::run;
use crate::session::{self, Access};

/// Test that targets can be reached and that their credentials are accepted.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
pub(super) struct Verify {
    #[command(flatten)]
    targets: Targets,
}

impl Verify {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets).await?;
        let ran = run::over(
            setting,
            &targets,
            self.targets.concurrency,
            output,
            Action::new("verify"),
            async |job| {
                session::within(setting, job, Access::Read, async |ctx, transport| {
                    Ok(transport.verify(ctx).await?)
                })
                .await?;
                let text = "It can be reached, and takes the credentials.".to_owned();
                Ok(Answer::success(json!({})).with_text(text))
            },
        );
        Ok(ran.await?.ending)
    }
}
