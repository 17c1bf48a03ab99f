//! The transaction: brings a device to the state that a plan desires, and reports truthfully what was done.
//!
//! Resources are processed in batches. A batch contains all resources of one type that nothing before them holds back,
//! so that a type is read once and changed at once where the order permits. Resources that depend on a failed one are
//! skipped.

mod foresee;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use devgate_core::cancel::{CancelToken, Stage};
use devgate_core::time::to_the_nanosecond;
use devgate_devices::{DeviceRollback, ResourceType};
use devgate_schemas::{Level, Name, Report, Resource, ResourceReport, Value};
use devgate_transports::{Context, Mode};

use super::audit::Audited;
use super::entry::Entry;
use super::of_type::OfType;
use super::plan::{Node, Plan, Work};
use super::relate;
use super::rows::{Strict, Strictness};
use super::schedule::Schedule;
use super::tags;
use super::way_back::WayBack;

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
    let completed = run.all(ctx, stop).await;
    let types = run.types.iter();
    let mut report = Report {
        noop: options.mode == Mode::Noop,
        completed,
        started: to_the_nanosecond(started),
        seconds: types
            .map(|of_type| (of_type.kind().schema().name().to_owned(), of_type.seconds))
            .collect(),
        resources: run.done,
        ..Report::default()
    };
    let problems: Vec<String> = run.types.into_iter().flat_map(|one| one.problems).collect();
    report.problem = (!problems.is_empty()).then(|| problems.join("\n"));
    report.sum_up();
    run.way_back.end(ctx, &mut report).await;
    report.sum_up();
    report.ended = to_the_nanosecond(SystemTime::now());
    report
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    options: &'a Options,
    /// The order by the plan's graph and by the automatic relations of resources.
    schedule: Schedule,
    types: Vec<OfType<'a>>,
    /// The resources that have not begun, by their nodes.
    waiting: Vec<Option<Entry>>,
    /// Why nothing on the device is changed, if the catalog is invalid for it.
    unfit: Option<String>,
    way_back: WayBack<'a>,
    audited: &'a mut Audited,
    done: Vec<ResourceReport>,
}

/// What happens to a node that nothing holds back any more.
enum Verdict {
    /// Nothing: the node has no resource to process.
    Pass,
    /// It is skipped, with these messages at this level.
    Skip(Level, Vec<String>),
    /// It is processed: its type and mode.
    Do(usize, Mode),
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
            let mut of_type = OfType::new(kind, Arc::clone(&strict), purges);
            let declared = waiting.iter_mut().flatten();
            let declared = declared.filter(|entry| plan.nodes[entry.node].holds(index));
            let mut declared: Vec<&mut Entry> = declared.collect();
            of_type.canonicalize(ctx, &mut declared).await;
            types.push(of_type);
        }
        let mut graph = plan.graph.clone();
        let of_types: Vec<(usize, &dyn ResourceType, &Name, &Resource)> = waiting
            .iter()
            .flatten()
            .filter_map(|entry| match plan.nodes[entry.node].work {
                Work::Hold { kind, .. } => {
                    let kind = plan.kinds[kind];
                    Some((entry.node, kind, &entry.name, &entry.report.should))
                }
                _ => None,
            })
            .collect();
        for (from, to) in relate::automatic(&mut graph, &of_types) {
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
            unfit: None,
            way_back: WayBack::new(rollback),
            audited,
            done: Vec::new(),
        }
    }

    /// Processes all nodes. Returns whether none was skipped because the run was cancelled.
    async fn all(&mut self, ctx: &Context<'_>, stop: &CancelToken) -> bool {
        if self.options.mode == Mode::Enforce {
            self.foresee(ctx, stop).await;
        }
        while let Some((kind, mode)) = self.next(ctx) {
            if stop.stage() >= Stage::Finish {
                self.leave();
                return false;
            }
            self.batch(ctx, kind, mode).await;
        }
        true
    }

    /// Passes nodes that need no device, then returns the type and mode of the first node that is ready.
    fn next(&mut self, ctx: &Context<'_>) -> Option<(usize, Mode)> {
        loop {
            let (mut first, mut has_passed) = (None, false);
            let ready: Vec<usize> = self.schedule.ready().collect();
            for node in ready {
                match self.verdict(node) {
                    Verdict::Do(kind, mode) => first = first.or(Some((kind, mode))),
                    Verdict::Skip(level, messages) => {
                        self.skip(ctx, node, level, messages);
                        has_passed = true;
                    }
                    Verdict::Pass => {
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
    fn verdict(&self, node: usize) -> Verdict {
        // The nodes of containers have no resource.
        let Some(of) = self.plan.nodes.get(node) else {
            return Verdict::Pass;
        };
        let (Some(entry), Work::Hold { kind, .. } | Work::Purge { kind }) =
            (&self.waiting[node], &of.work)
        else {
            return Verdict::Pass;
        };
        if self.is_left_out(of) {
            let message = format!("Not tagged with {}", self.options.tags.join(", "));
            return Verdict::Skip(Level::Debug, vec![message]);
        }
        let failures = self.schedule.failures_before(node);
        if failures.is_empty() {
            return match &self.unfit {
                Some(why) if self.may_change(entry, *kind) => {
                    Verdict::Skip(Level::Warning, vec![why.clone()])
                }
                _ => Verdict::Do(*kind, entry.mode),
            };
        }
        let failed = failures
            .iter()
            .map(|&failed| &self.plan.nodes[failed].shown);
        let mut messages: Vec<String> = failed
            .map(|failed| format!("Dependency {failed} has failures: true"))
            .collect();
        messages.push("Skipping because of failed dependencies".to_owned());
        Verdict::Skip(Level::Warning, messages)
    }

    /// Whether a resource has none of the wanted tags.
    fn is_left_out(&self, of: &Node) -> bool {
        !tags::are_wanted(&of.tags, &self.options.tags)
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
            self.done.push(entry.report);
        }
        self.schedule.pass(node);
    }

    /// Processes all ready resources of one type and mode.
    async fn batch(&mut self, ctx: &Context<'_>, kind: usize, mode: Mode) {
        let (began, at) = (Instant::now(), to_the_nanosecond(SystemTime::now()));
        let plan = self.plan;
        let ready = self.schedule.ready();
        let nodes: Vec<usize> = ready
            .filter(
                |&node| matches!(self.verdict(node), Verdict::Do(k, m) if (k, m) == (kind, mode)),
            )
            .collect();
        let mut batch = Vec::with_capacity(nodes.len());
        let mut purge = None;
        for &node in &nodes {
            let of = &plan.nodes[node];
            if matches!(of.work, Work::Purge { .. }) {
                purge = Some((node, of));
            }
            self.schedule.begin(node);
            batch.extend(self.waiting[node].take());
        }
        let (of_type, way_back) = (&mut self.types[kind], &mut self.way_back);
        let set = of_type.bring_about(ctx, &mut batch, mode, purge, way_back);
        if set.await {
            let others = self.types.iter_mut().enumerate();
            let others = others.filter(|(index, _)| *index != kind);
            others.for_each(|(_, other)| other.forget());
        }
        for entry in batch.iter_mut().filter(|entry| !entry.report.failed) {
            let of_type = &self.types[kind];
            let (audit, schema) = (&plan.nodes[entry.node].audit, of_type.kind().schema());
            let now = of_type.held(&entry.name);
            self.audited.look(audit, schema, &mut entry.report, now);
        }
        let seconds = began.elapsed().as_secs_f64() / batch.len().max(1) as f64;
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
        let of = &self.plan.nodes[entry.node];
        let report = &mut entry.report;
        let about = ctx.about(&report.reference);
        if report.failed {
            self.schedule.fail(entry.node);
        } else {
            for message in &report.messages {
                about.log(of.level, message);
            }
        }
        let told_by = self.schedule.notified_by(entry.node).iter();
        let told_by = told_by.map(|&by| self.plan.nodes[by].shown.to_string());
        report.notified_by = told_by.collect();
        for by in &report.notified_by {
            about.debug(format!(
                "{by} has changed, but this resource has nothing to refresh"
            ));
        }
        if report.changed {
            self.schedule.notify(entry.node);
        }
        self.done.push(entry.report);
    }

    /// Skips everything that has not begun.
    fn leave(&mut self) {
        for mut entry in self.waiting.iter_mut().filter_map(Option::take) {
            entry.skip(["interrupted: nothing was done".to_owned()]);
            self.done.push(entry.report);
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
        Work::Hold { name, should, .. } => (name.clone(), should.clone()),
        Work::Purge { .. } => {
            let mut should = Resource::new();
            should.set("purge", Value::from(true));
            (itself(), should)
        }
        Work::Nothing => return None,
    };
    Some(Entry::new(index, node, noop, name, should))
}
