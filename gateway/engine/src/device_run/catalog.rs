//! The catalog: what a device is to hold, as every reader of manifests gives it, not yet checked.
//!
//! It is what Puppet compiles manifests to: resources, what contains them, and relations between
//! both. Types are written in lower case here, titles as they were written.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use devgate_schemas::{Hash, Level, ResourceProblem};

use super::metaparameters;
use devgate_core::failure::Failure;

/// What a manifest or a compiled catalog declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// The resources, in the order in which they were written.
    pub resources: Vec<Declared>,
    /// What resources are in: stages, classes, and whatever a defined type has made.
    pub(crate) containers: Vec<Container>,
    /// What comes before what.
    pub(crate) relations: Vec<Relation>,
    /// The resources of hosts, about which nothing is done.
    pub(crate) left_out: Vec<Ref>,
    /// Types that are named, with no resource of theirs: they may be misspelt all the same.
    pub named: Vec<(String, Place)>,
}

/// One resource as it was declared. `resources { TYPE: purge => true }` is one, too.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// Its type and title.
    pub name: Ref,
    /// Its attributes, without metaparameters.
    pub attributes: Hash,
    /// What its metaparameters say of itself.
    pub meta: Meta,
    /// What is wrong with its metaparameters.
    pub wrong: Vec<ResourceProblem>,
    /// What may be meant otherwise than it is said.
    pub(crate) doubts: Vec<ResourceProblem>,
    /// Where it stands.
    pub place: Place,
    /// Where each of its attributes stands, metaparameters too, as far as that is known.
    pub places: Places,
    /// What it is in: an index into [`Catalog::containers`].
    pub within: Option<usize>,
}

/// Where attributes stand, by their names.
pub(crate) type Places = HashMap<String, Place>;

/// Something that resources are in: `Class[routing]`. What comes before it comes before all of them.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    /// Its type and title.
    pub name: Ref,
    /// What it is in itself; containers stand behind those that they are in.
    pub within: Option<usize>,
    /// What it hands down: `noop` and tags.
    pub meta: Meta,
}

/// What the metaparameters of a resource say of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// Whether changes are only told; without it the container's word holds.
    pub noop: Option<bool>,
    /// Its own tags.
    pub tags: BTreeSet<String>,
    /// What is watched, whoever changes it.
    pub(crate) audit: Audit,
    /// Other titles by which relations may name it.
    pub(crate) aliases: Vec<String>,
    /// The level at which its changes are told.
    pub(crate) loglevel: Option<Level>,
}

/// Which attributes of a resource are watched, whoever changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Audit {
    /// None.
    #[default]
    Nothing,
    /// All properties.
    All,
    /// These.
    Only(Vec<String>),
}

/// A type and a title: `Frr_interface[swp1]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ref {
    /// The type, in lower case.
    pub type_name: String,
    /// The title, as written.
    pub title: String,
}

/// That one resource or container comes before another.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// What comes first.
    pub from: Ref,
    /// What comes after it, and is skipped where it fails.
    pub to: Ref,
    /// Whether a change of the first is told to the second.
    pub(crate) notifies: bool,
    /// Where it was said.
    pub place: Place,
}

/// Where something was written: `site.yaml:3:5`. A line or a column of 0 is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Catalog {
    /// An empty catalog of a manifest, whose resources are in `Class[main]` in `Stage[main]`, as
    /// Puppet compiles it; also the index of that class.
    pub(crate) fn of_manifest() -> (Self, usize) {
        let main = |kind, within| Container {
            name: Ref::new(kind, "main"),
            within,
            meta: Meta::default(),
        };
        let catalog = Self {
            containers: vec![main("stage", None), main("class", Some(0))],
            ..Self::default()
        };
        (catalog, 1)
    }

    /// A resource as it was written, its metaparameters among its attributes. What they say of others
    /// becomes relations here; where the resource belongs is the caller's to know.
    pub(crate) fn declared(
        &mut self,
        name: Ref,
        mut attributes: Hash,
        place: Place,
        within: Option<usize>,
    ) -> Declared {
        let doubts = metaparameters::doubts(&attributes, &name);
        let mut wrong = Vec::new();
        let (meta, relations) = metaparameters::take(&mut attributes, &name, &place, &mut wrong);
        self.relations.extend(relations);
        Declared {
            name,
            attributes,
            meta,
            wrong,
            doubts,
            place,
            places: Places::new(),
            within,
        }
    }
}

impl Declared {
    /// What is wrong with it, behind the place of what is wrong.
    pub(crate) fn told(&self, wrong: &ResourceProblem) -> String {
        let place = wrong.attribute.as_ref();
        let place = place.and_then(|attribute| self.places.get(attribute));
        let place = place.unwrap_or(&self.place);
        format!("{place}: {}: {}", self.name, wrong.message)
    }
}

impl Ref {
    /// A type, in any case, and a title.
    pub(crate) fn new(type_name: &str, title: impl Into<String>) -> Self {
        Self {
            type_name: type_name.to_lowercase(),
            title: title.into(),
        }
    }

    /// A reference as Puppet writes it: `Type[title]`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (type_name, title) = text.trim().strip_suffix(']')?.split_once('[')?;
        let segments = type_name.strip_prefix("::").unwrap_or(type_name);
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_alphabetic())
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let well = segments.split("::").all(is_word) && !title.is_empty();
        well.then(|| Self::new(segments, title))
    }
}

impl fmt::Display for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", capitalised(&self.type_name), self.title)
    }
}

/// A type or a class as Puppet refers to it: each segment with a capital.
pub(super) fn capitalised(name: &str) -> String {
    let segments = name.split("::").map(|segment| {
        let mut letters = segment.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    segments.collect::<Vec<_>>().join("::")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let numbers = [self.line, self.column].into_iter();
        let mut known = numbers.take_while(|&number| number > 0);
        known.try_for_each(|number| write!(f, ":{number}"))
    }
}

/// Everything that is wrong with a manifest or a catalog, a sentence each.
pub fn invalid(problems: &[String]) -> Failure {
    Failure::new("devgate/invalid-manifest", problems.join("\n")).with("problems", problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_in_any_case_and_shown_as_puppet_writes_them() {
        let shown = |text| Ref::parse(text).map(|read| read.to_string());
        assert_eq!(
            ["frr_interface[swp1]", "a::b_c[x[1]]", "::Class[main]"].map(shown),
            ["Frr_interface[swp1]", "A::B_c[x[1]]", "Class[main]"]
                .map(|text| Some(text.to_owned()))
        );
        for wrong in ["swp1", "[swp1]", "a b[c]", "A[]", "A::[x]", "1a[x]"] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
