//! Brings devices to a desired state: the catalog is checked first, then applied to each device.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_core::redactor::log_line;
use devgate_core::results::{Status, TargetResult};
use devgate_schemas::{Level, Report, did_you_mean};
use devgate_transports::{Context, Mode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::managed::{DEVICE, facts_for, family, nothing_to_do};
use super::reports::Reports;
use super::splay::Splay;
use crate::device_run::{self, Audited, Catalog, Options, Plan, Ref};
use crate::inventory::Target;
use crate::job::TargetJob;
use crate::manifest::Manifest;
use crate::registry::Family;
use crate::run::{Run, RunSummary};
use crate::session::{self, BusyPolicy, SessionAccess, Sessions};
use crate::store::{StoreKey, StoredKind, StoredValue};

/// The desired resources, and the options for applying them.
#[derive(Debug)]
pub struct Apply {
    /// The desired resources.
    pub manifest: Manifest,
    /// The options of the transaction.
    pub options: Options,
    /// Whether the run succeeds even though no resource has a wanted tag.
    pub allow_empty: bool,
    /// When the changes are rolled back.
    pub rollback: Rollback,
    /// Whether the text result shows every difference.
    pub diff: bool,
    /// What happens when another run holds the device lock.
    pub busy: BusyPolicy,
    /// The splay before each target.
    pub splay: Splay,
    /// Where reports are kept, if they are.
    pub reports: Option<Reports>,
    /// The project that the recorded states of audited resources belong to.
    pub project: PathBuf,
}

/// When a device is brought back to where it was before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Rollback {
    /// Never: successful changes stay
    #[default]
    Never,
    /// When a resource failed or the run was stopped: all changes of the run are undone
    OnError,
}

/// The changes to resources, over all targets of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// Whether a resource was changed.
    pub changed: bool,
    /// Whether a resource could not be brought to the desired state.
    pub failed: bool,
    /// Whether a resource would be changed.
    pub drifted: bool,
    /// The number of targets that failed only because of their resources.
    pub by_resources: usize,
}

impl Changes {
    /// Adds the report of one target. `failed_otherwise` says whether the target also failed for another reason.
    pub fn with(self, report: &Report, failed_otherwise: bool) -> Self {
        let failed = report.summary.failed > 0;
        Self {
            changed: self.changed || report.summary.changed > 0,
            failed: self.failed || failed,
            drifted: self.drifted || report.resources.iter().any(|resource| resource.noop),
            by_resources: self.by_resources + usize::from(failed && !failed_otherwise),
        }
    }
}

impl Apply {
    /// Brings every target to the desired state.
    ///
    /// # Errors
    /// Fails when the manifest cannot be read or is invalid. Nothing has been done then.
    pub async fn run(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> Result<(RunSummary, Changes), Failure> {
        // Find every error that does not depend on the state of a device before any device is contacted.
        let read = async {
            let catalog = self.manifest.read(run.registry()).await;
            run.registry().prepare(targets).await;
            catalog
        };
        let catalog = tokio::select! {
            catalog = read => catalog?,
            _ = run.stopping() => return Err(run.interrupted()),
        };
        let plans = self.plans(run, targets, &catalog)?;
        let changes = Cell::new(Changes::default());
        let outcome = run.on_targets(targets, DEVICE, async |job| {
            let family = family(&job.run.registry, job.target)?;
            let plan = &plans[family.name()];
            self.splay.wait(job).await?;
            let address = job.target.address();
            let what = format!("starting applying configuration to {}", job.target);
            job.context().info(format!("{what} at {address}"));
            let (report, unsaved) = self.enforce(run, sessions, job, family, plan).await?;
            let mut value = serde_json::to_value(&report).expect("reports have text keys");
            let report_failure =
                device_run::failure(&report, &job.target.name, &job.stop().message());
            if let Some(failure) = &report_failure {
                value["_error"] = json!(failure);
            }
            let stored = self.reports.as_ref();
            let stored = stored.map_or(Ok(()), |reports| reports.store(job, &report, &value));
            let failure = unsaved.or_else(|| stored.err());
            changes.set(changes.get().with(&report, failure.is_some()));
            let is_success = report_failure.is_none() && failure.is_none();
            if let Some(failure) = failure {
                value["_error"] = json!(failure);
            }
            Ok(TargetResult {
                status: if is_success {
                    Status::Success
                } else {
                    Status::Failure
                },
                value,
                text: Some(device_run::text(&report, self.diff)),
                collected: None,
            })
        });
        Ok((outcome.await, changes.get()))
    }

    /// Returns one plan for each family of the targets.
    fn plans<'c>(
        &self,
        run: &'c Run,
        targets: &[Arc<Target>],
        catalog: &'c Catalog,
    ) -> Result<BTreeMap<&'c str, Plan<'c>>, Failure> {
        if !catalog.left_out.is_empty() {
            let names: Vec<String> = catalog.left_out.iter().map(Ref::to_string).collect();
            let names = names.join(", ");
            let message = format!("Skipping host resources because running on a device: {names}");
            log_line(run.sink(), Level::Notice, message);
        }
        for declared in &catalog.resources {
            for warning in &declared.warnings {
                log_line(run.sink(), Level::Warning, declared.describe(warning));
            }
        }
        let registry = run.registry();
        let families: BTreeSet<&str> = targets
            .iter()
            .filter_map(|target| Some(family(registry, target).ok()?.name()))
            .collect();
        let mut plans = BTreeMap::new();
        for family in families {
            if self.rollback == Rollback::OnError && registry.family(family)?.rollback().is_none() {
                let message = format!(
                    "devices of `{family}` cannot be rolled back: NETCONF devices can, and devices with a command \
                     line whose family has a `checkpoint`; use no rollback (`never`), or apply to other devices"
                );
                return Err(Failure::new("devgate/no-way-back", message));
            }
            let find = |name: &str| registry.resource_type(family, name);
            plans.insert(family, catalog.plan(find)?);
        }
        let tags: BTreeSet<&str> = plans.values().flat_map(Plan::tags).collect();
        if !tags.is_empty() {
            self.check_tags(run, &tags)?;
        }
        if let Some(reports) = &self.reports {
            let prepared = reports.prepare();
            prepared
                .with_context(|| format!("the folder of reports {}", reports.folder.display()))?;
        }
        Ok(plans)
    }

    /// Reports the wanted tags that no resource has.
    ///
    /// # Errors
    /// Fails when no resource has any wanted tag, so that there is nothing to do.
    fn check_tags(&self, run: &Run, tags: &BTreeSet<&str>) -> Result<(), Failure> {
        let wanted = &self.options.tags;
        let unknown: Vec<&String> = wanted
            .iter()
            .filter(|tag| !tags.contains(tag.to_lowercase().as_str()))
            .collect();
        let unknown_tags = unknown.iter().map(|tag| {
            let hint = did_you_mean(&tag.to_lowercase(), tags.iter().copied());
            format!("`{tag}`{hint}")
        });
        let message = format!(
            "no resource has the tag {}",
            unknown_tags.collect::<Vec<_>>().join(", ")
        );
        match unknown.len() {
            0 => {}
            all if all == wanted.len() => nothing_to_do(run.sink(), self.allow_empty, &message)?,
            _ => log_line(run.sink(), Level::Warning, message),
        }
        Ok(())
    }

    /// Runs the transaction. Returns its report and, if the changes could not be saved, the reason.
    async fn enforce(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
        family: &Family,
        plan: &Plan<'_>,
    ) -> Result<(Report, Option<Failure>), Failure> {
        let options = &self.options;
        let rollback = family
            .rollback()
            .filter(|_| self.rollback == Rollback::OnError);
        let access = match options.mode {
            Mode::Enforce => SessionAccess::Write,
            // The lines are typed into the candidate, which others must find empty.
            Mode::Noop if family.previews() => SessionAccess::Write,
            Mode::Noop => SessionAccess::Read,
        };
        let audit_failure = |error: String| Failure::new("devgate/cannot-audit", error);
        let store = &*run.services.store;
        let audit_key = plan
            .audits()
            .then(|| StoreKey::of(&self.project, job.target));
        let mut stored = None;
        if let Some(key) = &audit_key {
            let prepared = store.prepare(StoredKind::Audits);
            prepared.map_err(|error| audit_failure(format!("{error:#}")))?;
            stored = store
                .load(StoredKind::Audits, key)
                .await
                .unwrap_or_else(|problem| {
                    let message = format!("{problem}: audited values are recorded again");
                    job.context().warning(message);
                    None
                });
        }
        let _lock = match access {
            SessionAccess::Write => Some(run.services.device_locks.take(job, self.busy).await?),
            SessionAccess::Read => None,
        };
        let mut audited =
            stored.map_or_else(Audited::default, |stored| Audited::from_json(stored.data));
        session::with_session(sessions, job, access, async |ctx, transport| {
            if let Some(command_line) = transport.command_line() {
                command_line.await_settled(ctx).await?;
            }
            let facts = facts_for(ctx, transport, &plan.kinds).await?;
            let ctx = &ctx.with_facts(facts.as_ref());
            // A cancelled run gets the time to finish the current step, to roll back, and to save.
            let _held = rollback.map(|_| job.stop().hold());
            let mut report =
                device_run::run(ctx, plan, options, rollback, &mut audited, job.stop()).await;
            let mut unsaved = None;
            if let (Some(key), Mode::Enforce) = (&audit_key, options.mode) {
                let audited = StoredValue::now(job.without_secrets(audited.into_json()));
                let stored = store.save(StoredKind::Audits, key, audited).await;
                let not_saved = |error| audit_failure(format!("cannot save the audited values: {error}"));
                unsaved = stored.err().map(not_saved);
            }
            // After a failed rollback, the state of the device should not be saved.
            if report.summary.changed > 0
                && report.problem.is_none()
                && let Err(error) = family.save(ctx).await
            {
                let message = format!(
                    "the changes are made, but not saved, so the device will lose them when it restarts: {error}"
                );
                unsaved = Some(Failure::new("devgate/not-saved", message));
            }
            if report.resources.iter().any(|resource| !resource.failed)
                && let Some(problem) = unsettled(ctx).await
            {
                report.add_problem(problem);
            }
            Ok((report, unsaved))
        })
        .await
    }
}

/// Returns why what was read of the device may not last, if a commit of somebody else may still be rolled back.
async fn unsettled(ctx: &Context<'_>) -> Option<String> {
    match ctx.command_line()?.pending_commit(ctx).await {
        Ok(pending) => Some(format!("this report may not last: {}", pending?)),
        Err(error) => Some(format!(
            "it is not known whether a commit of somebody else waits for its confirmation: {error}"
        )),
    }
}
