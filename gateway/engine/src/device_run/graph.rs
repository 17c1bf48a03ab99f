//! The graph of the order: nodes by their index, edges between them, and their cycles.

use std::collections::BTreeSet;

/// Nodes, and the edges between them.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    before: Vec<Vec<Edge>>,
    after: Vec<Vec<Edge>>,
}

/// One end of an edge, as seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The node at this end.
    pub(super) node: usize,
    /// Whether a change of the earlier node notifies the later one.
    pub(super) notifies: bool,
}

/// The nodes of a graph that have not begun. A node is ready once all nodes before it are settled.
#[derive(Debug)]
pub(super) struct Queue {
    /// For each node, the number of unsettled nodes before it.
    waits_for: Vec<usize>,
    ready: BTreeSet<usize>,
}

impl Graph {
    /// Creates nodes without edges.
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            before: vec![Vec::new(); nodes],
            after: vec![Vec::new(); nodes],
        }
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.after.len()
    }

    /// Adds an edge: `from` comes before `to`.
    pub(super) fn add(&mut self, from: usize, to: usize, notifies: bool) {
        let add =
            |edges: &mut Vec<Edge>, node| match edges.iter_mut().find(|edge| edge.node == node) {
                Some(edge) => edge.notifies |= notifies,
                None => edges.push(Edge { node, notifies }),
            };
        add(&mut self.after[from], to);
        add(&mut self.before[to], from);
    }

    /// Returns the direct predecessors of a node.
    pub(super) fn before(&self, node: usize) -> &[Edge] {
        &self.before[node]
    }

    /// Returns the direct successors of a node.
    pub(super) fn after(&self, node: usize) -> &[Edge] {
        &self.after[node]
    }

    /// Returns the nodes of each cycle in their order. Of several cycles that share a node, only one is returned.
    pub(super) fn cycles(&self) -> Vec<Vec<usize>> {
        let component = self.components();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for (node, &component) in component.iter().enumerate() {
            members[component].push(node);
        }
        let mut cycles: Vec<Vec<usize>> = members
            .iter()
            .filter(|members| match members.as_slice() {
                [alone] => self.after[*alone].iter().any(|edge| edge.node == *alone),
                members => members.len() > 1,
            })
            .map(|members| self.cycle_from(members[0], &component))
            .collect();
        cycles.sort_unstable();
        cycles
    }

    /// Returns the shortest cycle from a node back to itself within its component.
    fn cycle_from(&self, start: usize, component: &[usize]) -> Vec<usize> {
        let mut came_from = vec![None; self.len()];
        let mut reached = std::collections::VecDeque::from([start]);
        while let Some(node) = reached.pop_front() {
            for edge in &self.after[node] {
                if edge.node == start {
                    let mut path = vec![node];
                    while let Some(previous) = came_from[path[path.len() - 1]] {
                        path.push(previous);
                    }
                    path.reverse();
                    return path;
                }
                let is_new = came_from[edge.node].is_none();
                if is_new && component[edge.node] == component[start] {
                    came_from[edge.node] = Some(node);
                    reached.push_back(edge.node);
                }
            }
        }
        vec![start]
    }

    /// Returns the strongly connected component of each node: two nodes are in the same one if each comes before the
    /// other. (Tarjan's algorithm, with an explicit stack, because chains may be long.)
    pub(super) fn components(&self) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let mut found_as = vec![NONE; self.len()];
        let mut lowest = vec![0; self.len()];
        let mut component = vec![NONE; self.len()];
        let (mut found, mut components) = (0, 0);
        let mut stack = Vec::new();
        let mut path: Vec<(usize, usize)> = Vec::new();
        for root in 0..self.len() {
            if found_as[root] == NONE {
                path.push((root, 0));
            }
            while let Some((node, next)) = path.pop() {
                if next == 0 {
                    found_as[node] = found;
                    lowest[node] = found;
                    found += 1;
                    stack.push(node);
                }
                if let Some(edge) = self.after[node].get(next) {
                    path.push((node, next + 1));
                    if found_as[edge.node] == NONE {
                        path.push((edge.node, 0));
                    } else if component[edge.node] == NONE {
                        lowest[node] = lowest[node].min(found_as[edge.node]);
                    }
                    continue;
                }
                if lowest[node] == found_as[node] {
                    while let Some(member) = stack.pop() {
                        component[member] = components;
                        if member == node {
                            break;
                        }
                    }
                    components += 1;
                }
                if let Some((parent, _)) = path.last() {
                    lowest[*parent] = lowest[*parent].min(lowest[node]);
                }
            }
        }
        component
    }
}

impl Queue {
    /// Queues all nodes of a graph without cycles.
    pub(super) fn new(graph: &Graph) -> Self {
        let waits_for: Vec<usize> = graph.before.iter().map(Vec::len).collect();
        let ready = waits_for.iter().enumerate();
        let ready = ready
            .filter(|(_, stack)| **stack == 0)
            .map(|(node, _)| node);
        Self {
            ready: ready.collect(),
            waits_for,
        }
    }

    /// Returns the nodes that may begin now, in their order.
    pub(super) fn ready(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().copied()
    }

    /// Removes a node that begins.
    pub(super) fn begin(&mut self, node: usize) {
        self.ready.remove(&node);
    }

    /// Settles a node, whatever its outcome, and releases the nodes that waited only for it.
    pub(super) fn settle(&mut self, graph: &Graph, node: usize) {
        for edge in graph.after(node) {
            self.waits_for[edge.node] -= 1;
            if self.waits_for[edge.node] == 0 {
                self.ready.insert(edge.node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::new(nodes);
        for &(from, to) in edges {
            graph.add(from, to, false);
        }
        graph
    }

    #[test]
    fn each_cycle_is_reported_once_in_its_order() {
        assert_eq!(
            graph(4, &[(0, 1), (1, 2), (0, 2)]).cycles(),
            [[0_usize; 0]; 0]
        );
        let two = graph(7, &[(5, 6), (6, 5), (3, 1), (1, 2), (2, 3), (1, 3), (0, 1)]);
        assert_eq!(two.cycles(), [vec![1, 3], vec![5, 6]]);
        assert_eq!(graph(2, &[(1, 1)]).cycles(), [[1]]);
    }

    #[test]
    fn a_chain_may_be_long() {
        let nodes = 100_000;
        let mut chain = Graph::new(nodes);
        (1..nodes).for_each(|node| chain.add(node, node - 1, false));
        assert!(chain.cycles().is_empty());
        chain.add(0, nodes - 1, false);
        let [cycle] = chain.cycles().try_into().expect("one cycle");
        assert_eq!(cycle.len(), nodes);
    }

    #[test]
    fn a_node_is_ready_when_all_before_it_are_settled() {
        let graph = graph(4, &[(2, 0), (1, 0), (0, 3)]);
        let mut queue = Queue::new(&graph);
        let ready = |queue: &Queue| queue.ready().collect::<Vec<_>>();
        assert_eq!(ready(&queue), [1, 2]);
        for (node, then) in [(1, vec![2]), (2, vec![0]), (0, vec![3]), (3, vec![])] {
            queue.begin(node);
            queue.settle(&graph, node);
            assert_eq!(ready(&queue), then);
        }
    }

    #[test]
    fn duplicate_edges_are_merged_and_notify_if_either_does() {
        let mut graph = Graph::new(2);
        graph.add(0, 1, false);
        graph.add(0, 1, true);
        let edge = |node| Edge {
            node,
            notifies: true,
        };
        assert_eq!(
            (graph.after(0), graph.before(1)),
            (&[edge(1)][..], &[edge(0)][..])
        );
    }
}
