//! The order of the resources, and those that are skipped.

use devgate_transports::Mode;

use super::device::{Device, end, enforce};
use crate::device_run::Options;

#[test]
fn resources_of_a_type_are_read_once_and_changed_at_once() {
    let device = Device::holding("vlan: {b: {speed: 1}}");
    let manifest = "vlan: {a: {}, b: {speed: 2}, c: {ensure: absent}}\nport: {p: {}}\n";
    assert_eq!(
        device.apply(manifest),
        [
            "Vlan[a] changed created",
            "Vlan[b] changed speed changed 1 to 2",
            "Vlan[c] ok",
            "Port[p] changed created",
        ]
    );
    assert_eq!(
        device.log(),
        [
            "get vlan a,b,c",
            "get port p",
            "set vlan a,b",
            "get vlan a,b",
            "get port p",
            "set port p",
            "get port p"
        ]
    );
    device.apply(manifest);
    assert_eq!(
        device.log(),
        ["get vlan a,b,c", "get port p"],
        "nothing is left to do"
    );
}

#[test]
fn what_requires_another_comes_after_it_whatever_stands_first() {
    let device = Device::default();
    device.apply("port: {p: {require: 'Vlan[b]'}}\nvlan: {a: {}, b: {require: 'Vlan[a]'}}\n");
    assert_eq!(
        device.log(),
        [
            "get port p",
            "get vlan a,b",
            "set vlan a",
            "get vlan a",
            "set vlan b",
            "get vlan b",
            "get port p",
            "set port p",
            "get port p",
        ]
    );
}

#[test]
fn a_type_is_read_again_when_others_have_changed_the_device_in_between() {
    let device = Device::default();
    device.apply("vlan: {a: {}, b: {require: 'Port[p]'}}\nport: {p: {require: 'Vlan[a]'}}\n");
    let log = device.log();
    let asked: Vec<&str> = log
        .iter()
        .map(String::as_str)
        .filter(|line| !line.ends_with(" p"))
        .collect();
    assert_eq!(
        asked,
        [
            "get vlan a,b",
            "set vlan a",
            "get vlan a",
            "get vlan a,b",
            "set vlan b",
            "get vlan b"
        ]
    );
}

#[test]
fn what_depends_on_a_failure_is_left_alone_and_says_so() {
    let device = Device::default();
    device.state().refused.push("a".to_owned());
    let manifest = "vlan: {a: {}, b: {}, c: {require: 'Port[p]'}}\n\
                    port: {p: {subscribe: 'Vlan[a]'}, q: {require: 'Vlan[b]'}}\n";
    assert_eq!(
        device.apply(manifest),
        [
            "Vlan[a] failed refused",
            "Vlan[b] changed created",
            "Port[p] skipped Dependency Vlan[a] has failures: true; Skipping because of failed dependencies",
            "Vlan[c] skipped Dependency Vlan[a] has failures: true; Skipping because of failed dependencies",
            "Port[q] changed created",
        ]
    );
}

#[test]
fn a_type_that_cannot_be_read_fails_and_others_go_on() {
    let device = Device::default();
    device.state().unreadable.push("vlan".to_owned());
    assert_eq!(
        device.apply("vlan: {a: {}, b: {}}\nport: {p: {}}\n"),
        [
            "Vlan[a] failed it is not shown",
            "Vlan[b] failed it is not shown",
            "Port[p] changed created"
        ]
    );
}

#[test]
fn a_type_that_cannot_be_read_is_not_asked_again_in_the_run() {
    let device = Device::default();
    device.state().unreadable.push("vlan".to_owned());
    assert_eq!(
        device.apply("vlan: {a: {}, b: {require: 'Port[p]'}}\nport: {p: {}}\n"),
        [
            "Vlan[a] failed it is not shown",
            "Port[p] changed created",
            "Vlan[b] failed it is not shown",
        ]
    );
    let of_vlan = |line: &&String| line.contains(" vlan ");
    assert_eq!(device.log().iter().filter(of_vlan).count(), 1);
}

#[test]
fn relations_that_types_have_by_themselves_order_and_never_close_a_cycle() {
    let device = Device::default();
    device.apply("port: {p: {vlan: a}}\nvlan: {A: {}}\n");
    assert_eq!(device.log()[2], "set vlan a", "by its canonical name");
    let device = Device::default();
    device.apply("port: {p: {vlan: a, before: 'Vlan[a]'}}\nvlan: {a: {}}\n");
    assert_eq!(device.log()[2], "set port p");
}

#[test]
fn what_comes_before_a_class_comes_before_all_that_is_in_it() {
    let device = Device::default();
    let failure = device.try_apply("vlan: {a: {before: 'Class[main]'}}\n", &enforce());
    let failure = failure.expect_err("it is in that class itself").to_string();
    assert!(
        failure.contains("(Vlan[a] => Class[main] => Vlan[a])"),
        "{failure}"
    );
}

#[test]
fn cycles_are_told_with_their_path_before_anything_is_asked() {
    let device = Device::default();
    let manifest =
        "vlan: {a: {before: 'Port[p]'}}\nport: {p: {before: 'Port[q]'}, q: {before: 'Vlan[a]'}}\n";
    let failure = device.try_apply(manifest, &enforce()).expect_err("a cycle");
    assert_eq!(
        failure.to_string(),
        "Found 1 dependency cycle:\n(Vlan[a] => Port[p] => Port[q] => Vlan[a])\n\
         remove one of these relations of each"
    );
    assert!(device.log().is_empty());
}

#[test]
fn everything_that_is_wrong_is_told_with_its_place() {
    let manifest = "vlan:\n  a: {require: 'Port[p]', notify: 'Vlan[z]', speed: fast, audit: hue,\n    loglevel: loud}\n  \
                    A: {}\n  a2: {alias: b}\n  b2: {require: 'Vlan[b]'}\ndaemon: {d: {}}\nfog: {f: {}}\n\
                    resources: {knob: {purge: true}, vlan: {purge: maybe}, port: {unless: 1}}\n";
    let failure = Device::default()
        .try_apply(manifest, &enforce())
        .expect_err("wrong")
        .to_string();
    let lines: Vec<&str> = failure.lines().collect();
    for expected in [
        "site.yaml:3:5: Vlan[a]: `loglevel` expects",
        "site.yaml:2:59: Vlan[a]: `audit` names `hue`, which is no attribute of its type",
        "site.yaml:2:46: Vlan[a]: `speed` expects",
        "site.yaml:2:3: Could not find dependency Port[p] for Vlan[a]",
        "site.yaml:2:3: Could not find dependent Vlan[z] for Vlan[a]",
        "site.yaml:7:10: `daemon` manages hosts, not devices",
        "site.yaml:8:7: no type `fog`",
        "site.yaml:9:13: Resources[knob]: Purging is only supported on types that accept 'ensure'",
        "site.yaml:9:41: Resources[vlan]: `purge` expects true or false",
        "site.yaml:9:63: Resources[port]: `resources` has no attribute `unless`",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(expected)),
            "{expected}:\n{failure}"
        );
    }
    assert_eq!(lines.len(), 10, "{failure}");
}

#[test]
fn a_type_without_resources_must_be_one_all_the_same() {
    let failure = Device::default()
        .try_apply(
            "vlan: {}\nport: []\nresources: {}\nVlam: {}\nfog: []\n",
            &enforce(),
        )
        .expect_err("two are none");
    assert_eq!(
        failure.to_string(),
        "site.yaml:4:1: no type `vlam`\nsite.yaml:5:1: no type `fog`"
    );
}

#[test]
fn one_resource_under_two_titles_fails_the_second_time() {
    let device = Device::default();
    assert_eq!(
        device.apply("vlan: {a: {}, A: {}, 1a: {}}\n"),
        [
            "Vlan[a] skipped Skipping because the manifest does not fit this device, so nothing is changed: see \
             Vlan[A], Vlan[1a]",
            "Vlan[A] failed is the same resource as [a]",
            "Vlan[1a] failed `1a` begins with a digit",
        ]
    );
}

#[test]
fn noop_of_one_resource_leaves_the_others() {
    let device = Device::holding("vlan: {b: {speed: 1}}");
    assert_eq!(
        device.apply("vlan: {a: {noop: true}, b: {speed: 2, noop: true}, c: {}}\n"),
        [
            "Vlan[a] noop ensure: current_value 'absent', should be 'present' (noop)",
            "Vlan[b] noop speed: current_value 1, should be 2 (noop)",
            "Vlan[c] changed created",
        ]
    );
    assert_eq!(device.log(), ["get vlan a,b,c", "set vlan c", "get vlan c"]);
}

#[test]
fn noop_of_the_run_changes_nothing_whatever_a_resource_says() {
    let device = Device::holding("vlan: {old: {}}");
    let options = Options {
        mode: Mode::Noop,
        ..enforce()
    };
    let manifest = "vlan: {a: {noop: false}}\nresources: {vlan: {purge: true}}\n";
    let report = device.try_apply(manifest, &options).expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[a] noop ensure: current_value 'absent', should be 'present' (noop)",
            "Resources[vlan] ok",
            "Vlan[old] noop ensure: current_value 'present', should be 'absent' (noop)",
        ]
    );
    assert_eq!(device.log(), ["get vlan all"]);
}

#[test]
fn purge_removes_what_nobody_declared_with_the_other_changes_of_its_type() {
    let device = Device::holding("vlan: {a: {}, b: {}, c: {}}");
    let manifest = "resources: {vlan: {purge: true}}\nvlan: {A: {}, c: {ensure: absent}, d: {}}\n";
    assert_eq!(
        device.apply(manifest),
        [
            "Resources[vlan] ok",
            "Vlan[b] changed removed",
            "Vlan[A] ok",
            "Vlan[c] changed removed",
            "Vlan[d] changed created",
        ]
    );
    assert_eq!(
        device.log(),
        ["get vlan all", "set vlan b,c,d", "get vlan b,c,d"]
    );
}

#[test]
fn nothing_is_purged_where_not_everything_is_known() {
    let purge = "resources: {vlan: {purge: true}}\n";
    let device = Device::holding("vlan: {a: {}, odd: {speed: fast}}");
    let ends = device.apply(purge);
    let [end] = ends.as_slice() else {
        panic!("{ends:?}")
    };
    assert!(
        end.starts_with("Resources[vlan] failed nothing is purged: Provider returned data"),
        "{end}"
    );
    let device = Device::holding("vlan: {a: {}}");
    let ends = device.apply(&format!("{purge}vlan: {{1a: {{}}}}\n"));
    assert_eq!(
        ends[0],
        "Resources[vlan] skipped Skipping because the manifest does not fit this device, so nothing is changed: see \
         Vlan[1a]"
    );
}

#[test]
fn tags_restrict_a_run_to_some_resources() {
    let device = Device::default();
    let options = Options {
        tags: vec!["edge".to_owned(), "q".to_owned()],
        ..enforce()
    };
    let manifest =
        "vlan: {a: {tag: Edge}, b: {}}\nport: {p: {require: 'Vlan[b]', tag: edge}, q: {}}\n";
    let report = device.try_apply(manifest, &options).expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[b] skipped Not tagged with edge, q",
            "Vlan[a] changed created",
            "Port[p] changed created",
            "Port[q] changed created",
        ]
    );
}

#[test]
fn a_run_that_is_stopped_ends_what_it_does_and_leaves_the_rest() {
    let device = Device::default();
    device.state().cancel_source = Some(devgate_core::cancel::CancelSource::default());
    let manifest = "vlan: {a: {}}\nport: {p: {}}\n";
    let report = device.try_apply(manifest, &enforce()).expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    assert_eq!(
        ends,
        [
            "Vlan[a] changed created",
            "Port[p] skipped interrupted: nothing was done"
        ]
    );
    assert!(!report.completed);
}
