//! The plan: a catalog that was checked against the types of a family, before a device is contacted.

use std::collections::BTreeSet;

use devgate_core::failure::Failure;
use devgate_devices::{Error, ResourceType};
use devgate_schemas::{Feature, Level, Name, Resource, ResourceProblem, Value};
use indexmap::IndexMap;

use super::catalog::{Audit, Catalog, DeclaredResource, Ref, SourceLocation, capitalised, invalid};
use super::graph::Graph;
use super::relate::Relations;
use super::tags;

/// The type whose resources determine what happens to undeclared ones (Puppet's `resources`).
const RESOURCES: &str = "resources";

/// The work on every device of a family, and its order.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'r> {
    /// The types of the resources.
    pub(crate) kinds: Vec<&'r dyn ResourceType>,
    /// The resources, in the order of the catalog.
    pub(super) nodes: Vec<Node>,
    /// The order: the nodes of the resources, followed by those of containers.
    pub(super) graph: Graph,
}

/// One resource of a plan.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) shown: Ref,
    pub(super) location: SourceLocation,
    /// The names of the containers from the outermost inwards, and of the resource itself.
    pub(super) path: Vec<String>,
    pub(super) tags: BTreeSet<String>,
    /// Whether changes are only reported, if this is specified.
    pub(super) noop: Option<bool>,
    pub(super) audit: Audit,
    /// The level at which changes are reported.
    pub(super) level: Level,
    pub(super) work: Work,
}

/// The work for a resource of a plan. Kinds are indexes into [`Plan::kinds`].
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Brings the resource to the desired state.
    Ensure {
        kind: usize,
        name: Name,
        should: Resource,
    },
    /// Removes the undeclared resources of a type.
    Purge { kind: usize },
    /// Nothing.
    Nothing,
}

impl Plan<'_> {
    /// Whether a resource is audited.
    pub(crate) fn audits(&self) -> bool {
        self.nodes.iter().any(|node| node.audit != Audit::Nothing)
    }

    /// Returns the tags of all resources.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        let tags = self.nodes.iter().flat_map(|node| &node.tags);
        tags.map(String::as_str)
    }
}

impl Node {
    /// Whether the node is a resource of this type.
    pub(super) fn ensures(&self, of: usize) -> bool {
        matches!(self.work, Work::Ensure { kind, .. } if kind == of)
    }

    /// Whether the node is a resource of this type, or purges it.
    pub(super) fn concerns(&self, of: usize) -> bool {
        self.ensures(of) || matches!(self.work, Work::Purge { kind } if kind == of)
    }
}

impl Catalog {
    /// Checks the catalog for devices whose types are found by `find`, and returns its plan.
    ///
    /// # Errors
    /// Fails with all problems of the catalog, each with file, line and column.
    pub(crate) fn plan<'r>(
        &self,
        find: impl Fn(&str) -> Result<&'r dyn ResourceType, Failure>,
    ) -> Result<Plan<'r>, Failure> {
        let mut planner = Planner {
            find: &find,
            kinds: IndexMap::new(),
            problems: Vec::new(),
        };
        let works: Vec<Option<Work>> = self
            .resources
            .iter()
            .map(|declared| planner.work(declared))
            .collect();
        let mut problems = planner.problems;
        for (type_name, location) in self.named.iter().filter(|(name, _)| name != RESOURCES) {
            if let Err(problem) = find(type_name) {
                problems.push(format!("{location}: {problem}"));
            }
        }
        let kinds: Vec<&dyn ResourceType> = planner.kinds.into_values().collect();
        let relations = Relations::of(self, &works, &kinds);
        problems.extend(relations.duplicates());
        let graph = relations.graph(&mut problems);
        if !problems.is_empty() {
            return Err(invalid(&problems));
        }
        let works = works.into_iter().flatten();
        let nodes = self.resources.iter().zip(works);
        Ok(Plan {
            kinds,
            nodes: nodes
                .map(|(declared, work)| self.node(declared, work))
                .collect(),
            graph,
        })
    }

    fn node(&self, declared: &DeclaredResource, work: Work) -> Node {
        let DeclaredResource {
            name,
            meta,
            location,
            ..
        } = declared;
        let mut tags = meta.tags.clone();
        tags::add(&mut tags, &name.type_name);
        tags::add(&mut tags, &name.title);
        let (mut noop, mut path) = (meta.noop, vec![name.to_string()]);
        let mut next = declared.container;
        while let Some(container) = next.map(|index| &self.containers[index]) {
            path.push(match container.name.type_name.as_str() {
                "class" => capitalised(&container.name.title),
                _ => container.name.to_string(),
            });
            noop = noop.or(container.meta.noop);
            tags.extend(container.meta.tags.iter().cloned());
            tags::add(&mut tags, &container.name.type_name);
            tags::add(&mut tags, &container.name.title);
            next = container.container;
        }
        path.reverse();
        Node {
            shown: name.clone(),
            location: location.clone(),
            path,
            tags,
            noop,
            audit: meta.audit.clone(),
            level: meta.loglevel.unwrap_or(Level::Info),
            work,
        }
    }
}

struct Planner<'r, 'f> {
    find: &'f dyn Fn(&str) -> Result<&'r dyn ResourceType, Failure>,
    kinds: IndexMap<String, &'r dyn ResourceType>,
    problems: Vec<String>,
}

impl<'r> Planner<'r, '_> {
    /// Returns the work for a resource. Problems are recorded.
    fn work(&mut self, declared: &DeclaredResource) -> Option<Work> {
        let DeclaredResource {
            name: shown,
            attributes,
            location,
            meta,
            ..
        } = declared;
        let told = declared
            .problems
            .iter()
            .map(|problem| declared.describe(problem));
        self.problems.extend(told);
        if shown.type_name == RESOURCES {
            return self.purge(declared);
        }
        let kind = match self.kind(&shown.type_name) {
            Ok(kind) => kind,
            Err(problem) => {
                self.problems.push(format!("{location}: {problem}"));
                return None;
            }
        };
        let of = self.kinds[kind];
        let schema = of.schema();
        if let Audit::Only(names) = &meta.audit {
            for attribute in names {
                let problem = match schema.attributes().get(attribute) {
                    Some(known) if known.sensitive => "is a secret, and secrets are not saved",
                    Some(_) => continue,
                    None => "is no attribute of its type",
                };
                let message = format!("`audit` names `{attribute}`, which {problem}");
                let problem = ResourceProblem::of("audit", message);
                self.problems.push(declared.describe(&problem));
            }
        }
        let (name, mut should) = match schema.desire(Some(&shown.title), attributes.clone()) {
            Ok(desired) => desired,
            Err(invalid) => {
                let part = schema.sound_part(&shown.title, attributes);
                let without_form = of.judge_part(part);
                let problems = invalid.wrong().iter().chain(&without_form);
                self.problems
                    .extend(problems.map(|problem| declared.describe(problem)));
                return None;
            }
        };
        let without_form = of.canonical(&mut should);
        if !without_form.is_empty() {
            let told = without_form
                .iter()
                .map(|problem| declared.describe(problem));
            self.problems.extend(told);
            return None;
        }
        let name = Name::new(name.title(), schema.namevars_of(&should));
        match of.check(&name, &should) {
            Ok(()) => Some(Work::Ensure { kind, name, should }),
            Err(error) => {
                let message = error.to_string();
                let problem = match error {
                    Error::Unwritable { attribute, .. } | Error::TextEnd { attribute, .. } => {
                        ResourceProblem::of(&attribute, message)
                    }
                    _ => ResourceProblem::of_all(message),
                };
                self.problems.push(declared.describe(&problem));
                None
            }
        }
    }

    /// Returns the work for `resources { TYPE: purge => true }`.
    fn purge(&mut self, declared: &DeclaredResource) -> Option<Work> {
        let DeclaredResource {
            name: shown,
            attributes,
            location,
            ..
        } = declared;
        let mut refuse = |attribute: &str, problem: String| {
            self.problems
                .push(declared.describe(&ResourceProblem::of(attribute, problem)));
            None
        };
        if let Some((other, _)) = attributes
            .iter()
            .find(|(key, _)| key.as_str() != Some("purge"))
        {
            let problem = format!("`{RESOURCES}` has no attribute `{other}`: expected `purge`");
            return refuse(&other.to_string(), problem);
        }
        match attributes.get("purge") {
            Some(Value::Boolean(true)) => {}
            None | Some(Value::Boolean(false)) => return Some(Work::Nothing),
            Some(_) => return refuse("purge", "`purge` expects true or false".to_owned()),
        }
        match self.kind(&shown.title.to_lowercase()) {
            Ok(kind) if self.kinds[kind].schema().is_ensurable() => Some(Work::Purge { kind }),
            Ok(_) => {
                let message = "Purging is only supported on types that accept 'ensure'";
                self.problems
                    .push(format!("{location}: {shown}: {message}"));
                None
            }
            Err(problem) => {
                self.problems.push(format!("{location}: {problem}"));
                None
            }
        }
    }

    /// Returns the index of a type.
    fn kind(&mut self, type_name: &str) -> Result<usize, String> {
        if let Some(known) = self.kinds.get_index_of(type_name) {
            return Ok(known);
        }
        let kind = (self.find)(type_name).map_err(|failure| failure.to_string())?;
        if !kind.schema().has(Feature::RemoteResource) {
            return Err(format!(
                "`{type_name}` manages hosts, not devices: its definition lacks the feature \
                 `remote_resource`"
            ));
        }
        let (index, _) = self.kinds.insert_full(type_name.to_owned(), kind);
        Ok(index)
    }
}
