//! Compiled catalogs: what is read, and what is refused.

use serde_json::json;

use super::*;

const EDGE: &str = include_str!("../../../../../tests/catalogs/edge.json");

fn edge() -> Catalog {
    let document = document(EDGE).expect("it is a catalog");
    read(document, "edge.json", |_| None).expect("it is right")
}

fn message(resource: Json) -> String {
    let document = json!({ "resources": [resource], "edges": [] });
    let problems = read(document, "edge.json", |_| None).expect_err("it is wrong");
    assert!(!problems.to_string().contains("canary"), "{problems}");
    problems.to_string()
}

#[test]
fn resources_are_in_what_contains_them() {
    let catalog = edge();
    let paths = catalog.resources.iter().map(|declared| {
        let mut path = vec![declared.name.to_string()];
        let mut at = declared.container;
        while let Some(index) = at {
            let container = &catalog.containers[index];
            assert!(container.container.is_none_or(|outer| outer < index));
            path.push(container.name.to_string());
            at = container.container;
        }
        path.reverse();
        path.join(" / ")
    });
    let paths: Vec<String> = paths.collect();
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
        peer.location.to_string(),
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
    let frr = devgate_devices::all().find(|family| family.name() == "frr");
    let frr = frr.expect("it is built in").load().expect("it is valid");
    let neighbor = frr
        .types()
        .find(|kind| kind.schema().name() == "frr_bgp_neighbor");
    let schema = neighbor.expect("it is built in").schema();
    let parameters = json!({ "asn": "65001", "neighbor": "192.0.2.8", "remote_as": "internal" });
    let resource = json!({ "type": "File", "title": "65001 192.0.2.7", "parameters": parameters });
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
    let resource = json!({ "type": "T", "title": "t", "parameters": { "schedule": "night" } });
    let catalog = read(json!({ "resources": [resource] }), "edge.json", |_| None);
    let declared = &catalog.expect("it can be read").resources[0];
    let schedule = declared.describe(&declared.problems[0]);
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
    let problems = read(document, "c.json", |_| None)
        .expect_err("A is in B is in A")
        .to_string();
    assert!(problems.contains("is in itself"), "{problems}");
    assert!(
        problems.contains("c.json: edges[2]: expected `source`"),
        "{problems}"
    );
}
