//! `devgate facts`: what targets tell of themselves.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use clap::{ArgGroup, Args};
use devgate_schemas::Value;
use serde_json::Value as Json;

use super::task::time;
use super::{Ending, Setting, Targets};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::output::Output;
use crate::results::{Action, Answer, Collected, Origin};
use crate::run::{self, Job};
use crate::session::{self, Access};
use crate::store::{Kept, Store};

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

/// The facts that are kept, and which of them will do.
#[derive(Debug)]
struct Keeping {
    cache: Store,
    age: Age,
}

impl Facts {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let targets = setting.select(&self.targets).await?;
        collect(
            setting,
            &targets,
            self.targets.concurrency,
            self.age,
            output,
        )
        .await
    }
}

/// Prints the facts of every target.
///
/// # Errors
/// That the run cannot begin, or that facts cannot be kept.
pub(crate) async fn collect(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    age: Age,
    output: &Output,
) -> anyhow::Result<Ending> {
    let keeping = if age.cached.is_none() && !age.stale_ok {
        None
    } else {
        let cache = Store::of_facts(&setting.project.root)?;
        Some(Keeping { cache, age })
    };
    let action = Action::new("facts");
    let ran = run::over(
        setting,
        targets,
        concurrency,
        output,
        action,
        async |job| match &keeping {
            Some(keeping) => keeping.answer(setting, job).await,
            None => Ok(Answer::success(ask(setting, job).await?)),
        },
    );
    let ending = ran.await?.ending;
    if let Some(keeping) = keeping {
        keeping.cache.prune();
    }
    Ok(ending)
}

/// What the target tells of itself now.
async fn ask(setting: &Setting, job: &Job<'_>) -> Result<Json, Failure> {
    let (target, address) = (job.target, job.target.address());
    job.context()
        .info(format!("retrieving facts from {target} at {address}"));
    let facts = session::within(setting, job, Access::Read, async |ctx, transport| {
        Ok(transport.facts(ctx).await?)
    });
    Ok(Value::Hash(facts.await?.into_hash()).to_json())
}

impl Keeping {
    async fn answer(&self, setting: &Setting, job: &Job<'_>) -> Result<Answer, Failure> {
        let ctx = job.context();
        let kept = self.cache.kept(job.target).unwrap_or_else(|problem| {
            ctx.warning(format!("the kept facts are not used: {problem}"));
            None
        });
        let young = |kept: &Kept| self.age.cached.is_some_and(|limit| age(kept) <= limit);
        let kept = match kept {
            Some(kept) if young(&kept) => return Ok(cached(kept, None)),
            kept => kept.filter(|_| self.age.stale_ok),
        };
        let failure = match ask(setting, job).await {
            Ok(facts) => return Ok(self.keep(job, facts)),
            Err(failure) => failure,
        };
        match kept {
            Some(kept) if failure.is_down() => {
                let because = Failure::new(&failure.kind, job.masked(&failure.msg));
                ctx.warning(format!("the last facts stand in: {because}"));
                Ok(cached(kept, Some(because)))
            }
            Some(_) => {
                ctx.notice("kept facts stand in for a target that is down, and this one is not");
                Err(failure)
            }
            None => Err(failure),
        }
    }

    /// Keeps what the target has told now.
    fn keep(&self, job: &Job<'_>, facts: Json) -> Answer {
        let at = SystemTime::now();
        let mut answer = Answer::success(job.without_secrets(facts));
        if let Err(error) = self.cache.keep(job.target, &answer.value, at) {
            let message = format!("the facts are not kept: {error}");
            job.context().warning(message);
        }
        answer.collected = Some(Collected {
            at: shown(at),
            age: 0,
            from: Origin::Device,
            because: None,
        });
        answer
    }
}

/// Facts of the cache as an answer.
fn cached(kept: Kept, because: Option<Failure>) -> Answer {
    let collected = Collected {
        at: shown(kept.at),
        age: age(&kept).as_secs(),
        from: Origin::Cache,
        because,
    };
    Answer {
        collected: Some(collected),
        ..Answer::success(kept.what)
    }
}

fn age(kept: &Kept) -> Duration {
    kept.at.elapsed().unwrap_or_default()
}

/// A time in the words of RFC 3339, in UTC.
pub(crate) fn shown(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    // Only a year after 9999 has no such text.
    let whole = der::DateTime::from_unix_duration(since);
    whole.map_or_else(|_| since.as_secs().to_string(), |time| time.to_string())
}
