//! The effect of containers on their resources: order, noop, tags, notifications.

use devgate_schemas::Hash;

use super::device::{Device, EventLog, end, enforce};
use crate::device_run::{Catalog, Container, Meta, Options, Ref, Relation, SourceLocation};

/// Creates a catalog. `Class[a]` contains `Vlan[a1]` and the defined `Site[s]`, which contains `Vlan[s1]`. `Class[b]`
/// contains `Vlan[b1]`, and `Class[none]` nothing. Relations are texts: `A -> B`, `A ~> B`.
fn catalog(relations: &[&str]) -> Catalog {
    let location = SourceLocation {
        file: "site.pp".into(),
        line: 1,
        column: 0,
    };
    let mut catalog = Catalog::default();
    for (name, container) in [
        ("Class[a]", None),
        ("Site[s]", Some(0)),
        ("Class[b]", None),
        ("Class[none]", None),
    ] {
        catalog.containers.push(Container {
            name: Ref::parse(name).expect("a reference"),
            container,
            meta: Meta::default(),
        });
    }
    for (name, container) in [("Vlan[a1]", 0), ("Vlan[s1]", 1), ("Vlan[b1]", 2)] {
        let name = Ref::parse(name).expect("a reference");
        let declared = catalog.declared(name, Hash::new(), location.clone(), Some(container));
        catalog.resources.push(declared);
    }
    for relation in relations {
        let arrow = if relation.contains("~>") {
            " ~> "
        } else {
            " -> "
        };
        let (from, to) = relation.split_once(arrow).expect("a relation");
        catalog.relations.push(Relation {
            from: Ref::parse(from).expect("a reference"),
            to: Ref::parse(to).expect("a reference"),
            notifies: arrow == " ~> ",
            location: location.clone(),
        });
    }
    catalog
}

/// Returns the calls of `set`, batch by batch.
fn sets(relations: &[&str]) -> Vec<String> {
    let device = Device::default();
    let ran = device.apply_catalog(&catalog(relations), &enforce(), &EventLog::default(), None);
    ran.expect("it is right");
    let mut log = device.log();
    log.retain(|line| line.starts_with("set"));
    log
}

#[test]
fn all_in_a_container_comes_before_all_in_another_however_deep() {
    assert_eq!(sets(&[]), ["set vlan a1,s1,b1"]);
    assert_eq!(sets(&["Class[a] -> Class[none]"]), ["set vlan a1,s1,b1"]);
    assert_eq!(
        sets(&["Class[b] -> Class[A]"]),
        ["set vlan b1", "set vlan a1,s1"]
    );
    assert_eq!(
        sets(&["Site[s] -> Vlan[a1]", "Class[a] -> Vlan[b1]"]),
        ["set vlan s1", "set vlan a1", "set vlan b1"]
    );
}

#[test]
fn an_empty_container_passes_the_order_on() {
    assert_eq!(
        sets(&["Vlan[b1] -> Class[none]", "Class[none] -> Class[a]"]),
        ["set vlan b1", "set vlan a1,s1"]
    );
}

#[test]
fn a_container_of_which_something_has_failed_holds_up_what_comes_after_it() {
    let device = Device::default();
    device.state().refused.push("s1".to_owned());
    let catalog = catalog(&["Class[a] -> Class[b]"]);
    let report = device.apply_catalog(&catalog, &enforce(), &EventLog::default(), None);
    let report = report.expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[a1] changed created",
            "Vlan[s1] failed refused",
            "Vlan[b1] skipped Dependency Vlan[s1] has failures: true; Skipping because of failed dependencies",
        ]
    );
}

#[test]
fn a_notification_goes_through_containers() {
    let relations = ["Class[a] ~> Class[none]", "Class[none] ~> Class[b]"];
    let report = Device::default()
        .apply_catalog(&catalog(&relations), &enforce(), &EventLog::default(), None)
        .expect("it is right");
    assert_eq!(report.resources[2].notified_by, ["Vlan[a1]", "Vlan[s1]"]);
    assert!(report.resources[0].notified_by.is_empty());
}

#[test]
fn noop_and_tags_are_handed_down() {
    let mut catalog = catalog(&[]);
    catalog.containers[0].meta.noop = Some(true);
    catalog.containers[1].meta.noop = Some(false);
    catalog.containers[1].meta.tags.insert("edge".to_owned());
    let device = Device::default();
    let options = Options {
        tags: vec!["a".to_owned()],
        ..enforce()
    };
    let report = device.apply_catalog(&catalog, &options, &EventLog::default(), None);
    let report = report.expect("it is right");
    let of = |title: &str| {
        let mut resources = report.resources.iter();
        resources
            .find(|one| one.title == title)
            .expect("it is there")
    };
    assert!(of("a1").noop && of("s1").changed && of("b1").left_out);
    assert_eq!(of("s1").path, ["A", "Site[s]", "Vlan[s1]"]);
    assert!(of("s1").tags.contains(&"edge".to_owned()));
}
