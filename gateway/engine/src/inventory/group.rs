//! Groups and target entries as an inventory holds them, with the merge that makes one target of both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use indexmap::IndexMap;

use super::Problem;
use super::data::Data;
use super::lookup::Lookup;

/// A group of targets, and of groups.
pub struct Group {
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
    /// With the number of the group that says it, in the order of the groups. A list, because most
    /// targets are in one group.
    definitions: Vec<(usize, Data)>,
    pub(super) aliases: Vec<String>,
    /// What is wrong with it: it cannot be used, and says why.
    pub(super) faults: Vec<Problem>,
}

impl Entry {
    /// What a group says of it.
    pub(super) fn of(&self, group: usize) -> Option<&Data> {
        let at = self
            .definitions
            .binary_search_by_key(&group, |(group, _)| *group);
        at.ok().map(|at| &self.definitions[at].1)
    }

    /// Everything that is said of it.
    pub(super) fn said(&self) -> impl Iterator<Item = &Data> {
        self.definitions.iter().map(|(_, data)| data)
    }

    /// Adds what a group says of it that has said nothing yet.
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

/// Groups by number, in the order in which they were written: an outer before its inner ones.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) entries: IndexMap<String, Entry>,
    /// What groups say together: many targets are in the same ones.
    merged: RefCell<HashMap<Vec<usize>, Rc<Data>>>,
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

    /// The groups that a target is in, and those around them. A target without an entry is in `all`.
    fn relevant(&self, entry: Option<&Entry>) -> Vec<usize> {
        let groups = entry.into_iter().flat_map(Entry::groups);
        let relevant: BTreeSet<usize> = groups
            .flat_map(|group| self.lineage(group))
            .chain([0])
            .collect();
        relevant.into_iter().collect()
    }

    /// What the groups say of a target, merged (Bolt: `group_collect`): an inner group beats its
    /// outer, the first of siblings beats the others.
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

    /// What entries say of a target, merged in the same way (Bolt: `target_collect`): it beats every
    /// group.
    pub(super) fn entries_say(&self, entry: &Entry, lookup: &mut Lookup<'_>) -> Data {
        if let [(_, data)] = entry.definitions.as_slice() {
            return data.clone();
        }
        let children = self.children(&self.relevant(Some(entry)));
        merge(0, &children, &|group| entry.of(group), lookup).unwrap_or_default()
    }

    /// The inner groups of each of some groups, in order; only those among them, however many there are.
    fn children(&self, relevant: &[usize]) -> BTreeMap<usize, Vec<usize>> {
        let mut children: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for group in relevant {
            if let Some(parent) = self.groups[*group].parent {
                children.entry(parent).or_default().push(*group);
            }
        }
        children
    }

    /// The names of all groups that a target is in: what beats stands first, so an inner group before
    /// its outer, and siblings as they were written.
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
