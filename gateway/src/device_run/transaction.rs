//! The transaction: from a plan to a device that holds what is desired, and a report that is true.
//!
//! Resources go in batches: of those that nothing before them holds back, all of one type together,
//! so that a type is read once and changed at once where order allows. What depends on a failure is
//! left alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use devgate_devices::{ResourceType, Safety};
use devgate_schemas::{Level, Name, Report, Resource, ResourceReport, Value};
use devgate_transports::{Context, Mode};

use super::audit::Audited;
use super::entry::Entry;
use super::graph::{Graph, Queue};
use super::of_type::OfType;
use super::plan::{Node, Plan, Work};
use super::relate;
use super::rows::{Strict, Strictness};
use super::tags;
use super::way_back::WayBack;
use super::words::time;
use crate::stop::{Stage, Stop};

/// What somebody wants of a run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Whether the device may be changed.
    pub(crate) mode: Mode,
    /// Only resources with one of these tags; all, where there are none.
    pub(crate) tags: Vec<String>,
    /// What becomes of providers that do not keep to their types.
    pub(crate) strict: Strict,
}

/// Brings the device behind `ctx` to the desired state, or under noop tells what would change.
///
/// A resource that fails takes no other down but those that depend on it, unless `safety` is to bring
/// the device back to where it was then. When the run is to be stopped, what is under way comes to
/// its end, and the rest is left alone.
pub(crate) async fn run(
    ctx: &Context<'_>,
    plan: &Plan<'_>,
    options: &Options,
    safety: Option<&dyn Safety>,
    audited: &mut Audited,
    stop: &Stop,
) -> Report {
    let started = SystemTime::now();
    let mut run = Run::begin(ctx, plan, options, safety, audited).await;
    let completed = run.all(ctx, stop).await;
    let types = run.types.iter();
    let mut report = Report {
        noop: options.mode == Mode::Noop,
        completed,
        started: time(started),
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
    report.ended = time(SystemTime::now());
    report
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    options: &'a Options,
    /// The plan's graph, and the relations that resources have by themselves.
    graph: Graph,
    queue: Queue,
    types: Vec<OfType<'a>>,
    /// The resources that have not been begun, by their nodes.
    waiting: Vec<Option<Entry>>,
    /// For each node that is settled, the failures that it or anything before it has met.
    tainted: Vec<BTreeSet<usize>>,
    /// For each resource, those before it that were changed and tell it so.
    notified_by: Vec<Vec<String>>,
    way_back: WayBack<'a>,
    audited: &'a mut Audited,
    done: Vec<ResourceReport>,
}

impl<'a> Run<'a> {
    async fn begin(
        ctx: &Context<'_>,
        plan: &'a Plan<'a>,
        options: &'a Options,
        safety: Option<&'a dyn Safety>,
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
            queue: Queue::new(&graph),
            tainted: vec![BTreeSet::new(); graph.len()],
            notified_by: vec![Vec::new(); plan.nodes.len()],
            graph,
            plan,
            options,
            types,
            waiting,
            way_back: WayBack::new(safety),
            audited,
            done: Vec::new(),
        }
    }

    /// Goes through everything. Whether nothing was left alone because somebody stopped the run.
    async fn all(&mut self, ctx: &Context<'_>, stop: &Stop) -> bool {
        while let Some((kind, mode)) = self.next(ctx) {
            if stop.stage() >= Stage::Finish {
                self.leave();
                return false;
            }
            self.batch(ctx, kind, mode).await;
        }
        true
    }

    /// Passes what needs no device, until something is ready that does: its type and its mode.
    fn next(&mut self, ctx: &Context<'_>) -> Option<(usize, Mode)> {
        loop {
            let node = self.queue.ready().next()?;
            // What stands for a container has no resource, and nothing else to do.
            let Some(of) = self.plan.nodes.get(node) else {
                self.pass(node);
                continue;
            };
            let failures = self.failures_before(node);
            let is_wanted = tags::are_wanted(&of.tags, &self.options.tags);
            let skip = if !is_wanted {
                Some((
                    Level::Debug,
                    vec![format!("Not tagged with {}", self.options.tags.join(", "))],
                ))
            } else if !failures.is_empty() {
                let failed = failures
                    .iter()
                    .map(|&failed| &self.plan.nodes[failed].shown);
                let mut messages: Vec<String> = failed
                    .map(|failed| format!("Dependency {failed} has failures: true"))
                    .collect();
                messages.push("Skipping because of failed dependencies".to_owned());
                Some((Level::Warning, messages))
            } else {
                match of.work {
                    Work::Hold { kind, .. } | Work::Purge { kind } => {
                        let mode = self.waiting[node].as_ref().map(|entry| entry.mode);
                        return Some((kind, mode.unwrap_or(self.options.mode)));
                    }
                    Work::Nothing => None,
                }
            };
            let entry = self.waiting[node].take();
            if let (Some((level, messages)), Some(mut entry)) = (skip, entry) {
                let about = ctx.about(&entry.report.reference);
                messages
                    .iter()
                    .for_each(|message| about.say(level, message));
                entry.skip(messages);
                entry.report.left_out = !is_wanted;
                self.done.push(entry.report);
            }
            self.pass(node);
        }
    }

    /// The failures that whatever comes before a node has met.
    fn failures_before(&self, node: usize) -> BTreeSet<usize> {
        let before = self.graph.before(node).iter();
        let failures = before.flat_map(|edge| &self.tainted[edge.node]);
        failures.copied().collect()
    }

    /// Settles a node for which nothing was done.
    fn pass(&mut self, node: usize) {
        self.queue.begin(node);
        self.tainted[node] = self.failures_before(node);
        self.queue.settle(&self.graph, node);
    }

    /// Does everything that is ready of one type, in one mode.
    async fn batch(&mut self, ctx: &Context<'_>, kind: usize, mode: Mode) {
        let (began, at) = (Instant::now(), time(SystemTime::now()));
        let ready: Vec<usize> = self.queue.ready().collect();
        let plan = self.plan;
        let mut nodes = Vec::new();
        let mut batch = Vec::new();
        let mut purge = None;
        for node in ready {
            let Some(of) = plan.nodes.get(node) else {
                continue;
            };
            let is_of_batch = match of.work {
                Work::Hold { kind: of_kind, .. } => of_kind == kind,
                Work::Purge { kind: of_kind } => of_kind == kind,
                Work::Nothing => false,
            };
            let has_mode = self.waiting[node]
                .as_ref()
                .is_some_and(|entry| entry.mode == mode);
            let is_wanted = tags::are_wanted(&of.tags, &self.options.tags);
            if !is_of_batch || !has_mode || !is_wanted || !self.failures_before(node).is_empty() {
                continue;
            }
            if matches!(of.work, Work::Purge { .. }) {
                purge = Some((node, of));
            }
            self.queue.begin(node);
            nodes.push(node);
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
            self.queue.settle(&self.graph, node);
        }
    }

    /// Notes what became of a resource, and tells those that want to know.
    fn finish(&mut self, ctx: &Context<'_>, mut entry: Entry) {
        let of = &self.plan.nodes[entry.node];
        let report = &mut entry.report;
        let about = ctx.about(&report.reference);
        if report.failed {
            self.tainted[entry.node].insert(entry.node);
        } else {
            for event in &report.events {
                about.say(of.level, &event.message);
            }
        }
        report.notified_by = self.notified_by[entry.node].clone();
        for by in &report.notified_by {
            about.debug(format!(
                "{by} has changed: there is nothing to refresh here"
            ));
        }
        if report.changed {
            self.notify(entry.node, &report.reference);
        }
        self.done.push(entry.report);
    }

    /// Tells what a node notifies that it was changed, through containers.
    fn notify(&mut self, node: usize, changed: &str) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            for edge in self.graph.after(node).iter().filter(|edge| edge.notifies) {
                match self.notified_by.get_mut(edge.node) {
                    Some(by) if by.iter().any(|known| known == changed) => {}
                    Some(by) => by.push(changed.to_owned()),
                    None => open.push(edge.node),
                }
            }
        }
    }

    /// Leaves everything alone that has not been begun.
    fn leave(&mut self) {
        for mut entry in self.waiting.iter_mut().filter_map(Option::take) {
            entry.skip(["interrupted: nothing was done".to_owned()]);
            self.done.push(entry.report);
        }
    }
}

/// The resource of a node, as it is declared.
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
