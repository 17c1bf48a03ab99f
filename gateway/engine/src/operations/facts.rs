//! Collects the facts of targets, from the devices or from the cache.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::redactor::log_line;
use devgate_core::results::{Action, Collected, Origin, TargetResult};
use devgate_core::time::rfc_3339;
use devgate_schemas::{Level, Value};
use serde_json::Value as Json;

use crate::inventory::Target;
use crate::job::TargetJob;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionAccess, Sessions};
use crate::store::{Store, StoreKey, StoredKind, StoredValue};

/// Which facts are wanted. By default, facts are collected now and not cached.
#[derive(Debug, Default)]
pub struct Facts {
    /// The project that facts are cached for, if they are cached.
    pub(crate) cache_project: Option<PathBuf>,
    /// Facts of at most this age are taken from the cache without asking the target.
    pub cached: Option<Duration>,
    /// Whether cached facts of any age stand in for a target that is down.
    pub stale_ok: bool,
}

impl Facts {
    /// Creates the operation: cached facts of at most the age `cached` are used, and with `stale_ok` also older facts
    /// of a target that is down.
    pub fn with_cache(cached: Option<Duration>, stale_ok: bool, project: &Path) -> Self {
        let is_cached = cached.is_some() || stale_ok;
        Self {
            cache_project: is_cached.then(|| project.to_owned()),
            cached,
            stale_ok,
        }
    }

    /// Collects the facts of every target.
    pub async fn collect(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> RunSummary {
        let store = &*run.services.store;
        // Facts can be collected without a cache.
        let cache_project = self.cache_project.as_ref().filter(|_| {
            let prepared = store.prepare(StoredKind::Facts);
            prepared
                .map_err(|why| {
                    let message = format!("facts are neither taken from the cache nor kept: {why}");
                    log_line(run.sink(), Level::Warning, message);
                })
                .is_ok()
        });
        let ran = run.on_targets(
            targets,
            Action::new("facts"),
            async |job| match cache_project {
                Some(project) => {
                    let key = StoreKey::of(project, job.target);
                    self.collect_cached(sessions, store, &key, job).await
                }
                None => Ok(TargetResult::success(
                    collect_from_target(sessions, job).await?,
                )),
            },
        );
        let ran = ran.await;
        if cache_project.is_some() {
            store.prune(StoredKind::Facts).await;
        }
        ran
    }

    async fn collect_cached(
        &self,
        sessions: Sessions<'_, '_>,
        store: &dyn Store,
        key: &StoreKey,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let ctx = job.context();
        let stored = store.load(StoredKind::Facts, key).await;
        let stored = stored.unwrap_or_else(|problem| {
            ctx.warning(format!("the cached facts are not used: {problem}"));
            None
        });
        let is_fresh = |stored: &StoredValue| self.cached.is_some_and(|limit| age(stored) <= limit);
        let stored = match stored {
            Some(stored) if is_fresh(&stored) => return Ok(from_cache(stored, None)),
            stored => stored.filter(|_| self.stale_ok),
        };
        let failure = match collect_from_target(sessions, job).await {
            Ok(facts) => return Ok(store_facts(store, key, job, facts).await),
            Err(failure) => failure,
        };
        match stored {
            Some(stored) if failure.is_down() => {
                let because = Failure::new(&failure.kind, job.masked(&failure.msg));
                ctx.warning(format!("using the last facts: {because}"));
                Ok(from_cache(stored, Some(because)))
            }
            Some(_) => {
                ctx.notice(
                    "cached facts are used only for a target that is down, and this one is not",
                );
                Err(failure)
            }
            None => Err(failure),
        }
    }
}

/// Collects the facts from the target.
async fn collect_from_target(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
) -> Result<Json, Failure> {
    let (target, address) = (job.target, job.target.address());
    job.context()
        .info(format!("retrieving facts from {target} at {address}"));
    let facts = session::with_session(
        sessions,
        job,
        SessionAccess::Read,
        async |ctx, transport| Ok(transport.facts(ctx).await?),
    );
    Ok(Value::Hash(facts.await?.into_hash()).to_json())
}

/// Stores facts that were just collected.
async fn store_facts(
    store: &dyn Store,
    key: &StoreKey,
    job: &TargetJob<'_>,
    facts: Json,
) -> TargetResult {
    let stored = StoredValue::now(job.without_secrets(facts));
    let at = stored.at;
    let mut result = TargetResult::success(stored.data.clone());
    if let Err(error) = store.save(StoredKind::Facts, key, stored).await {
        let message = format!("cannot cache the facts: {error}");
        job.context().warning(message);
    }
    result.collected = Some(Collected {
        at: rfc_3339(at),
        age: 0,
        from: Origin::Device,
        because: None,
    });
    result
}

/// Turns cached facts into a result.
fn from_cache(stored: StoredValue, because: Option<Failure>) -> TargetResult {
    let collected = Collected {
        at: rfc_3339(stored.at),
        age: age(&stored).as_secs(),
        from: Origin::Cache,
        because,
    };
    TargetResult {
        collected: Some(collected),
        ..TargetResult::success(stored.data)
    }
}

fn age(stored: &StoredValue) -> Duration {
    stored.at.elapsed().unwrap_or_default()
}
