//! What a provider can rely on in a run (Resource API, "Resource implementation" and "Provider features").

use devgate_transports::Mode;

use super::device::{Device, end, enforce};
use crate::device_run::Options;

#[test]
fn a_provider_is_made_once_in_a_run() {
    let device = Device::default();
    device.apply("vlan: {a: {}, b: {require: 'Port[p]'}}\nport: {p: {require: 'Vlan[a]'}}\n");
    assert_eq!(device.state().providers, ["vlan", "port"]);
    assert_eq!(
        device
            .log()
            .iter()
            .filter(|line| line.starts_with("set vlan"))
            .count(),
        2
    );
}

#[test]
fn set_gets_values_in_their_one_form_and_titles_stay_as_they_are_written() {
    let device = Device::default();
    assert_eq!(
        device.apply("vlan: {BackBone: {}}"),
        ["Vlan[BackBone] changed created"]
    );
    let state = device.state();
    let held = state.rows.iter().map(|(_, row)| row.inspect().to_string());
    let held: Vec<String> = held.collect();
    assert_eq!(held.len(), 1);
    assert!(held[0].contains(r#":name=>"backbone""#), "{held:?}");
}

#[test]
fn set_is_called_for_what_differs_and_for_nothing_else() {
    let device = Device::holding("vlan: {a: {speed: 1}, b: {speed: 1}}");
    device.apply("vlan: {a: {speed: 1}, b: {speed: 2}}");
    assert_eq!(device.log(), ["get vlan a,b", "set vlan b", "get vlan b"]);
}

#[test]
fn under_noop_set_is_called_where_the_type_supports_it_and_nowhere_else() {
    let device = Device::default();
    let options = Options {
        mode: Mode::Noop,
        ..enforce()
    };
    let report = device.try_apply("vlan: {a: {}}\nlamp: {l: {}}\n", &options);
    let report = report.expect("it is right");
    let ends: Vec<String> = report.resources.iter().map(end).collect();
    let told = "noop ensure: current_value 'absent', should be 'present' (noop)";
    assert_eq!(ends, [format!("Vlan[a] {told}"), format!("Lamp[l] {told}")]);
    assert_eq!(device.log(), ["get vlan a", "get lamp l", "set lamp l"]);
    assert!(device.state().rows.is_empty());
    // One resource in noop mode, in a run that changes others.
    device.apply("lamp: {l: {noop: true}, m: {}}");
    let log = device.log();
    assert!(log.contains(&"set lamp l".to_owned()), "{log:?}");
    assert_eq!(device.state().rows.len(), 1);
}

#[test]
fn what_is_set_once_only_is_set_when_a_resource_is_made() {
    let device = Device::default();
    assert_eq!(
        device.apply("vlan: {a: {size: 1}}"),
        ["Vlan[a] changed created"]
    );
    assert_eq!(device.apply("vlan: {a: {size: 1}}"), ["Vlan[a] ok"]);
}
