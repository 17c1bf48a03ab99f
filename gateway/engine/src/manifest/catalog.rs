//! Compiled catalogs: JSON, as Puppet's compiler sends it to agents.
//!
//! Stages, classes, nodes and instances of defined types contain resources. Resources of hosts are ignored and become
//! empty containers, so that what comes before and after them keeps its order. The exported resources of a catalog are
//! those that were collected, too, so they are treated like all others.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_schemas::{Hash, Key, TypeSchema, Value};
use serde_json::Value as Json;

use super::host_types::is_host_type;
use crate::device_run::{Catalog, Container, Meta, Ref, SourceLocation, invalid};

/// Returns the document of a catalog if a text is one: an object with a list of resources, or that in the envelope of
/// older versions of Puppet. The notice that `puppet catalog compile` prints may precede it.
pub(super) fn document(text: &str) -> Option<Json> {
    let text = match text.lines().next() {
        Some(first) if first.contains("Notice: Compiled catalog") => &text[first.len()..],
        _ => text,
    };
    let mut document: Json = serde_json::from_str(text).ok()?;
    if document.get("document_type").is_some() {
        document = document["data"].take();
    }
    document["resources"].is_array().then_some(document)
}

/// Reads a compiled catalog. `schema_of` returns the schemas of the types of devices.
///
/// # Errors
/// Fails with all problems of the catalog. No value is quoted.
pub(super) fn read<'t>(
    mut document: Json,
    file: &str,
    schema_of: impl Fn(&str) -> Option<&'t TypeSchema>,
) -> Result<Catalog, Failure> {
    let mut reader = CatalogReader {
        file: file.into(),
        catalog: Catalog::default(),
        parents: HashMap::new(),
        container_names: HashSet::new(),
        pending_containers: HashMap::new(),
        indices: HashMap::new(),
        problems: Vec::new(),
    };
    reader.edges(&document["edges"]);
    let Json::Array(resources) = document["resources"].take() else {
        return Err(invalid(&[format!("{file}: expected a list of resources")]));
    };
    for resource in resources {
        reader.resource(resource, &schema_of);
    }
    reader.contain();
    if reader.problems.is_empty() {
        Ok(reader.catalog)
    } else {
        Err(invalid(&reader.problems))
    }
}

struct CatalogReader {
    file: Arc<str>,
    catalog: Catalog,
    /// The container of each resource.
    parents: HashMap<Ref, Ref>,
    /// The names of everything that contains something.
    container_names: HashSet<Ref>,
    /// Containers that have not been added to the catalog.
    pending_containers: HashMap<Ref, Meta>,
    /// The indexes of containers in the catalog.
    indices: HashMap<Ref, usize>,
    problems: Vec<String>,
}

impl CatalogReader {
    /// Reads the edges, which are containments. Relations are parameters.
    fn edges(&mut self, edges: &Json) {
        for (index, edge) in edges.as_array().into_iter().flatten().enumerate() {
            let side = |side: &str| Ref::parse(edge.get(side)?.as_str()?);
            match (side("source"), side("target")) {
                (Some(source), Some(target)) => {
                    self.container_names.insert(source.clone());
                    self.parents.insert(target, source);
                }
                _ => self.problems.push(format!(
                    "{}: edges[{index}]: expected `source` and `target`, each `Type[title]`",
                    self.file
                )),
            }
        }
    }

    fn resource<'t>(
        &mut self,
        mut resource: Json,
        schema_of: &impl Fn(&str) -> Option<&'t TypeSchema>,
    ) {
        let text = |key: &str| resource.get(key).and_then(Json::as_str);
        let (Some(type_name), Some(title)) = (text("type"), text("title")) else {
            let message = "expected every resource to have a `type` and a `title`";
            self.problems.push(format!("{}: {message}", self.file));
            return;
        };
        let name = Ref::new(type_name, title);
        let location = SourceLocation {
            file: text("file").map_or_else(|| Arc::clone(&self.file), Arc::from),
            line: resource["line"].as_u64().map_or(0, |line| line as u32),
            column: 0,
        };
        if resource["virtual"] == true || matches!(&*name.type_name, "schedule" | "filebucket") {
            return;
        }
        let schema = schema_of(&name.type_name);
        let contains = self.container_names.contains(&name)
            || resource["kind"] == "defined_type"
            || matches!(&*name.type_name, "stage" | "class" | "node");
        let is_left_out = !contains && schema.is_none() && is_host_type(&name.type_name);
        let mut attributes = self.parameters(&mut resource, &name, &location);
        if let Some(schema) = schema {
            remove_title_parts(&mut attributes, schema, &name.title);
        }
        if contains || is_left_out {
            // The containment of a class in a stage is given by an edge.
            attributes.remove("stage");
        }
        let mut declared = self.catalog.declared(name, attributes, location, None);
        if contains || is_left_out {
            let messages = declared
                .problems
                .iter()
                .map(|problem| declared.describe(problem));
            self.problems.extend(messages);
        }
        let tags = resource["tags"].as_array().into_iter().flatten();
        let tags = tags.filter_map(Json::as_str).map(str::to_lowercase);
        declared.meta.tags.extend(tags);
        if is_left_out {
            self.catalog.left_out.push(declared.name.clone());
        }
        if contains || is_left_out {
            self.pending_containers.insert(declared.name, declared.meta);
        } else {
            self.catalog.resources.push(declared);
        }
    }

    /// Returns the parameters of a resource. The sensitive ones are wrapped before they are used.
    fn parameters(&mut self, resource: &mut Json, name: &Ref, location: &SourceLocation) -> Hash {
        let sensitive = resource["sensitive_parameters"].take();
        let is_sensitive = |parameter: &str| {
            let names = sensitive.as_array().into_iter().flatten();
            names.filter_map(Json::as_str).any(|name| name == parameter)
        };
        let Json::Object(parameters) = resource["parameters"].take() else {
            return Hash::new();
        };
        let mut attributes = Hash::new();
        for (parameter, value) in parameters {
            match convert_rich(value) {
                Ok(value) if is_sensitive(&parameter) => {
                    attributes.insert(parameter, value.into_sensitive());
                }
                Ok(value) => {
                    attributes.insert(parameter, value);
                }
                Err(problem) => self
                    .problems
                    .push(format!("{location}: {name}: `{parameter}` {problem}")),
            }
        }
        attributes
    }

    /// Assigns every resource and container to its container.
    fn contain(&mut self) {
        let containers: Vec<Ref> = self.pending_containers.keys().cloned().collect();
        for name in &containers {
            self.index_of(name);
        }
        for index in 0..self.catalog.resources.len() {
            let parent = self
                .parents
                .get(&self.catalog.resources[index].name)
                .cloned();
            self.catalog.resources[index].container =
                parent.and_then(|parent| self.index_of(&parent));
        }
    }

    /// Returns the index of a container. Outer containers are added before it.
    fn index_of(&mut self, name: &Ref) -> Option<usize> {
        let mut inner = Vec::new();
        let mut container = None;
        let mut next = Some(name.clone());
        while let Some(name) = next {
            container = self.indices.get(&name).copied();
            if container.is_some() {
                break;
            }
            let Some(meta) = self.pending_containers.remove(&name) else {
                let message = "is in itself, or is no resource of the catalog";
                self.problems
                    .push(format!("{}: {name} {message}", self.file));
                break;
            };
            next = self.parents.get(&name).cloned();
            inner.push((name, meta));
        }
        for (name, meta) in inner.into_iter().rev() {
            let index = self.catalog.containers.len();
            self.indices.insert(name.clone(), index);
            self.catalog.containers.push(Container {
                name,
                container,
                meta,
            });
            container = Some(index);
        }
        container
    }
}

/// Removes the namevars that only repeat the title. If a title has parts, the compiler adds them as texts, whatever
/// their type is.
fn remove_title_parts(attributes: &mut Hash, schema: &TypeSchema, title: &str) {
    let Ok(namevars) = schema.parse_title(title) else {
        return;
    };
    for (name, value) in namevars.iter() {
        let name = name.to_string();
        let added = attributes.get(&name).and_then(Value::as_str);
        let added = added.and_then(|text| text.parse().ok()).map(Value::Integer);
        if added.as_ref() == Some(value) {
            attributes.remove(&name);
        }
    }
}

/// Converts a value of a catalog. Its rich data (Puppet's `Pcore`) are objects with a `__ptype`.
fn convert_rich(value: Json) -> Result<Value, String> {
    match value {
        Json::Array(items) => {
            let items: Result<Vec<Value>, String> = items.into_iter().map(convert_rich).collect();
            Ok(Value::Array(items?))
        }
        Json::Object(mut pairs) => {
            let Some(kind) = pairs.get("__ptype").cloned() else {
                let pair = |(key, value)| Ok((Key::from(key), convert_rich(value)?));
                let pairs: Result<Hash, String> = pairs.into_iter().map(pair).collect();
                return Ok(Value::Hash(pairs?));
            };
            let inner = pairs.remove("__pvalue").unwrap_or_default();
            match (kind.as_str().unwrap_or_default(), inner) {
                ("Sensitive", inner) => Ok(convert_rich(inner)?.into_sensitive()),
                ("Default", _) => Ok(Value::from("default")),
                ("Symbol", Json::String(text)) => Ok(Value::from(text)),
                ("Hash", Json::Array(flat)) => flat.chunks_exact(2).map(convert_pair).collect::<Result<_, _>>().map(Value::Hash),
                ("Deferred", _) => Err("is Deferred, which needs the agent that evaluates it: give the value when the catalog is compiled".to_owned()),
                (kind, _) => Err(format!("has a value of Puppet's type {kind}, which no device takes: give a text, a number, a list or a hash")),
            }
        }
        plain => Ok(Value::from(plain)),
    }
}

/// Converts a pair of a hash whose keys are not all texts.
fn convert_pair(pair: &[Json]) -> Result<(Key, Value), String> {
    let key = match &pair[0] {
        Json::String(text) => Key::from(text.as_str()),
        number => Key::Integer(
            number
                .as_i64()
                .ok_or("has a key that is neither a text nor a whole number")?,
        ),
    };
    Ok((key, convert_rich(pair[1].clone())?))
}
