//! The transaction: from a plan to a device that holds what is desired, and a report that is true.
//!
//! Resources go in batches: of those that nothing before them holds back, all of one type together,
//! so that a type is read once and changed at once where order allows. What depends on a failure is
//! left alone.

mod foresee;

use std::sync::Arc;
use std::time::{Instant, SystemTime};

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
use super::words::time;
use devgate_core::cancel::{CancelToken, Stage};

/// What somebody wants of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the device may be changed.
    pub mode: Mode,
    /// Only resources with one of these tags; all, where there are none.
    pub tags: Vec<String>,
    /// What becomes of providers that do not keep to their types.
    pub strict: Strict,
}

/// Brings the device behind `ctx` to the desired state, or under noop tells what would change.
///
/// A resource that fails takes no other down but those that depend on it, unless `rollback` is to bring
/// the device back to where it was then. When the run is to be stopped, what is under way comes to
/// its end, and the rest is left alone.
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
    /// By the plan's graph, and the relations that resources have by themselves.
    schedule: Schedule,
    types: Vec<OfType<'a>>,
    /// The resources that have not been begun, by their nodes.
    waiting: Vec<Option<Entry>>,
    /// Why nothing of the device is changed, where the catalog is wrong for it.
    unfit: Option<String>,
    way_back: WayBack<'a>,
    audited: &'a mut Audited,
    done: Vec<ResourceReport>,
}

/// What is to become of a node that nothing holds back any more.
enum Verdict {
    /// There is nothing to do about it.
    Pass,
    /// It is left alone; what is to be said of that, and how loud.
    Skip(Level, Vec<String>),
    /// It is to be brought about: its type, and its mode.
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

    /// Goes through everything. Whether nothing was left alone because somebody stopped the run.
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

    /// Passes what needs no device, then says what is first of all that is ready: its type and mode.
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

    /// What is to become of a node that nothing holds back any more.
    fn verdict(&self, node: usize) -> Verdict {
        // What stands for a container has no resource.
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

    /// Whether a resource has none of the tags that are wanted.
    fn is_left_out(&self, of: &Node) -> bool {
        !tags::are_wanted(&of.tags, &self.options.tags)
    }

    /// Leaves a resource alone, and says why.
    fn skip(&mut self, ctx: &Context<'_>, node: usize, level: Level, messages: Vec<String>) {
        if let Some(mut entry) = self.waiting[node].take() {
            let about = ctx.about(&entry.report.reference);
            messages
                .iter()
                .for_each(|message| about.say(level, message));
            entry.skip(messages);
            entry.report.left_out = self.is_left_out(&self.plan.nodes[node]);
            self.done.push(entry.report);
        }
        self.schedule.pass(node);
    }

    /// Does everything that is ready of one type, in one mode.
    async fn batch(&mut self, ctx: &Context<'_>, kind: usize, mode: Mode) {
        let (began, at) = (Instant::now(), time(SystemTime::now()));
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

    /// Notes what became of a resource, and tells those that want to know.
    fn finish(&mut self, ctx: &Context<'_>, mut entry: Entry) {
        let of = &self.plan.nodes[entry.node];
        let report = &mut entry.report;
        let about = ctx.about(&report.reference);
        if report.failed {
            self.schedule.fail(entry.node);
        } else {
            for message in &report.messages {
                about.say(of.level, message);
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
