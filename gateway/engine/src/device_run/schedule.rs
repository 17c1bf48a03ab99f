//! The schedule of a run: the nodes that may begin, those that failures hold back, and the notifications of changes.

use std::collections::BTreeSet;

use super::graph::{Graph, Queue};

/// The progress of a run. Its nodes are those of a plan: its resources, then those of containers.
pub(super) struct Schedule {
    graph: Graph,
    queue: Queue,
    /// The number of nodes that are resources.
    resources: usize,
    /// For each settled node, the failures of itself and of all nodes before it.
    failures: Vec<BTreeSet<usize>>,
    /// For each resource, the changed resources that notify it.
    notified_by: Vec<Vec<usize>>,
}

impl Schedule {
    /// Creates the schedule of a graph without cycles.
    pub(super) fn new(graph: Graph, resources: usize) -> Self {
        Self {
            queue: Queue::new(&graph),
            failures: vec![BTreeSet::new(); graph.len()],
            notified_by: vec![Vec::new(); resources],
            resources,
            graph,
        }
    }

    /// Returns the nodes that nothing holds back any more, in their order.
    pub(super) fn ready(&self) -> impl Iterator<Item = usize> {
        self.queue.ready()
    }

    /// Returns the failures of all nodes before a node.
    pub(super) fn failures_before(&self, node: usize) -> BTreeSet<usize> {
        let before = self.graph.before(node).iter();
        let failures = before.flat_map(|edge| &self.failures[edge.node]);
        failures.copied().collect()
    }

    /// Whether a matching node comes before a node, directly or indirectly.
    pub(super) fn is_behind(&self, node: usize, matches: impl Fn(usize) -> bool) -> bool {
        let (mut stack, mut visited) = (vec![node], BTreeSet::new());
        while let Some(node) = stack.pop() {
            for edge in self.graph.before(node) {
                if matches(edge.node) {
                    return true;
                }
                if visited.insert(edge.node) {
                    stack.push(edge.node);
                }
            }
        }
        false
    }

    /// Settles a node for which nothing is done.
    pub(super) fn pass(&mut self, node: usize) {
        self.begin(node);
        self.failures[node] = self.failures_before(node);
        self.settle(node);
    }

    /// Begins a ready node.
    pub(super) fn begin(&mut self, node: usize) {
        self.queue.begin(node);
    }

    /// Records the failure of a node.
    pub(super) fn fail(&mut self, node: usize) {
        self.failures[node].insert(node);
    }

    /// Settles a node, whatever its outcome.
    pub(super) fn settle(&mut self, node: usize) {
        self.queue.settle(&self.graph, node);
    }

    /// Records that a resource was changed, and notifies its subscribers, through containers, too.
    pub(super) fn notify(&mut self, changed: usize) {
        let mut stack = vec![changed];
        while let Some(node) = stack.pop() {
            for edge in self.graph.after(node).iter().filter(|edge| edge.notifies) {
                if edge.node >= self.resources {
                    stack.push(edge.node);
                } else if !self.notified_by[edge.node].contains(&changed) {
                    self.notified_by[edge.node].push(changed);
                }
            }
        }
    }

    /// Returns the changed resources that have notified a resource.
    pub(super) fn notified_by(&self, resource: usize) -> &[usize] {
        &self.notified_by[resource]
    }
}
