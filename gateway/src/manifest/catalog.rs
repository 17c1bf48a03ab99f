//! Compiled catalogs: JSON, as Puppet's compiler gives it to agents.
//!
//! Stages, classes, nodes and what defined types make contain resources. So do, as empty ones,
//! resources of hosts: nothing is done about them, and what comes before and after keeps its order.
//! A catalog's exported resources are those that were collected, too, so they are like all others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use devgate_schemas::{Hash, Key, TypeSchema, Value};
use serde_json::Value as Json;

use super::host_types::is_host_type;
use crate::device_run::{Catalog, Container, Declared, Meta, Place, Ref, invalid, metaparameters};
use crate::failure::Failure;

/// The document of a catalog in a text, if it is one: an object with a list of resources, or that in
/// the envelope of older Puppets. The notice that `puppet catalog compile` prints before it may stand
/// before it here.
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

/// Reads a compiled catalog. `schema_of` knows the types of which any device has resources.
///
/// # Errors
/// Everything that is wrong with it; no value is quoted.
pub(super) fn read<'t>(
    mut document: Json,
    file: &str,
    schema_of: impl Fn(&str) -> Option<&'t TypeSchema>,
) -> Result<Catalog, Failure> {
    let mut reader = Reader {
        file: file.into(),
        catalog: Catalog::default(),
        parents: HashMap::new(),
        holders: HashSet::new(),
        waiting: HashMap::new(),
        indices: HashMap::new(),
        wrong: Vec::new(),
    };
    reader.edges(&document["edges"]);
    let Json::Array(resources) = document["resources"].take() else {
        return Err(invalid(&[format!("{file}: expected a list of resources")]));
    };
    for resource in resources {
        reader.resource(resource, &schema_of);
    }
    reader.contain();
    if reader.wrong.is_empty() {
        Ok(reader.catalog)
    } else {
        Err(invalid(&reader.wrong))
    }
}

struct Reader {
    file: Arc<str>,
    catalog: Catalog,
    /// What each resource is in.
    parents: HashMap<Ref, Ref>,
    /// What has anything in it.
    holders: HashSet<Ref>,
    /// Containers whose place among the others is not known yet.
    waiting: HashMap<Ref, Meta>,
    /// Where containers stand in the catalog.
    indices: HashMap<Ref, usize>,
    wrong: Vec<String>,
}

impl Reader {
    /// Edges say what is in what; relations are parameters.
    fn edges(&mut self, edges: &Json) {
        for (index, edge) in edges.as_array().into_iter().flatten().enumerate() {
            let side = |side: &str| Ref::parse(edge.get(side)?.as_str()?);
            match (side("source"), side("target")) {
                (Some(source), Some(target)) => {
                    self.holders.insert(source.clone());
                    self.parents.insert(target, source);
                }
                _ => self.wrong.push(format!(
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
            self.wrong.push(format!("{}: {message}", self.file));
            return;
        };
        let name = Ref::new(type_name, title);
        let place = Place {
            file: text("file").map_or_else(|| Arc::clone(&self.file), Arc::from),
            line: resource["line"].as_u64().map_or(0, |line| line as u32),
            column: 0,
        };
        if resource["virtual"] == true || matches!(&*name.type_name, "schedule" | "filebucket") {
            return;
        }
        let schema = schema_of(&name.type_name);
        let contains = self.holders.contains(&name)
            || resource["kind"] == "defined_type"
            || matches!(&*name.type_name, "stage" | "class" | "node");
        let is_left_out = !contains && schema.is_none() && is_host_type(&name.type_name);
        let mut attributes = self.parameters(&mut resource, &name, &place);
        if let Some(schema) = schema {
            leave_to_title(&mut attributes, schema, &name.title);
        }
        if contains || is_left_out {
            // Where a class stands among the stages its edge says.
            attributes.remove("stage");
        }
        let (mut meta, relations) = match metaparameters::take(&mut attributes, &name, &place) {
            Ok(taken) => taken,
            Err(problems) => {
                let problems = problems.into_iter();
                self.wrong
                    .extend(problems.map(|problem| format!("{place}: {name}: {problem}")));
                return;
            }
        };
        let tags = resource["tags"].as_array().into_iter().flatten();
        meta.tags
            .extend(tags.filter_map(Json::as_str).map(str::to_lowercase));
        self.catalog.relations.extend(relations);
        if is_left_out {
            self.catalog.left_out.push(name.clone());
        }
        if contains || is_left_out {
            self.waiting.insert(name, meta);
        } else {
            self.catalog.resources.push(Declared {
                name,
                attributes,
                meta,
                place,
                within: None,
            });
        }
    }

    /// The parameters of a resource, the sensitive ones wrapped before anything else sees them.
    fn parameters(&mut self, resource: &mut Json, name: &Ref, place: &Place) -> Hash {
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
            match rich(value) {
                Ok(value) if is_sensitive(&parameter) => {
                    attributes.insert(parameter, value.into_sensitive());
                }
                Ok(value) => {
                    attributes.insert(parameter, value);
                }
                Err(problem) => self
                    .wrong
                    .push(format!("{place}: {name}: `{parameter}` {problem}")),
            }
        }
        attributes
    }

    /// Gives every resource and container its place in what contains it.
    fn contain(&mut self) {
        let containers: Vec<Ref> = self.waiting.keys().cloned().collect();
        for name in &containers {
            self.index_of(name);
        }
        for at in 0..self.catalog.resources.len() {
            let parent = self.parents.get(&self.catalog.resources[at].name).cloned();
            self.catalog.resources[at].within = parent.and_then(|parent| self.index_of(&parent));
        }
    }

    /// Where a container stands, behind all that it is in itself.
    fn index_of(&mut self, name: &Ref) -> Option<usize> {
        let mut inner = Vec::new();
        let mut within = None;
        let mut next = Some(name.clone());
        while let Some(name) = next {
            within = self.indices.get(&name).copied();
            if within.is_some() {
                break;
            }
            let Some(meta) = self.waiting.remove(&name) else {
                let message = "is in itself, or is no resource of the catalog";
                self.wrong.push(format!("{}: {name} {message}", self.file));
                break;
            };
            next = self.parents.get(&name).cloned();
            inner.push((name, meta));
        }
        for (name, meta) in inner.into_iter().rev() {
            let index = self.catalog.containers.len();
            self.indices.insert(name.clone(), index);
            self.catalog
                .containers
                .push(Container { name, within, meta });
            within = Some(index);
        }
        within
    }
}

/// Takes the namevars away that only repeat the title: where a title has parts, the compiler adds them
/// as texts, whatever their type is.
fn leave_to_title(attributes: &mut Hash, schema: &TypeSchema, title: &str) {
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

/// A value of a catalog, whose rich data (Puppet's `Pcore`) are objects with a `__ptype`.
fn rich(value: Json) -> Result<Value, String> {
    match value {
        Json::Array(items) => {
            let items: Result<Vec<Value>, String> = items.into_iter().map(rich).collect();
            Ok(Value::Array(items?))
        }
        Json::Object(mut pairs) => {
            let Some(kind) = pairs.get("__ptype").cloned() else {
                let pair = |(key, value)| Ok((Key::String(key), rich(value)?));
                let pairs: Result<Hash, String> = pairs.into_iter().map(pair).collect();
                return Ok(Value::Hash(pairs?));
            };
            let inner = pairs.remove("__pvalue").unwrap_or_default();
            match (kind.as_str().unwrap_or_default(), inner) {
                ("Sensitive", inner) => Ok(rich(inner)?.into_sensitive()),
                ("Default", _) => Ok(Value::from("default")),
                ("Symbol", Json::String(text)) => Ok(Value::from(text)),
                ("Hash", Json::Array(flat)) => flat.chunks_exact(2).map(pair).collect::<Result<_, _>>().map(Value::Hash),
                ("Deferred", _) => Err("is Deferred, which needs the agent that evaluates it: give the value when the catalog is compiled".to_owned()),
                (kind, _) => Err(format!("has a value of Puppet's type {kind}, which no device takes: give a text, a number, a list or a hash")),
            }
        }
        plain => Ok(Value::from(plain)),
    }
}

/// A pair of a hash whose keys are not all texts.
fn pair(pair: &[Json]) -> Result<(Key, Value), String> {
    let key = match &pair[0] {
        Json::String(text) => Key::String(text.clone()),
        number => Key::Integer(
            number
                .as_i64()
                .ok_or("has a key that is neither a text nor a whole number")?,
        ),
    };
    Ok((key, rich(pair[1].clone())?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const EDGE: &str = include_str!("../../../tests/catalogs/edge.json");

    fn edge() -> Catalog {
        let document = document(EDGE).expect("it is a catalog");
        read(document, "edge.json", |_| None).expect("it is right")
    }

    fn message(resource: Json) -> String {
        let document = json!({ "resources": [resource], "edges": [] });
        let wrong = read(document, "edge.json", |_| None).expect_err("it is wrong");
        assert!(!wrong.to_string().contains("canary"), "{wrong}");
        wrong.to_string()
    }

    #[test]
    fn resources_are_in_what_contains_them() {
        let catalog = edge();
        let path = |declared: &Declared| {
            let mut path = vec![declared.name.to_string()];
            let mut at = declared.within;
            while let Some(index) = at {
                let container = &catalog.containers[index];
                assert!(container.within.is_none_or(|outer| outer < index));
                path.push(container.name.to_string());
                at = container.within;
            }
            path.reverse();
            path.join(" / ")
        };
        let paths: Vec<String> = catalog.resources.iter().map(path).collect();
        assert_eq!(
            paths,
            [
                "Stage[main] / Class[Routing] / Frr_interface[swp1]",
                "Stage[main] / Class[Routing] / Frr_bgp_neighbor[65001 192.0.2.7]",
                "Stage[main] / Class[main] / Node[default] / Frr_static_route[10.7.0.0/16 via Null0]",
                "Stage[main] / Class[main] / Node[default] / Frr_static_route[10.4.0.0/16 via Null0]",
                "Stage[main] / Class[Routing] / Routing::Discard[10.9.0.0/16] / Frr_static_route[10.9.0.0/16 via Null0]",
                "Stage[main] / Class[Routing] / Routing::Discard[10.8.0.0/16] / Frr_static_route[10.8.0.0/16 via Null0]",
            ]
        );
    }

    #[test]
    fn what_puppet_says_of_a_resource_is_kept() {
        let catalog = edge();
        let named = |title| {
            let mut resources = catalog.resources.iter();
            let found = resources.find(|declared| declared.name.title == title);
            found.expect("it is in the catalog")
        };
        let peer = named("65001 192.0.2.7");
        assert!(
            peer.attributes
                .get("password")
                .is_some_and(Value::has_secret)
        );
        assert!(peer.meta.tags.contains("peer") && peer.meta.tags.contains("routing"));
        assert_eq!(
            peer.place.to_string(),
            "modules/routing/manifests/init.pp:7"
        );
        assert_eq!(named("10.7.0.0/16 via Null0").meta.noop, Some(true));
        let relations: Vec<String> = catalog
            .relations
            .iter()
            .map(|relation| {
                let arrow = if relation.notifies { "~>" } else { "->" };
                format!("{} {arrow} {}", relation.from, relation.to)
            })
            .collect();
        assert_eq!(
            relations,
            [
                "Stage[main] -> Stage[last]",
                "Frr_interface[swp1] -> Frr_bgp_neighbor[65001 192.0.2.7]",
                "Frr_interface[swp1] -> Routing::Discard[10.9.0.0/16]",
                "Frr_interface[swp1] -> Routing::Discard[10.8.0.0/16]",
                "Frr_bgp_neighbor[65001 192.0.2.7] ~> Notify[routing is set up]",
            ]
        );
    }

    #[test]
    fn resources_of_hosts_are_left_out_and_still_keep_the_order() {
        let catalog = edge();
        let notice = Ref::new("notify", "routing is set up");
        assert_eq!(catalog.left_out, std::slice::from_ref(&notice));
        assert!(catalog.containers.iter().any(|one| one.name == notice));
    }

    #[test]
    fn types_of_devices_count_whatever_their_name_and_have_their_titles_parts_only_once() {
        let families = devgate_devices::all();
        let mut types = families.iter().flat_map(|family| family.types());
        let neighbor = types.find(|kind| kind.schema().name() == "frr_bgp_neighbor");
        let schema = neighbor.expect("it is built in").schema();
        let parameters =
            json!({ "asn": "65001", "neighbor": "192.0.2.8", "remote_as": "internal" });
        let resource =
            json!({ "type": "File", "title": "65001 192.0.2.7", "parameters": parameters });
        let document = json!({ "resources": [resource] });
        let catalog = read(document, "edge.json", |_| Some(schema)).expect("it is right");
        let [only] = catalog.resources.as_slice() else {
            panic!("{catalog:?}")
        };
        assert_eq!(
            Value::Hash(only.attributes.clone()).to_json(),
            json!({ "neighbor": "192.0.2.8", "remote_as": "internal" })
        );
    }

    #[test]
    fn the_envelope_and_the_notice_around_a_catalog_are_taken_off() {
        let notice = "\u{1b}[mNotice: Compiled catalog for x in environment production\u{1b}[0m\n";
        let plain = r#"{"resources": []}"#;
        let envelope = r#"{"document_type": "Catalog", "data": {"resources": []}}"#;
        for text in [plain, envelope, &format!("{notice}{plain}")] {
            assert!(document(text).is_some(), "{text}");
        }
        for text in ["{}", r#"{"vlan": {"1": {}}}"#, "vlan: []", ""] {
            assert!(document(text).is_none(), "{text}");
        }
    }

    #[test]
    fn rich_data_become_values_and_sensitive_ones_secrets() {
        let parameters = json!({
            "a": { "__ptype": "Sensitive", "__pvalue": { "deep": "canary" } },
            "b": { "__ptype": "Default" },
            "c": { "__ptype": "Hash", "__pvalue": [7, "seven"] },
            "d": "canary",
        });
        let resource = json!({ "type": "T", "title": "t", "parameters": parameters, "sensitive_parameters": ["d"] });
        let document = json!({ "resources": [resource] });
        let catalog = read(document, "edge.json", |_| None).expect("it is right");
        let [only] = catalog.resources.as_slice() else {
            panic!("{catalog:?}")
        };
        assert_eq!(
            Value::Hash(only.attributes.clone()).to_json(),
            json!({ "a": "Sensitive [value redacted]", "b": "default", "c": { "7": "seven" }, "d": "Sensitive [value redacted]" })
        );
    }

    #[test]
    fn what_no_device_can_take_is_refused_with_its_place_and_never_quoted() {
        let of = |parameters: Json| {
            message(json!({
                "type": "T", "title": "t", "file": "site.pp", "line": 3, "parameters": parameters
            }))
        };
        let deferred = of(json!({ "x": { "__ptype": "Deferred", "name": "canary" } }));
        assert!(
            deferred.starts_with("site.pp:3: T[t]: `x` is Deferred"),
            "{deferred}"
        );
        let time = of(json!({ "x": { "__ptype": "Timestamp", "__pvalue": "canary" } }));
        assert!(
            time.contains("`x` has a value of Puppet's type Timestamp"),
            "{time}"
        );
        let schedule = of(json!({ "schedule": "night" }));
        assert!(schedule.contains("run devgate from cron"), "{schedule}");
        assert!(message(json!({ "title": "canary" })).contains("expected every resource"));
    }

    #[test]
    fn containers_that_are_in_themselves_are_refused() {
        let class = |title: &str| json!({ "type": "Class", "title": title });
        let edge = |source: &str, target: &str| json!({ "source": source, "target": target });
        let document = json!({
            "resources": [class("A"), class("B")],
            "edges": [edge("Class[A]", "Class[B]"), edge("Class[B]", "Class[A]"), edge("x", "y")],
        });
        let wrong = read(document, "c.json", |_| None)
            .expect_err("A is in B is in A")
            .to_string();
        assert!(wrong.contains("is in itself"), "{wrong}");
        assert!(
            wrong.contains("c.json: edges[2]: expected `source`"),
            "{wrong}"
        );
    }
}
