//! The groups and target entries of an inventory, and the merge that makes a target of both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use indexmap::IndexMap;

use super::Problem;
use super::data::Data;
use super::lookup::Lookup;

/// A group of targets and of groups.
pub struct Group {
    /// The group's name; the outermost is `all`.
    pub name: String,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    pub(super) data: Data,
    /// The names of the targets that the group itself lists. Entries with keys come first, as in Bolt.
    pub(super) targets: Vec<String>,
}

/// All definitions of one name in the groups.
#[derive(Default)]
pub(super) struct Entry {
    /// The definitions, each with the number of its group, in the order of the groups. A list, because most targets are
    /// in one group.
    definitions: Vec<(usize, Data)>,
    pub(super) aliases: Vec<String>,
    /// The problems of the entry. With one, the target cannot be used.
    pub(super) faults: Vec<Problem>,
}

impl Entry {
    /// Returns the definition in a group.
    pub(super) fn of(&self, group: usize) -> Option<&Data> {
        let at = self
            .definitions
            .binary_search_by_key(&group, |(group, _)| *group);
        at.ok().map(|at| &self.definitions[at].1)
    }

    /// Returns all definitions.
    pub(super) fn said(&self) -> impl Iterator<Item = &Data> {
        self.definitions.iter().map(|(_, data)| data)
    }

    /// Adds the definition in a group that has none yet.
    pub(super) fn define(&mut self, group: usize, data: Data) {
        let at = self
            .definitions
            .partition_point(|(before, _)| *before < group);
        self.definitions.reserve_exact(1);
        self.definitions.insert(at, (group, data));
    }

    fn groups(&self) -> impl Iterator<Item = usize> {
        self.definitions.iter().map(|(group, _)| *group)
    }
}

/// Groups by number, in the order of the file: an outer group comes before its inner ones.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) entries: IndexMap<String, Entry>,
    /// The merged data of groups, because many targets are in the same ones.
    merged: RefCell<HashMap<Vec<usize>, Rc<Data>>>,
}

impl Tree {
    /// Returns the names of a group and of those around it, outermost first.
    pub(super) fn path(&self, group: usize) -> Vec<String> {
        let mut path: Vec<_> = self
            .lineage(group)
            .map(|at| self.groups[at].name.clone())
            .collect();
        path.reverse();
        path
    }

    /// Returns the group and those around it, innermost first.
    fn lineage(&self, group: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(group), |at| self.groups[*at].parent)
    }

    /// Returns the names of all targets of a group: its own, then those of its groups.
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

    /// Returns the groups that a target is in, and those around them. A target without an entry is in `all`.
    fn relevant(&self, entry: Option<&Entry>) -> Vec<usize> {
        let groups = entry.into_iter().flat_map(Entry::groups);
        let relevant: BTreeSet<usize> = groups
            .flat_map(|group| self.lineage(group))
            .chain([0])
            .collect();
        relevant.into_iter().collect()
    }

    /// Merges the data of a target's groups (Bolt: `group_collect`). An inner group beats its outer one, and the first
    /// of siblings beats the others.
    pub(super) fn groups_say(&self, entry: Option<&Entry>, lookup: &mut Lookup<'_>) -> Rc<Data> {
        let relevant = self.relevant(entry);
        if let Some(merged) = self.merged.borrow().get(&relevant) {
            return Rc::clone(merged);
        }
        let was_complete = lookup.is_complete();
        let children = self.children(&relevant);
        let own = |group: usize| Some(&self.groups[group].data);
        let data = Rc::new(merge(0, &children, &own, lookup).unwrap_or_default());
        if was_complete && lookup.is_complete() {
            self.merged.borrow_mut().insert(relevant, Rc::clone(&data));
        }
        data
    }

    /// Merges the data of a target's entries in the same way (Bolt: `target_collect`). They beat every group.
    pub(super) fn entries_say(&self, entry: &Entry, lookup: &mut Lookup<'_>) -> Data {
        if let [(_, data)] = entry.definitions.as_slice() {
            return data.clone();
        }
        let children = self.children(&self.relevant(Some(entry)));
        merge(0, &children, &|group| entry.of(group), lookup).unwrap_or_default()
    }

    /// Returns the inner groups of each of some groups, in order, and only those among them.
    fn children(&self, relevant: &[usize]) -> BTreeMap<usize, Vec<usize>> {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for group in relevant {
            if let Some(parent) = self.groups[*group].parent {
                children.entry(parent).or_default().push(*group);
            }
        }
        children
    }

    /// Returns the names of all groups that a target is in, the strongest first: an inner group before its outer one,
    /// and siblings in the order of the file.
    pub(super) fn groups_of(&self, entry: Option<&Entry>) -> Vec<&str> {
        let (mut around, mut groups) = (Vec::new(), Vec::new());
        for group in self.relevant(entry) {
            let parent = self.groups[group].parent;
            while let Some(done) = around.pop_if(|last| Some(*last) != parent) {
                groups.push(done);
            }
            around.push(group);
        }
        groups.extend(around.into_iter().rev());
        let name = |group: usize| self.groups[group].name.as_str();
        groups.into_iter().map(name).collect()
    }
}

fn merge<'t>(
    group: usize,
    children: &BTreeMap<usize, Vec<usize>>,
    own: &impl Fn(usize) -> Option<&'t Data>,
    lookup: &mut Lookup<'_>,
) -> Option<Data> {
    let mut inner: Option<Data> = None;
    for child in children.get(&group).into_iter().flatten() {
        let Some(mut later) = merge(*child, children, own, lookup) else {
            continue;
        };
        if let Some(first) = &inner {
            later.overlay(first, lookup);
        }
        inner = Some(later);
    }
    match (own(group), inner) {
        (Some(own), Some(inner)) => {
            let mut data = own.clone();
            data.overlay(&inner, lookup);
            Some(data)
        }
        (Some(own), None) => Some(own.clone()),
        (None, inner) => inner,
    }
}
