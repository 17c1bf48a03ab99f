//! Merges the rows that the sources of a type give for one name.

use devgate_schemas::{Resource, Value};

use super::definition::Definition;

/// The rows of one name: one resource, or several that the type cannot distinguish.
pub(super) struct MergedRows {
    /// The rows of all sources, merged.
    merged: Resource,
    /// The rows of the current source, if it is not the first.
    current: Option<Resource>,
    /// The number of the current source.
    source: usize,
    /// Rows of other resources with the same name.
    unmerged: Vec<Resource>,
}

impl MergedRows {
    pub(super) fn new(source: usize, row: Resource) -> Self {
        Self {
            merged: row,
            current: None,
            source,
            unmerged: Vec::new(),
        }
    }

    /// Adds a row of a source. A row that contradicts an earlier row of the same source, or adds nothing to
    /// it, is another resource. Lists that are collected contradict nothing.
    pub(super) fn add(&mut self, definition: &Definition, source: usize, mut row: Resource) {
        if self.source != source {
            self.source = source;
            self.current = Some(Resource::new());
        }
        let current = self.current.as_ref().unwrap_or(&self.merged);
        let is_property = |name: &str| {
            let is_namevar = definition
                .schema
                .namevars()
                .iter()
                .any(|namevar| namevar == name);
            !is_namevar && name != "title" && name != "ensure"
        };
        let mut is_new = false;
        for name in &definition.collect {
            is_new |= row.get(name).is_some();
            if let (Some(Value::Array(before)), Some(Value::Array(items))) =
                (current.get(name), row.get(name))
            {
                let mut all = before.clone();
                all.extend(items.iter().filter(|item| !before.contains(item)).cloned());
                row.set(name, Value::Array(all));
            }
        }
        let (mut is_bare, mut is_other) = (true, false);
        for (name, value) in row.iter().filter(|(name, _)| is_property(name)) {
            is_bare = false;
            match current.get(name) {
                None => is_new = true,
                Some(_) if definition.collect.iter().any(|collected| collected == name) => {}
                Some(before) => is_other |= before != value,
            }
        }
        if is_other || !(is_new || is_bare) {
            self.unmerged.push(row);
            return;
        }
        for (name, value) in row.iter() {
            self.merged.set(name, value.clone());
            if let Some(current) = &mut self.current {
                current.set(name, value.clone());
            }
        }
    }

    /// All resources of this name.
    pub(super) fn all(self) -> impl Iterator<Item = Resource> {
        std::iter::once(self.merged).chain(self.unmerged)
    }
}
