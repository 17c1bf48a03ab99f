//! `devgate facts`: what targets tell of themselves.

use std::time::Duration;

use clap::{ArgGroup, Args};

use super::task::time;
use super::{Ending, Setting, Targets, ending, perform};
use crate::operations::{self, Operation};
use crate::output::Output;
use crate::store::Kind;

/// Collect the facts of targets.
///
/// Facts have Facter's structured names (os.name, networking.hostname), the flat ones that device
/// modules use (operatingsystem, hostname), and a family's own under the family's name. A fact that
/// could not be read is absent, and told on stderr.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(
    after_help = "With --cached or --stale-ok, facts are kept in $XDG_CACHE_HOME/devgate/facts \
                  (~/.cache/devgate/facts), without secrets and for your user alone, and each \
                  result says when they were collected: `collected` {at, age, from, because} in \
                  JSON.\n\nExamples:\n  devgate facts -t routers\n  devgate facts -t all --cached \
                  1h\n  devgate facts -t all --stale-ok --format json"
)]
pub(super) struct Facts {
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    age: Age,
}

/// Which facts will do that are not the device's of now.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Age {
    /// Ask no target whose facts were collected within this time: 90, 90s, 5m, 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) cached: Option<Duration>,
    /// Where a target is down, give its last facts, and say so
    ///
    /// A target that refuses the credentials, or shows another host key or certificate, is not down
    /// and fails as ever.
    #[arg(long)]
    pub(crate) stale_ok: bool,
}

impl Facts {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let chosen = setting.select(&self.targets).await?;
        let facts = Operation::Facts(self.age.of(setting)?);
        let done = perform(setting, chosen, self.targets.concurrency, facts, output);
        Ok(ending(&done.await?.ran))
    }
}

impl Age {
    /// The facts that will do.
    ///
    /// # Errors
    /// That facts cannot be kept.
    pub(crate) fn of(self, setting: &Setting) -> anyhow::Result<operations::Facts> {
        let is_kept = self.cached.is_some() || self.stale_ok;
        if is_kept {
            setting.engine.store.prepare(Kind::Facts)?;
        }
        Ok(operations::Facts {
            kept_for: is_kept.then(|| setting.workspace.project().root.clone()),
            cached: self.cached,
            stale_ok: self.stale_ok,
        })
    }
}
