//! Tests of families that take their types from another one.

use super::folder;
use super::*;

const PORTS: &str = r"name: acme_port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  mtu: { type: 'Optional[Integer]', desc: Its MTU. }
rest:
  get: { ask: /ports, values: { NAME: name, MTU: mtu }, resource: { name: NAME, mtu: MTU } }
  create: { method: PUT, path: '/ports/{{ name }}', body: { mtu: mtu } }
cli:
  get: { command: show ports, textfsm_file: ports.textfsm, resource: { name: NAME, mtu: MTU } }
  create: port {{ name }} mtu {{ mtu }}
";

const TEMPLATE: &str =
    "Value NAME (\\S+)\nValue MTU (\\d+)\n\nStart\n  ^${NAME} ${MTU} -> Record\n\nEOF\n";

#[test]
fn one_type_serves_families_of_two_protocols() {
    let folder = folder(&[
        ("acme/family.yaml", "name: acme\ndesc: x\nprotocol: rest\n"),
        ("acme/types/acme_port.yaml", PORTS),
        ("acme/ports.textfsm", TEMPLATE),
        (
            "acme_cli/family.yaml",
            "name: acme_cli\ndesc: x\nprotocol: ssh_cli\ntypes_of: acme\ndialect: {}\n",
        ),
    ]);
    for (family, query) in [("acme", "/ports"), ("acme_cli", "show ports")] {
        let family = Family::load(&folder.path().join(family));
        let family = family.unwrap_or_else(|error| panic!("{error}"));
        let mut types = family.types();
        assert_eq!(types.next().expect("a type").commands(), [query]);
        assert!(types.next().is_none());
    }
}

#[test]
fn types_of_a_built_in_family_can_be_taken_and_an_unknown_one_is_refused() {
    let file = "name: acme_frr\ndesc: x\nprotocol: ssh_cli\ndialect: {}\ntypes_of: ";
    let load = |other: &str| {
        let file = format!("{file}{other}\n");
        Family::load(folder(&[("family.yaml", &file)]).path())
    };
    let family = load("frr").unwrap_or_else(|error| panic!("{error}"));
    assert!(
        family
            .types()
            .any(|kind| kind.schema().name() == "frr_interface")
    );
    let refused = load("frrr").expect_err("there is none").to_string();
    assert!(
        refused.contains("family.yaml:5:11: at types_of: there is no such family"),
        "{refused}"
    );
}
