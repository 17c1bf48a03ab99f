//! A configuration: its statements, each under the path of what it sets.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The statements of a configuration. The path of a statement names what it sets, without the value if there can be
/// only one: `[interface Ethernet1, mtu]` is `mtu 9000`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statements(BTreeMap<Vec<String>, String>);

/// What a line of configuration does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Sets a statement.
    Set(Vec<String>, String),
    /// Removes everything below a path.
    Delete(Vec<String>),
}

impl Statements {
    /// Makes a change, and returns whether it changes anything.
    pub(super) fn apply(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Set(path, text) => match self.0.entry(path) {
                Entry::Occupied(mut old) if *old.get() != text => {
                    old.insert(text);
                    true
                }
                Entry::Occupied(_) => false,
                Entry::Vacant(free) => {
                    free.insert(text);
                    true
                }
            },
            Edit::Delete(path) => {
                let before = self.0.len();
                self.0.retain(|one, _| !one.starts_with(&path));
                self.0.len() < before
            }
        }
    }

    /// Returns the statements with their paths, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[String], &str)> {
        self.0.iter().map(|(path, text)| (&**path, &**text))
    }

    /// Returns all texts, in order, with the paths around them.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |(path, text): (&[String], &str)| {
            let around = &path[..path.len().saturating_sub(1)];
            let words = around.iter().map(String::as_str);
            words.chain([text]).collect::<Vec<_>>().join(" / ")
        };
        self.iter().map(line).collect()
    }

    /// Returns what makes `other` of this configuration: for each path the text before and after.
    pub(super) fn difference<'s>(
        &'s self,
        other: &'s Self,
    ) -> Vec<(&'s [String], Option<&'s str>, Option<&'s str>)> {
        let mut paths: Vec<&Vec<String>> = self.0.keys().chain(other.0.keys()).collect();
        paths.sort();
        paths.dedup();
        let text = |of: &'s Self, path: &Vec<String>| of.0.get(path).map(String::as_str);
        let both = paths
            .into_iter()
            .map(|path| (&**path, text(self, path), text(other, path)));
        both.filter(|(_, before, after)| before != after).collect()
    }

    /// Makes the changes that lead from `base` to `edited`, and leaves everything else as it is.
    pub(super) fn merge(&mut self, base: &Self, edited: &Self) {
        for (path, _, after) in base.difference(edited) {
            match after {
                Some(text) => {
                    self.0.insert(path.to_vec(), text.to_owned());
                }
                None => {
                    self.0.remove(path);
                }
            }
        }
    }
}
