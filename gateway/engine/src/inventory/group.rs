//! The groups and target entries of an inventory, and the merge that makes a target of both.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use devgate_schemas::yaml::Mapping;
use indexmap::IndexMap;

use super::InventoryProblem;
use super::data::TargetData;
use super::lookup::Lookup;
use super::uri::Uri;

/// A group of targets and of groups.
pub struct Group {
    /// The group's name; the outermost is `all`.
    pub name: String,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
    pub(super) data: TargetData,
    /// The numbers of the entries of the targets that the group itself lists. Entries with keys come first, as in Bolt.
    pub(super) targets: Vec<usize>,
}

/// What one group says about a target, as it is written. Most targets of a large inventory are not selected, and their
/// data are never needed.
#[derive(Default)]
pub(super) struct Definition {
    /// The text of a valid URI.
    pub(super) uri: Option<Box<str>>,
    /// The data keys.
    pub(super) mapping: Mapping,
}

impl Definition {
    fn data(&self) -> TargetData {
        let uri = self.uri.as_deref().and_then(|uri| Uri::parse(uri).ok());
        TargetData {
            uri: uri.map(Box::new),
            ..TargetData::of(&self.mapping)
        }
    }
}

/// All definitions of one name in the groups.
#[derive(Default)]
pub(super) struct TargetEntry {
    /// The definitions, each with the number of its group, in the order of the groups. A list, because most targets are
    /// in one group.
    definitions: Vec<(usize, Definition)>,
    /// The numbers of the aliases.
    pub(super) aliases: Vec<usize>,
    /// The problems of the entry. With one, the target cannot be used.
    pub(super) faults: Vec<InventoryProblem>,
}

impl TargetEntry {
    /// Returns the definition in a group.
    pub(super) fn in_group(&self, group: usize) -> Option<&Definition> {
        let index = self
            .definitions
            .binary_search_by_key(&group, |(group, _)| *group);
        index.ok().map(|index| &self.definitions[index].1)
    }

    /// Returns all definitions.
    pub(super) fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().map(|(_, definition)| definition)
    }

    fn groups(&self) -> impl Iterator<Item = usize> {
        self.definitions.iter().map(|(group, _)| *group)
    }
}

/// Groups by number, in the order of the file: an outer group comes before its inner ones.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    pub(super) entries: IndexMap<String, TargetEntry>,
    /// The merged data of groups, because many targets are in the same ones.
    merged: RefCell<HashMap<Vec<usize>, Rc<TargetData>>>,
}

impl Tree {
    /// Returns the number of the entry with this name, which is added if it is new.
    pub(super) fn entry(&mut self, name: String) -> usize {
        let entry = self.entries.entry(name);
        let index = entry.index();
        entry.or_default();
        index
    }

    /// Adds the definition of a target in a group that has none yet.
    pub(super) fn define(&mut self, entry: usize, group: usize, definition: Definition) {
        let definitions = &mut self.entries[entry].definitions;
        let index = definitions.partition_point(|(before, _)| *before < group);
        definitions.reserve_exact(1);
        definitions.insert(index, (group, definition));
        self.groups[group].targets.push(entry);
    }

    /// Returns the name of an entry.
    pub(super) fn name(&self, entry: usize) -> &str {
        let (name, _) = self.entries.get_index(entry).expect("entries stay");
        name
    }

    /// Returns the names of a group and of those around it, outermost first.
    pub(super) fn path(&self, group: usize) -> Vec<String> {
        let mut path: Vec<_> = self
            .lineage(group)
            .map(|index| self.groups[index].name.clone())
            .collect();
        path.reverse();
        path
    }

    /// Returns the group and those around it, innermost first.
    fn lineage(&self, group: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(group), |index| self.groups[*index].parent)
    }

    /// Returns the names of all targets of a group: its own, then those of its groups.
    pub(super) fn members(&self, group: usize) -> Vec<&str> {
        let targets = self.groups[group].targets.iter();
        let mut names: Vec<_> = targets.map(|entry| self.name(*entry)).collect();
        for child in &self.groups[group].children {
            names.extend(self.members(*child));
        }
        names
    }

    /// Returns the groups that a target is in, and those around them. A target without an entry is in `all`.
    fn relevant(&self, entry: Option<&TargetEntry>) -> Vec<usize> {
        let groups = entry.into_iter().flat_map(TargetEntry::groups);
        let relevant: BTreeSet<usize> = groups
            .flat_map(|group| self.lineage(group))
            .chain([0])
            .collect();
        relevant.into_iter().collect()
    }

    /// Merges the data of a target's groups (Bolt: `group_collect`). An inner group beats its outer one, and the first
    /// of siblings beats the others.
    pub(super) fn merged_group_data(
        &self,
        entry: Option<&TargetEntry>,
        lookup: &mut Lookup<'_>,
    ) -> Rc<TargetData> {
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
    pub(super) fn merged_entry_data(
        &self,
        entry: &TargetEntry,
        lookup: &mut Lookup<'_>,
    ) -> TargetData {
        if let [(_, definition)] = entry.definitions.as_slice() {
            return definition.data();
        }
        let children = self.children(&self.relevant(Some(entry)));
        let data = entry.definitions.iter();
        let data: HashMap<usize, TargetData> = data
            .map(|(group, definition)| (*group, definition.data()))
            .collect();
        merge(0, &children, &|group| data.get(&group), lookup).unwrap_or_default()
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
    pub(super) fn groups_of(&self, entry: Option<&TargetEntry>) -> Vec<&str> {
        let (mut open_groups, mut groups) = (Vec::new(), Vec::new());
        for group in self.relevant(entry) {
            let parent = self.groups[group].parent;
            while let Some(finished) = open_groups.pop_if(|last| Some(*last) != parent) {
                groups.push(finished);
            }
            open_groups.push(group);
        }
        groups.extend(open_groups.into_iter().rev());
        let name = |group: usize| self.groups[group].name.as_str();
        groups.into_iter().map(name).collect()
    }
}

fn merge<'t>(
    group: usize,
    children: &BTreeMap<usize, Vec<usize>>,
    own: &impl Fn(usize) -> Option<&'t TargetData>,
    lookup: &mut Lookup<'_>,
) -> Option<TargetData> {
    let mut inner: Option<TargetData> = None;
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
