//! `devgate device`: device runs, after `puppet device`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::bail;
use clap::{ArgGroup, Args, ValueEnum};
use devgate_devices::{Family, ResourceType, Which};
use devgate_schemas::{Level, Report, ResourceReport, RunStatus};
use devgate_transports::{Context, Mode, Resources};
use serde_json::json;

use super::{Ending, Setting, Targets, facts};
use crate::device_run::{self, Audited, Options, Plan, Ref, Strict};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::manifest;
use crate::output::Output;
use crate::results::{Action, Answer, Status};
use crate::run;
use crate::session::{self, Access};
use crate::store::Store;

const ACTION: Action = Action::new("device");

/// Bring a device to a desired state, or look at its resources and facts.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("whom").required(true).args(["targets"]))]
#[command(group = ArgGroup::new("what").required(true).args(["apply", "facts", "resource"]))]
#[command(
    after_help = "Example manifest, routes.yaml:\n  frr_static_route:\n    10.9.0.0/16 via \
                        Null0:\n      distance: 20\n\nExamples:\n  devgate device --target r1 \
                        --apply routes.yaml --noop\n  devgate device --target r1 --resource \
                        frr_interface swp1"
)]
pub(super) struct Device {
    #[command(flatten)]
    targets: Targets,
    /// Bring the device to the state of a manifest (YAML, JSON or .pp), or of a compiled catalog
    #[arg(long, value_name = "FILE")]
    apply: Option<PathBuf>,
    /// Only tell what would change
    #[arg(long, conflicts_with_all = ["facts", "resource"])]
    noop: bool,
    /// With --apply: only resources with one of these tags; a type and a title are tags, too
    #[arg(long, value_name = "TAG,...", value_delimiter = ',', conflicts_with_all = ["facts", "resource"])]
    tags: Vec<String>,
    /// With --apply: show every change as the lines that the device is sent, or as attributes
    #[arg(long, conflicts_with_all = ["facts", "resource"])]
    diff: bool,
    /// With --apply: what becomes of rows from a device that do not keep to their type
    #[arg(long, value_name = "HOW", value_enum, default_value_t, conflicts_with_all = ["facts", "resource"])]
    rows: Rows,
    /// With --apply: what becomes of a device on which something has failed
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, conflicts_with_all = ["facts", "resource"])]
    rollback: Rollback,
    /// Print the device's facts
    #[arg(long)]
    facts: bool,
    /// Print the device's resources of a type, or one of them
    #[arg(long, num_args = 1..=2, value_names = ["TYPE", "TITLE"])]
    resource: Vec<String>,
}

/// What becomes of a provider that does not keep to its type (Puppet's setting `strict`).
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Rows {
    /// Tell it at the level `debug`
    Off,
    /// Tell it as a warning, and use them
    Warning,
    /// Fail the resource
    #[default]
    Error,
}

/// When a device is brought back to where it was before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum Rollback {
    /// Never: what has succeeded stays
    #[default]
    Never,
    /// When a resource has failed, or the run was stopped: nothing stays of the run
    OnError,
}

impl Device {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let concurrency = self.targets.concurrency;
        let targets = setting.select(&self.targets).await?;
        if self.facts {
            return facts::collect(setting, &targets, concurrency, output).await;
        }
        if let Some(manifest) = &self.apply {
            let options = Options {
                mode: if self.noop { Mode::Noop } else { Mode::Enforce },
                tags: self.tags,
                strict: match self.rows {
                    Rows::Off => Strict::Off,
                    Rows::Warning => Strict::Warning,
                    Rows::Error => Strict::Error,
                },
            };
            let wish = Wish {
                manifest,
                options,
                rollback: self.rollback,
                diff: self.diff,
            };
            return apply(setting, &targets, concurrency, &wish, output).await;
        }
        match self.resource.as_slice() {
            [type_name, title @ ..] => {
                let title = title.first().map(String::as_str);
                show(setting, &targets, concurrency, type_name, title, output).await
            }
            [] => bail!("say what to do: --apply FILE, --facts or --resource TYPE"),
        }
    }
}

/// The family of a target, which says what can be managed on it.
fn family<'a>(setting: &'a Setting, target: &Target) -> Result<&'a Family, Failure> {
    match target.remote_transport() {
        Some(name) => setting.registry.family(name),
        None => Err(session::no_transport(target)),
    }
}

/// What is to be applied, and how.
struct Wish<'w> {
    manifest: &'w Path,
    options: Options,
    rollback: Rollback,
    /// Whether every change is shown.
    diff: bool,
}

async fn apply(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    wish: &Wish<'_>,
    output: &Output,
) -> anyhow::Result<Ending> {
    // A manifest that is wrong for any of the devices changes none of them.
    let catalog = manifest::read(wish.manifest, &setting.registry)?;
    if !catalog.left_out.is_empty() {
        let names: Vec<String> = catalog.left_out.iter().map(Ref::to_string).collect();
        let names = names.join(", ");
        let message = format!("Skipping host resources because running on a device: {names}");
        setting.voice.say(Level::Notice, &message);
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
                "devices of `{family}` have no way back: its family says no `checkpoint`; leave \
                 --rollback on-error out, or apply to other devices"
            );
            bail!(Failure::new("devgate/no-way-back", message));
        }
        let find = |name: &str| setting.registry.resource_type(family, name);
        plans.insert(family, catalog.plan(find)?);
    }
    let plans = &plans;
    let ran = run::over(setting, targets, concurrency, output, ACTION, async |job| {
        let family = family(setting, job.target)?;
        let plan = &plans[family.name()];
        let (report, unsaved) = enforce(setting, job, family, plan, wish).await?;
        let mut value = serde_json::to_value(&report).expect("reports have text keys");
        let well = report.status != RunStatus::Failed && unsaved.is_none();
        if let Some(failure) = unsaved {
            value["_error"] = serde_json::to_value(failure).expect("failures have text keys");
        }
        Ok(Answer {
            status: if well {
                Status::Success
            } else {
                Status::Failure
            },
            value,
            text: Some(report_text(&report, wish.diff)),
            collected: None,
        })
    });
    Ok(ran.await?.ending)
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
    let mut audited = kept.map_or_else(Audited::default, |kept| Audited::of(kept.what));
    session::within(setting, job, access, async |ctx, _| {
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

async fn show(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    type_name: &str,
    title: Option<&str>,
    output: &Output,
) -> anyhow::Result<Ending> {
    let ran = run::over(setting, targets, concurrency, output, ACTION, async |job| {
        let family = family(setting, job.target)?;
        let kind = setting.registry.resource_type(family.name(), type_name)?;
        let rows = session::within(setting, job, Access::Read, async |ctx, _| {
            rows(ctx, kind, title).await
        });
        Ok(Answer::success(json!({ "resources": rows.await? })))
    });
    Ok(ran.await?.ending)
}

async fn rows(
    ctx: &Context<'_>,
    kind: &dyn ResourceType,
    title: Option<&str>,
) -> Result<Vec<devgate_schemas::Resource>, Failure> {
    let schema = kind.schema();
    let wanted = title
        .map(|title| {
            schema
                .parse_title(title)
                .map(|namevars| devgate_schemas::Name::new(title, namevars))
        })
        .transpose()
        .map_err(|invalid| Failure::new("devgate/invalid-resource", invalid.to_string()))?;
    let resources = Resources::new(schema, Mode::Noop);
    let ctx = ctx.for_resources(&resources);
    let mut provider = kind.provider();
    let which = wanted
        .as_ref()
        .map_or(Which::All, |name| Which::Named(std::slice::from_ref(name)));
    let mut rows = provider.get(&ctx, which).await?;
    schema
        .check_rows(&mut rows)
        .map_err(|invalid| Failure::new("devgate/invalid-resource", invalid.to_string()))?;
    if let Some(wanted) = wanted {
        rows.retain(|row| wanted.names(row));
        if rows.is_empty() {
            let message = format!(
                "there is no {}[{wanted}] on {}",
                schema.name(),
                ctx.target()
            );
            return Err(Failure::new("devgate/no-such-resource", message));
        }
    }
    Ok(rows)
}

fn report_text(report: &Report, diff: bool) -> String {
    let mut text = String::new();
    for resource in &report.resources {
        let ResourceReport {
            type_name,
            title,
            messages,
            diff: lines,
            ..
        } = resource;
        let word = match resource {
            _ if resource.failed => "FAILED",
            _ if resource.noop => "would change",
            _ if resource.changed => "changed",
            _ if resource.skipped && !resource.left_out => "skipped",
            _ => continue,
        };
        text.push_str(&format!("{type_name}[{title}]: {word}\n"));
        for message in messages {
            text.push_str(&format!("  {}\n", message.replace('\n', "\n  ")));
        }
        let is_shown = diff || resource.noop;
        for line in lines.iter().filter(|_| is_shown) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    let sum = &report.summary;
    let would_change = report.resources.iter().filter(|resource| resource.noop);
    let mut counts = Vec::new();
    for (count, word) in [
        (sum.changed, "changed"),
        (would_change.count(), "would change"),
        (sum.failed, "failed"),
        (sum.skipped, "skipped"),
        (sum.unchanged, "unchanged"),
    ] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let counts = if counts.is_empty() {
        "nothing".to_owned()
    } else {
        counts.join(", ")
    };
    let plural = if sum.total == 1 { "" } else { "s" };
    text.push_str(&format!("{} resource{plural}: {counts}\n", sum.total));
    if report.rolled_back {
        text.push_str("rolled back: the device is where it was before the run\n");
    }
    if let Some(problem) = &report.problem {
        text.push_str(&format!("{problem}\n"));
    }
    text
}
