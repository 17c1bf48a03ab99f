//! The catalog: the desired resources, as every reader of manifests returns them, unchecked.
//!
//! It corresponds to Puppet's compiled catalog: resources, their containers, and relations between both. Types are in
//! lower case here, titles as they were written.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_schemas::{Hash, Level, ResourceProblem};

use super::metaparameters;

/// The declarations of a manifest or a compiled catalog.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    /// The resources, in the order of the source.
    pub resources: Vec<DeclaredResource>,
    /// The containers of resources: stages, classes, and instances of defined types.
    pub(crate) containers: Vec<Container>,
    /// The relations.
    pub(crate) relations: Vec<Relation>,
    /// The resources of hosts, which are ignored.
    pub(crate) left_out: Vec<Ref>,
    /// Types that are named without a resource. They are checked for misspellings, too.
    pub named: Vec<(String, SourceLocation)>,
}

/// A declared resource. `resources { TYPE: purge => true }` is one, too.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredResource {
    /// The type and title.
    pub name: Ref,
    /// The attributes, without metaparameters.
    pub attributes: Hash,
    /// The metaparameters that concern the resource itself.
    pub meta: Meta,
    /// The problems of the metaparameters.
    pub problems: Vec<ResourceProblem>,
    /// Declarations that are probably not what was meant.
    pub(crate) warnings: Vec<ResourceProblem>,
    /// The position of the declaration.
    pub location: SourceLocation,
    /// The positions of the attributes and metaparameters, as far as they are known.
    pub attribute_locations: AttributeLocations,
    /// The container: an index into [`Catalog::containers`].
    pub container: Option<usize>,
}

/// The positions of attributes, by name.
pub(crate) type AttributeLocations = HashMap<String, SourceLocation>;

/// A container of resources: `Class[routing]`. Whatever comes before it comes before all its resources.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    /// The type and title.
    pub name: Ref,
    /// The outer container. Containers follow those that they are in.
    pub container: Option<usize>,
    /// The metaparameters that are inherited: `noop` and tags.
    pub meta: Meta,
}

/// The metaparameters of a resource that concern only itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    /// Whether changes are only reported. Without it, the container's value applies.
    pub noop: Option<bool>,
    /// The resource's own tags.
    pub tags: BTreeSet<String>,
    /// The audited attributes.
    pub(crate) audit: Audit,
    /// Further titles by which relations may name the resource.
    pub(crate) aliases: Vec<String>,
    /// The level at which changes are reported.
    pub(crate) loglevel: Option<Level>,
}

/// The attributes of a resource that are audited, whatever changes them.
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

/// A reference, which consists of a type and a title: `Frr_interface[swp1]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ref {
    /// The type, in lower case.
    pub type_name: String,
    /// The title, as written.
    pub title: String,
}

/// A relation: one resource or container comes before another.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    /// The earlier one.
    pub from: Ref,
    /// The later one, which is skipped if the earlier one fails.
    pub to: Ref,
    /// Whether a change of the earlier one notifies the later one.
    pub(crate) notifies: bool,
    /// The position of the relation.
    pub location: SourceLocation,
}

/// A position in a source: `site.yaml:3:5`. A line or a column of 0 is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Catalog {
    /// Creates an empty catalog of a manifest, whose resources are in `Class[main]` in `Stage[main]`, as Puppet
    /// compiles it. Returns the index of that class, too.
    pub(crate) fn of_manifest() -> (Self, usize) {
        let main = |kind, container| Container {
            name: Ref::new(kind, "main"),
            container,
            meta: Meta::default(),
        };
        let catalog = Self {
            containers: vec![main("stage", None), main("class", Some(0))],
            ..Self::default()
        };
        (catalog, 1)
    }

    /// Creates a resource from its attributes, which include metaparameters. Metaparameters that name other resources
    /// become relations. The caller assigns the resource to a container and adds it.
    pub(crate) fn declared(
        &mut self,
        name: Ref,
        mut attributes: Hash,
        location: SourceLocation,
        container: Option<usize>,
    ) -> DeclaredResource {
        let warnings = metaparameters::warnings(&attributes, &name);
        let mut problems = Vec::new();
        let (meta, relations) =
            metaparameters::take(&mut attributes, &name, &location, &mut problems);
        self.relations.extend(relations);
        DeclaredResource {
            name,
            attributes,
            meta,
            problems,
            warnings,
            location,
            attribute_locations: AttributeLocations::new(),
            container,
        }
    }
}

impl DeclaredResource {
    /// Returns the message of a problem, with its position in front.
    pub(crate) fn describe(&self, problem: &ResourceProblem) -> String {
        let location = problem.attribute.as_ref();
        let location = location.and_then(|attribute| self.attribute_locations.get(attribute));
        let location = location.unwrap_or(&self.location);
        format!("{location}: {}: {}", self.name, problem.message)
    }
}

impl Ref {
    /// Creates a reference from a type, in any case, and a title.
    pub(crate) fn new(type_name: &str, title: impl Into<String>) -> Self {
        Self {
            type_name: type_name.to_lowercase(),
            title: title.into(),
        }
    }

    /// Parses a reference as Puppet writes it: `Type[title]`.
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

/// Writes a type or a class as in references: each segment with a capital.
pub(super) fn capitalised(name: &str) -> String {
    let segments = name.split("::").map(|segment| {
        let mut letters = segment.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    segments.collect::<Vec<_>>().join("::")
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let numbers = [self.line, self.column].into_iter();
        let mut numbers = numbers.take_while(|&number| number > 0);
        numbers.try_for_each(|number| write!(f, ":{number}"))
    }
}

/// Returns the failure of an invalid manifest or catalog, with one sentence for each problem.
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
        for invalid in ["swp1", "[swp1]", "a b[c]", "A[]", "A::[x]", "1a[x]"] {
            assert_eq!(shown(invalid), None, "{invalid}");
        }
    }
}
