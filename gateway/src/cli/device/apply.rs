//! Bringing devices to a desired state: the catalog is checked, then applied to each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use devgate_schemas::{Level, Report, RunStatus, did_you_mean};
use devgate_transports::Mode;

use super::exit::Codes;
use super::report::ReportOptions;
use super::splay::Splay;
use super::{ACTION, Rollback, family};
use crate::cli::{Ending, Setting};
use crate::device_run::{self, Audited, Options, Plan, Ref};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::manifest::Manifest;
use crate::output::Output;
use crate::registry::Family;
use crate::results::{Answer, Status};
use crate::run;
use crate::session::{self, Access, Busy};
use crate::store::Store;

/// What is to be applied, and how.
pub(crate) struct Wish<'w> {
    pub(crate) manifest: Manifest<'w>,
    pub(crate) options: Options,
    /// Whether it is a success that no resource has the tags that are wanted.
    pub(crate) allow_empty: bool,
    pub(crate) rollback: Rollback,
    /// Whether every change is shown.
    pub(crate) diff: bool,
    pub(crate) busy: Busy,
    pub(crate) splay: Splay,
    pub(crate) report: ReportOptions,
}

/// Applies a manifest to every target.
///
/// # Errors
/// That the manifest is not there, or what is wrong with it.
pub(crate) async fn apply(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    wish: &Wish<'_>,
    codes: &Codes,
    output: &Output,
) -> anyhow::Result<Ending> {
    // What is wrong with it whatever a device holds is known before any is asked.
    let catalog = wish.manifest.read(&setting.registry)?;
    if !catalog.left_out.is_empty() {
        let names: Vec<String> = catalog.left_out.iter().map(Ref::to_string).collect();
        let names = names.join(", ");
        let message = format!("Skipping host resources because running on a device: {names}");
        setting.voice.say(Level::Notice, &message);
    }
    for declared in &catalog.resources {
        for doubt in &declared.doubts {
            setting.voice.say(Level::Warning, &declared.told(doubt));
        }
    }
    let families: BTreeSet<&str> = targets
        .iter()
        .filter_map(|target| Some(family(setting, target).ok()?.name()))
        .collect();
    let mut plans = BTreeMap::new();
    for family in families {
        if wish.rollback == Rollback::OnError && setting.registry.family(family)?.safety().is_none()
        {
            let message = format!(
                "devices of `{family}` have no way back: those of NETCONF have one, and those with a \
                 command line whose family says `checkpoint`; leave --rollback on-error out, or \
                 apply to other devices"
            );
            bail!(Failure::new("devgate/no-way-back", message));
        }
        let find = |name: &str| setting.registry.resource_type(family, name);
        plans.insert(family, catalog.plan(find)?);
    }
    let tags: BTreeSet<&str> = plans.values().flat_map(Plan::tags).collect();
    if !tags.is_empty() {
        untagged(setting, &tags, wish)?;
    }
    wish.report.prepare()?;
    let plans = &plans;
    let ran = run::over(setting, targets, concurrency, output, ACTION, async |job| {
        let family = family(setting, job.target)?;
        let plan = &plans[family.name()];
        wish.splay.wait(job).await?;
        let address = job.target.address();
        let what = format!("starting applying configuration to {}", job.target);
        job.context().info(format!("{what} at {address}"));
        let (report, unsaved) = enforce(setting, job, family, plan, wish).await?;
        let mut value = serde_json::to_value(&report).expect("reports have text keys");
        let kept = wish.report.keep(job, &report, &value);
        let failure = unsaved.or_else(|| kept.err());
        codes.note(&report, failure.is_some());
        let well = report.status != RunStatus::Failed && failure.is_none();
        if let Some(failure) = failure {
            value["_error"] = serde_json::to_value(failure).expect("failures have text keys");
        }
        Ok(Answer {
            status: if well {
                Status::Success
            } else {
                Status::Failure
            },
            value,
            text: Some(device_run::text(&report, wish.diff)),
            collected: None,
        })
    });
    Ok(codes.ending(ran.await?))
}

/// Tells which of the tags that are wanted no resource has.
///
/// # Errors
/// That no resource has any of them, so that there is nothing to do.
fn untagged(setting: &Setting, tags: &BTreeSet<&str>, wish: &Wish<'_>) -> Result<(), Failure> {
    let wanted = &wish.options.tags;
    let unknown: Vec<&String> = wanted
        .iter()
        .filter(|tag| !tags.contains(tag.to_lowercase().as_str()))
        .collect();
    let named = unknown.iter().map(|tag| {
        let hint = did_you_mean(&tag.to_lowercase(), tags.iter().copied());
        format!("`{tag}`{hint}")
    });
    let why = format!(
        "no resource has the tag {}",
        named.collect::<Vec<_>>().join(", ")
    );
    match unknown.len() {
        0 => {}
        all if all == wanted.len() => setting.nothing_to_do(wish.allow_empty, &why)?,
        _ => setting.voice.say(Level::Warning, &why),
    }
    Ok(())
}

/// Runs the transaction; beside its report, why what was changed could not be saved.
async fn enforce(
    setting: &Setting,
    job: &run::Job<'_>,
    family: &Family,
    plan: &Plan<'_>,
    wish: &Wish<'_>,
) -> Result<(Report, Option<Failure>), Failure> {
    let options = &wish.options;
    let safety = family
        .safety()
        .filter(|_| wish.rollback == Rollback::OnError);
    let access = match options.mode {
        Mode::Enforce => Access::Write,
        Mode::Noop => Access::Read,
    };
    let unusable = |error: String| Failure::new("devgate/cannot-audit", error);
    let audits = plan
        .audits()
        .then(|| Store::of_audits(&setting.project.root));
    let audits = audits
        .transpose()
        .map_err(|error| unusable(format!("{error:#}")))?;
    let kept = audits.as_ref().map(|audits| audits.kept(job.target));
    let kept = kept.and_then(|kept| {
        kept.unwrap_or_else(|problem| {
            let message = format!("{problem}: what is audited is recorded anew");
            job.context().warning(message);
            None
        })
    });
    let _claim = match access {
        Access::Write => Some(setting.claims.take(job, wish.busy).await?),
        Access::Read => None,
    };
    let mut audited = kept.map_or_else(Audited::default, |kept| Audited::of(kept.what));
    session::within(setting, job, access, async |ctx, _| {
        // A run that is stopped has the time to come to the end of what it does, to go back, and to save.
        let _held = safety.map(|_| job.stop().hold());
        let report = device_run::run(ctx, plan, options, safety, &mut audited, job.stop()).await;
        if let (Some(audits), Mode::Enforce) = (&audits, options.mode) {
            let audited = job.without_secrets(audited.into_json());
            let kept = audits.keep(job.target, &audited, SystemTime::now());
            kept.map_err(|error| unusable(format!("what was audited is not kept: {error}")))?;
        }
        let mut unsaved = None;
        // Where the way back has failed, nobody wants to keep what there is.
        if report.summary.changed > 0
            && report.problem.is_none()
            && let Err(error) = family.save(ctx).await
        {
            let message = format!(
                "the device holds the changes, but would lose them when it restarts: {error}"
            );
            unsaved = Some(Failure::new("devgate/not-saved", message));
        }
        Ok((report, unsaved))
    })
    .await
}
