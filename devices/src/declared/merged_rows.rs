//! What the sources of a type say of one name.

use devgate_schemas::{Resource, TypeSchema};

/// What is said under one name: one resource, or several that the type cannot tell apart.
pub(super) struct MergedRows {
    /// What all sources say, put together.
    merged: Resource,
    /// What the source that speaks now has said of it, where others have spoken before.
    current: Option<Resource>,
    /// The source that speaks.
    source: usize,
    /// Rows of other things of the same name.
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

    /// Adds what a row of a source says. A row that says an attribute otherwise than one before it in
    /// the same source, or nothing that is new, is of another thing.
    pub(super) fn add(&mut self, schema: &TypeSchema, source: usize, row: Resource) {
        if self.source != source {
            self.source = source;
            self.current = Some(Resource::new());
        }
        let current = self.current.as_ref().unwrap_or(&self.merged);
        let is_property = |name: &str| {
            let is_namevar = schema.namevars().iter().any(|namevar| namevar == name);
            !is_namevar && name != "title" && name != "ensure"
        };
        let (mut is_new, mut is_bare, mut is_other) = (false, true, false);
        for (name, value) in row.iter().filter(|(name, _)| is_property(name)) {
            is_bare = false;
            match current.get(name) {
                None => is_new = true,
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

    /// Everything that has this name.
    pub(super) fn all(self) -> impl Iterator<Item = Resource> {
        std::iter::once(self.merged).chain(self.unmerged)
    }
}
