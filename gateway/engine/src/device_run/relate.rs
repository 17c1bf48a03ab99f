//! Relations: resolves references to resources, and builds the graph of relations.
//!
//! A container in a relation is two nodes, one before and one after everything in it. So what comes before the
//! container comes before each of its resources.

use std::collections::{BTreeMap, HashMap, HashSet};

use devgate_devices::ResourceType;
use devgate_schemas::{Name, RelationKind, Resource};

use super::catalog::{Catalog, Ref};
use super::graph::Graph;
use super::plan::Work;

/// The resources of a catalog, by the titles of references.
pub(super) struct Relations<'c> {
    catalog: &'c Catalog,
    works: &'c [Option<Work>],
    kinds: &'c [&'c dyn ResourceType],
    titles: HashMap<(&'c str, &'c str), usize>,
    names: HashMap<(usize, &'c Name), usize>,
    containers: HashMap<(&'c str, String), usize>,
}

/// The target of a reference.
#[derive(Clone, Copy)]
enum ReferenceTarget {
    Resource(usize),
    Container(usize),
}

impl<'c> Relations<'c> {
    /// Collects everything that references can name. `works` are those of the catalog's resources.
    pub(super) fn of(
        catalog: &'c Catalog,
        works: &'c [Option<Work>],
        kinds: &'c [&'c dyn ResourceType],
    ) -> Self {
        let (mut titles, mut names) = (HashMap::new(), HashMap::new());
        let resources = catalog.resources.iter().enumerate();
        for (index, declared) in resources.clone() {
            let Ref { type_name, title } = &declared.name;
            titles.entry((&**type_name, &**title)).or_insert(index);
            if let Some(Some(Work::Ensure { kind, name, .. })) = works.get(index) {
                names.entry((*kind, name)).or_insert(index);
            }
        }
        // A resource's own title takes precedence over another's alias.
        for (index, declared) in resources {
            for alias in &declared.meta.aliases {
                let key = (&*declared.name.type_name, &**alias);
                titles.entry(key).or_insert(index);
            }
        }
        let containers = catalog.containers.iter().enumerate();
        Self {
            containers: containers
                .map(|(index, container)| (container_key(&container.name), index))
                .collect(),
            catalog,
            works,
            kinds,
            titles,
            names,
        }
    }

    /// Returns one message for each duplicate declaration.
    pub(super) fn duplicates(&self) -> Vec<String> {
        let resources = self.catalog.resources.iter().enumerate();
        resources
            .filter_map(|(index, declared)| {
                let Ref { type_name, title } = &declared.name;
                let same_title = self.titles[&(&**type_name, &**title)];
                let first = match &self.works[index] {
                    Some(Work::Ensure { kind, name, .. }) => {
                        same_title.min(self.names[&(*kind, name)])
                    }
                    _ => same_title,
                };
                let (location, first) = (&declared.location, &self.catalog.resources[first]);
                (!std::ptr::eq(first, declared)).then(|| {
                    format!(
                        "{location}: {} is the same resource as [{}] at {}: declare it once",
                        declared.name, first.name.title, first.location
                    )
                })
            })
            .collect()
    }

    /// Builds the graph of explicit relations and containers. Problems are added to `problems`.
    pub(super) fn graph(&self, problems: &mut Vec<String>) -> Graph {
        let mut edges = Vec::new();
        let mut anchors: BTreeMap<usize, usize> = BTreeMap::new();
        for relation in &self.catalog.relations {
            let (from, to) = (&relation.from, &relation.to);
            match (self.resolve(from), self.resolve(to)) {
                (Some(before), Some(after)) => {
                    for end in [before, after] {
                        if let ReferenceTarget::Container(index) = end {
                            let next = self.catalog.resources.len() + 2 * anchors.len();
                            anchors.entry(index).or_insert(next);
                        }
                    }
                    edges.push((before, after, relation.notifies));
                }
                (None, _) => problems.push(format!(
                    "{}: Could not find dependency {from} for {to}",
                    relation.location
                )),
                (_, None) => problems.push(format!(
                    "{}: Could not find dependent {to} for {from}",
                    relation.location
                )),
            }
        }
        let mut graph = Graph::new(self.catalog.resources.len() + 2 * anchors.len());
        for (before, after, notifies) in edges {
            let from = match before {
                ReferenceTarget::Resource(node) => node,
                ReferenceTarget::Container(index) => anchors[&index] + 1,
            };
            let to = match after {
                ReferenceTarget::Resource(node) => node,
                ReferenceTarget::Container(index) => anchors[&index],
            };
            graph.add(from, to, notifies);
        }
        let resources = self.catalog.resources.iter();
        let occupied: HashSet<usize> = resources
            .flat_map(|declared| self.around(declared.container))
            .collect();
        for (&index, &begin) in &anchors {
            // An empty container passes notifications on.
            graph.add(begin, begin + 1, !occupied.contains(&index));
            let outer = self.catalog.containers[index].container;
            for outer in self.around(outer).filter_map(|index| anchors.get(&index)) {
                graph.add(*outer, begin, true);
                graph.add(begin + 1, outer + 1, true);
            }
        }
        for (node, declared) in self.catalog.resources.iter().enumerate() {
            let around = self.around(declared.container);
            for begin in around.filter_map(|index| anchors.get(&index)) {
                graph.add(*begin, node, true);
                graph.add(node, begin + 1, true);
            }
        }
        let shown = |node: usize| match self.catalog.resources.get(node) {
            Some(declared) => declared.name.to_string(),
            None => {
                let mut anchors = anchors.iter();
                let of_node = anchors.find(|(_, begin)| **begin == node || **begin + 1 == node);
                of_node.map_or_else(String::new, |(&index, _)| {
                    self.catalog.containers[index].name.to_string()
                })
            }
        };
        problems.extend(cycles(&graph, shown));
        graph
    }

    /// Returns a container and those around it.
    fn around(&self, innermost: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(innermost, |&index| self.catalog.containers[index].container)
    }

    fn resolve(&self, reference: &Ref) -> Option<ReferenceTarget> {
        let Ref { type_name, title } = reference;
        if let Some(&node) = self.titles.get(&(&**type_name, &**title)) {
            return Some(ReferenceTarget::Resource(node));
        }
        if let Some(&index) = self.containers.get(&container_key(reference)) {
            return Some(ReferenceTarget::Container(index));
        }
        // A different title may mean the same name.
        let kind = self.kinds.iter();
        let kind = kind
            .clone()
            .position(|kind| kind.schema().name() == type_name)?;
        let of = self.kinds[kind];
        let name = of.schema().name_of_title(title).ok()?;
        let mut named = Resource::from(name.namevars().clone());
        if !of.canonical(&mut named).is_empty() {
            return None;
        }
        let name = Name::new(title.as_str(), of.schema().namevars_of(&named));
        self.names
            .get(&(kind, &name))
            .copied()
            .map(ReferenceTarget::Resource)
    }
}

/// References capitalize the titles of classes; declarations do not.
fn container_key(name: &Ref) -> (&str, String) {
    let title = match name.type_name.as_str() {
        "class" => name.title.trim_start_matches("::").to_lowercase(),
        _ => name.title.clone(),
    };
    (&name.type_name, title)
}

/// Describes the cycles of a graph, in Puppet's words.
fn cycles(graph: &Graph, shown: impl Fn(usize) -> String) -> Option<String> {
    let cycles = graph.cycles();
    let plural = match cycles.len() {
        0 => return None,
        1 => "",
        _ => "s",
    };
    let mut text = format!("Found {} dependency cycle{plural}:\n", cycles.len());
    for cycle in &cycles {
        let mut path: Vec<String> = cycle.iter().map(|&node| shown(node)).collect();
        path.push(path[0].clone());
        path.dedup();
        if path.len() == 1 {
            path.push(path[0].clone());
        }
        text.push_str(&format!("({})\n", path.join(" => ")));
    }
    text.push_str("remove one of these relations of each");
    Some(text)
}

/// Adds the automatic relations of resources to a graph without cycles. A relation that would close a cycle is left
/// out; the gem calls this "Skipping automatic relationship".
///
/// `resources` are the nodes that have a type, with their canonical values. Returns the omitted relations, each as a
/// pair of the earlier and the later node.
pub(super) fn automatic(
    graph: &mut Graph,
    resources: &[(usize, &dyn ResourceType, &Name, &Resource)],
) -> Vec<(usize, usize)> {
    let mut nodes = HashMap::new();
    for &(node, kind, name, _) in resources {
        let schema = kind.schema();
        nodes
            .entry((schema.name(), name.title().to_owned()))
            .or_insert(node);
        // If there is one namevar, its canonical value is a title, too.
        if let (1, Some((_, value))) = (name.namevars().len(), name.namevars().iter().next()) {
            let title = value
                .as_str()
                .map_or_else(|| value.to_json().to_string(), str::to_owned);
            nodes.entry((schema.name(), title)).or_insert(node);
        }
    }
    let mut edges = Vec::new();
    for &(node, kind, _, resource) in resources {
        for related in kind.schema().related(resource) {
            let Some(&other) = nodes.get(&(related.type_name, related.title)) else {
                continue;
            };
            let (from, to, notifies) = match related.kind {
                RelationKind::Require => (other, node, false),
                RelationKind::Subscribe => (other, node, true),
                RelationKind::Before => (node, other, false),
                RelationKind::Notify => (node, other, true),
            };
            if from != to {
                edges.push((from, to, notifies));
            }
        }
    }
    let mut all = graph.clone();
    edges
        .iter()
        .for_each(|&(from, to, notifies)| all.add(from, to, notifies));
    let component = all.components();
    let (left_out, kept): (Vec<_>, Vec<_>) = edges
        .into_iter()
        .partition(|&(from, to, _)| component[from] == component[to]);
    kept.into_iter()
        .for_each(|(from, to, notifies)| graph.add(from, to, notifies));
    left_out
        .into_iter()
        .map(|(from, to, _)| (from, to))
        .collect()
}
