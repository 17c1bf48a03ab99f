//! The transaction: brings a device to the state that a plan desires, and reports truthfully what was done.
//!
//! Resources are processed in batches. A batch contains all resources of one type that nothing before them holds back,
//! so that a type is read once and changed at once where the order permits. Resources that depend on a failed one are
//! skipped.

mod precheck;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::time::to_the_nanosecond;
use devgate_devices::{DeviceRollback, ResourceType};
use devgate_schemas::{Level, Name, Report, Resource, ResourceReport, Value};
use devgate_transports::{Context, Mode};

use super::audit::Audited;
use super::entry::Entry;
use super::plan::{Node, Plan, Work};
use super::relate;
use super::rows::{Strict, Strictness};
use super::run_rollback::RunRollback;
use super::schedule::Schedule;
use super::tags;
use super::type_run::TypeRun;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the device may be changed.
    pub mode: Mode,
    /// Restricts the run to resources with one of these tags. Without tags, all are wanted.
    pub tags: Vec<String>,
    /// How strictly providers are held to the schemas of their types.
    pub strict: Strict,
}

/// Brings the device behind `ctx` to the desired state, or in noop mode reports what would change.
///
/// A failed resource affects only those that depend on it, unless `rollback` is to restore the state before the run.
/// When the run is cancelled, the current batch is finished, and the rest is skipped.
pub(crate) async fn run(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    options: &Options,
    rollback: Option<&dyn DeviceRollback>,
    audited: &mut Audited,
    stop: &CancelToken,
) -> Report {
    let started = SystemTime::now();
    let mut run = Run::begin(ctx, plan, options, rollback, audited).await;
    let completed = run.process_all(ctx, stop).await;
    let types = run.types.iter();
    let mut report = Report {
        noop: options.mode == Mode::Noop,
        completed,
        started: to_the_nanosecond(started),
        seconds: types
            .map(|type_run| (type_run.kind().schema().name().to_owned(), type_run.seconds))
            .collect(),
        resources: run.reports,
        ..Report::default()
    };
    let mut problems = Vec::new();
    for type_run in run.types {
        problems.extend(type_run.problems);
        report.device_diff.extend(type_run.device_diff);
    }
    report.problem = (!problems.is_empty()).then(|| problems.join("\n"));
    report.sum_up();
    run.run_rollback.finish(ctx, &mut report).await;
    report.sum_up();
    report.ended = to_the_nanosecond(SystemTime::now());
    report
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    options: &'a Options,
    /// The order by the plan's graph and by the automatic relations of resources.
    schedule: Schedule,
    types: Vec<TypeRun<'a>>,
    /// The resources that have not begun, by their nodes.
    waiting: Vec<Option<Entry>>,
    /// Why nothing on the device is changed, if the catalog is invalid for it.
    mismatch: Option<String>,
    run_rollback: RunRollback<'a>,
    audited: &'a mut Audited,
    reports: Vec<ResourceReport>,
}

/// What happens to a node that nothing holds back any more.
enum NodeAction {
    /// Nothing: the node has no resource to process.
    Pass,
    /// It is skipped, with these messages at this level.
    Skip(Level, Vec<String>),
    /// It is processed: its type and mode.
    Process(usize, Mode),
}

impl<'a> Run<'a> {
    async fn begin(
        ctx: &Context<'_>,
        plan: &'a Plan<'a>,
        options: &'a Options,
        rollback: Option<&'a dyn DeviceRollback>,
        audited: &'a mut Audited,
    ) -> Self {
        let mut waiting: Vec<Option<Entry>> = Vec::with_capacity(plan.nodes.len());
        for (index, node) in plan.nodes.iter().enumerate() {
            waiting.push(entry(ctx, index, node, options.mode));
        }
        let strict = Arc::new(Strictness::new(options.strict));
        let mut types = Vec::with_capacity(plan.kinds.len());
        for (index, &kind) in plan.kinds.iter().enumerate() {
            let is_purge = |node: &Node| matches!(node.work, Work::Purge { kind } if kind == index);
            let purges = plan.nodes.iter().any(is_purge);
            let mut type_run = TypeRun::new(kind, Arc::clone(&strict), purges);
            let declared = waiting.iter_mut().flatten();
            let declared = declared.filter(|entry| plan.nodes[entry.node].ensures(index));
            let mut declared: Vec<&mut Entry> = declared.collect();
            type_run.canonicalize(ctx, &mut declared).await;
            types.push(type_run);
        }
        let mut graph = plan.graph.clone();
        let type_runs: Vec<(usize, &dyn ResourceType, &Name, &Resource)> = waiting
            .iter()
            .flatten()
            .filter_map(|entry| match plan.nodes[entry.node].work {
                Work::Ensure { kind, .. } => {
                    let kind = plan.kinds[kind];
                    Some((entry.node, kind, &entry.name, &entry.report.should))
                }
                _ => None,
            })
            .collect();
        for (from, to) in relate::automatic(&mut graph, &type_runs) {
            let (from, to) = (&plan.nodes[from].shown, &plan.nodes[to].shown);
            ctx.debug(format!(
                "Skipping automatic relationship between {from} and {to}"
            ));
        }
        Self {
            schedule: Schedule::new(graph, plan.nodes.len()),
            plan,
            options,
            types,
            waiting,
            mismatch: None,
            run_rollback: RunRollback::new(rollback),
            audited,
            reports: Vec::new(),
        }
    }

    /// Processes all nodes. Returns whether none was skipped because the run was cancelled.
    async fn process_all(&mut self, ctx: &Context<'_>, stop: &CancelToken) -> bool {
        if self.options.mode == Mode::Enforce {
            self.precheck(ctx, stop).await;
        }
        while let Some((kind, mode)) = self.next(ctx) {
            if stop.stage() >= Stage::Finish {
                self.skip_remaining();
                return false;
            }
            self.process_batch(ctx, kind, mode).await;
        }
        true
    }

    /// Passes nodes that need no device, then returns the type and mode of the first node that is ready.
    fn next(&mut self, ctx: &Context<'_>) -> Option<(usize, Mode)> {
        loop {
            let (mut first, mut has_passed) = (None, false);
            let ready: Vec<usize> = self.schedule.ready().collect();
            for node in ready {
                match self.action(node) {
                    NodeAction::Process(kind, mode) => first = first.or(Some((kind, mode))),
                    NodeAction::Skip(level, messages) => {
                        self.skip(ctx, node, level, messages);
                        has_passed = true;
                    }
                    NodeAction::Pass => {
                        self.schedule.pass(node);
                        has_passed = true;
                    }
                }
            }
            if !has_passed {
                return first;
            }
        }
    }

    /// Decides what happens to a node that nothing holds back any more.
    fn action(&self, node: usize) -> NodeAction {
        // The nodes of containers have no resource.
        let Some(node_data) = self.plan.nodes.get(node) else {
            return NodeAction::Pass;
        };
        let (Some(entry), Work::Ensure { kind, .. } | Work::Purge { kind }) =
            (&self.waiting[node], &node_data.work)
        else {
            return NodeAction::Pass;
        };
        if self.is_left_out(node_data) {
            let message = format!("Not tagged with {}", self.options.tags.join(", "));
            return NodeAction::Skip(Level::Debug, vec![message]);
        }
        let failures = self.schedule.failures_before(node);
        if failures.is_empty() {
            return match &self.mismatch {
                Some(why) if self.may_change(entry, *kind) => {
                    NodeAction::Skip(Level::Warning, vec![why.clone()])
                }
                _ => NodeAction::Process(*kind, entry.mode),
            };
        }
        let failed = failures
            .iter()
            .map(|&failed| &self.plan.nodes[failed].shown);
        let mut messages: Vec<String> = failed
            .map(|failed| format!("Dependency {failed} has failures: true"))
            .collect();
        messages.push("Skipping because of failed dependencies".to_owned());
        NodeAction::Skip(Level::Warning, messages)
    }

    /// Whether a resource has none of the wanted tags.
    fn is_left_out(&self, node_data: &Node) -> bool {
        !tags::are_wanted(&node_data.tags, &self.options.tags)
    }

    /// Skips a resource, and reports why.
    fn skip(&mut self, ctx: &Context<'_>, node: usize, level: Level, messages: Vec<String>) {
        if let Some(mut entry) = self.waiting[node].take() {
            let about = ctx.about(&entry.report.reference);
            messages
                .iter()
                .for_each(|message| about.log(level, message));
            entry.skip(messages);
            entry.report.left_out = self.is_left_out(&self.plan.nodes[node]);
            self.reports.push(entry.report);
        }
        self.schedule.pass(node);
    }

    /// Processes all ready resources of one type and mode.
    async fn process_batch(&mut self, ctx: &Context<'_>, kind: usize, mode: Mode) {
        let (started_at, at) = (Instant::now(), to_the_nanosecond(SystemTime::now()));
        let plan = self.plan;
        let ready = self.schedule.ready();
        let nodes: Vec<usize> = ready
            .filter(
                |&node| matches!(self.action(node), NodeAction::Process(k, m) if (k, m) == (kind, mode)),
            )
            .collect();
        let mut batch = Vec::with_capacity(nodes.len());
        let mut purge = None;
        for &node in &nodes {
            let node_data = &plan.nodes[node];
            if matches!(node_data.work, Work::Purge { .. }) {
                purge = Some((node, node_data));
            }
            self.schedule.begin(node);
            batch.extend(self.waiting[node].take());
        }
        let (type_run, run_rollback) = (&mut self.types[kind], &mut self.run_rollback);
        let set = type_run.apply(ctx, &mut batch, mode, purge, run_rollback);
        if set.await {
            let others = self.types.iter_mut().enumerate();
            let others = others.filter(|(index, _)| *index != kind);
            others.for_each(|(_, other)| other.discard_reading());
        }
        for entry in batch.iter_mut().filter(|entry| !entry.report.failed) {
            let type_run = &self.types[kind];
            let (audit, schema) = (&plan.nodes[entry.node].audit, type_run.kind().schema());
            let now = type_run.current(&entry.name);
            self.audited
                .compare_and_record(audit, schema, &mut entry.report, now);
        }
        let seconds = started_at.elapsed().as_secs_f64() / batch.len().max(1) as f64;
        for mut entry in batch {
            entry.report.time.clone_from(&at);
            entry.report.evaluation_time = seconds;
            self.finish(ctx, entry);
        }
        for node in nodes {
            self.schedule.settle(node);
        }
    }

    /// Records the outcome of a resource, and notifies those that subscribe to it.
    fn finish(&mut self, ctx: &Context<'_>, mut entry: Entry) {
        let node_data = &self.plan.nodes[entry.node];
        let report = &mut entry.report;
        let about = ctx.about(&report.reference);
        if report.failed {
            self.schedule.fail(entry.node);
        } else {
            for message in &report.messages {
                about.log(node_data.level, message);
            }
        }
        let notifiers = self.schedule.notified_by(entry.node).iter();
        let notifiers = notifiers.map(|&by| self.plan.nodes[by].shown.to_string());
        report.notified_by = notifiers.collect();
        for by in &report.notified_by {
            about.debug(format!(
                "{by} has changed, but this resource has nothing to refresh"
            ));
        }
        if report.changed {
            self.schedule.notify(entry.node);
        }
        self.reports.push(entry.report);
    }

    /// Skips everything that has not begun.
    fn skip_remaining(&mut self) {
        for mut entry in self.waiting.iter_mut().filter_map(Option::take) {
            entry.skip(["interrupted: nothing was done".to_owned()]);
            self.reports.push(entry.report);
        }
    }
}

/// Creates the entry of a node's declared resource.
fn entry(ctx: &Context<'_>, index: usize, node: &Node, mode: Mode) -> Option<Entry> {
    let noop = match (mode, node.noop) {
        (Mode::Noop, Some(false)) => {
            let message = "`noop => false` does not lift noop of the whole run";
            ctx.about(&node.shown.to_string()).warning(message);
            Mode::Noop
        }
        (Mode::Enforce, Some(true)) => Mode::Noop,
        (mode, _) => mode,
    };
    let itself = || Name::new(node.shown.title.clone(), devgate_schemas::Hash::new());
    let (name, should) = match &node.work {
        Work::Ensure { name, should, .. } => (name.clone(), should.clone()),
        Work::Purge { .. } => {
            let mut should = Resource::new();
            should.set("purge", Value::from(true));
            (itself(), should)
        }
        Work::Nothing => return None,
    };
    Some(Entry::new(index, node, noop, name, should))
}
