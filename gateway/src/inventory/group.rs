//! Groups and target entries as an inventory holds them, with the merge that makes one target of both.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::data::Data;

/// A group of targets, and of groups.
pub(crate) struct Group {
    /// The group's name; the outermost is `all`.
    pub name: String,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    pub(super) data: Data,
    /// The names of the targets that the group itself lists: entries with keys first, as in Bolt.
    pub(super) targets: Vec<String>,
}

/// All that the groups say of one name.
#[derive(Default)]
pub(super) struct Entry {
    /// By the number of the group that says it.
    pub(super) definitions: BTreeMap<usize, Data>,
    pub(super) aliases: Vec<String>,
}

/// Groups by number, in the order in which they were written: an outer before its inner ones.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) entries: IndexMap<String, Entry>,
}

impl Tree {
    /// The names of a group from the outermost inwards.
    pub(super) fn path(&self, group: usize) -> Vec<String> {
        let mut path: Vec<_> = self
            .lineage(group)
            .map(|at| self.groups[at].name.clone())
            .collect();
        path.reverse();
        path
    }

    /// The group and those around it, innermost first.
    fn lineage(&self, group: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(group), |at| self.groups[*at].parent)
    }

    /// The names of all targets of a group: its own, then those of its groups.
    pub(super) fn members(&self, group: usize) -> Vec<&str> {
        let mut names: Vec<_> = self.groups[group]
            .targets
            .iter()
            .map(String::as_str)
            .collect();
        for child in &self.groups[group].children {
            names.extend(self.members(*child));
        }
        names
    }

    /// What is said of a target, all groups and entries merged (Bolt: `group_collect` and
    /// `target_collect`): an inner group beats its outer, the first of siblings beats the others,
    /// and what an entry says beats every group.
    ///
    /// A target without an entry belongs to `all`.
    pub(super) fn collect(&self, entry: Option<&Entry>) -> Data {
        let none = BTreeMap::new();
        let definitions = entry.map_or(&none, |entry| &entry.definitions);
        let relevant: BTreeSet<usize> = definitions
            .keys()
            .flat_map(|group| self.lineage(*group))
            .chain([0])
            .collect();
        // Children of each relevant group in order; only relevant ones, however many there are.
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for group in &relevant {
            if let Some(parent) = self.groups[*group].parent {
                children.entry(parent).or_default().push(*group);
            }
        }
        let mut data =
            merge(0, &children, &|group| Some(&self.groups[group].data)).unwrap_or_default();
        if let Some(own) = merge(0, &children, &|group| definitions.get(&group)) {
            data.overlay(&own);
        }
        data
    }

    /// The names of all groups that a target is in, innermost first.
    pub(super) fn groups_of(&self, entry: Option<&Entry>) -> Vec<&str> {
        let Some(entry) = entry else {
            return vec![&self.groups[0].name];
        };
        let relevant: BTreeSet<usize> = entry
            .definitions
            .keys()
            .flat_map(|group| self.lineage(*group))
            .collect();
        relevant
            .into_iter()
            .rev()
            .map(|group| self.groups[group].name.as_str())
            .collect()
    }
}

fn merge<'t>(
    group: usize,
    children: &BTreeMap<usize, Vec<usize>>,
    own: &impl Fn(usize) -> Option<&'t Data>,
) -> Option<Data> {
    let inner = children
        .get(&group)
        .into_iter()
        .flatten()
        .filter_map(|child| merge(*child, children, own))
        .reduce(|first, mut later| {
            later.overlay(&first);
            later
        });
    match (own(group), inner) {
        (Some(own), Some(inner)) => {
            let mut data = own.clone();
            data.overlay(&inner);
            Some(data)
        }
        (Some(own), None) => Some(own.clone()),
        (None, inner) => inner,
    }
}
