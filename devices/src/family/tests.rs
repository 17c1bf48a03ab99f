//! The built-in families: every file, every case; and what a wrong file is told.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::Refresh;

/// The folder of the built-in families, as on disk.
fn built_in(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("families")
        .join(name)
}

#[test]
fn every_case_of_every_built_in_family_comes_out_as_expected() {
    let refresh = if env::var_os("UPDATE").is_some() {
        Refresh::Yes
    } else {
        Refresh::No
    };
    let mut wrong = Vec::new();
    for family in all() {
        let on_disk = Family::load(&built_in(family.name())).unwrap_or_else(|e| panic!("{e}"));
        let cases = on_disk
            .test(refresh)
            .unwrap_or_else(|error| panic!("{error}"));
        for case in &cases {
            if let Err(difference) = &case.outcome {
                wrong.push(format!("{}/{}: {difference}", family.name(), case.name));
            }
        }
        for kind in &family.types {
            let name = kind.schema().name();
            let of_type = cases
                .iter()
                .filter(|case| case.name.starts_with(name))
                .count();
            assert!(of_type >= 3, "{name} has {of_type} cases, and needs three");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn everything_that_is_wrong_with_a_family_is_told_at_once_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(file, text).expect("written");
    };
    write(
        "family.yaml",
        "name: acme\ndescription: x\nprotocol: shh_cli\ndialect: { promt: { exec: x } }\nfacts:\n\
         - command: show version\n  textfsm: |\n    Value VERSION (\\S+)\n\n    Start\n\
         \x20     ^V ${VERSION} -> Record\n  facts: { os.name: VERSOIN, os.release.full: VERSION | }\n",
    );
    write(
        "types/acme_vlan.yaml",
        "name: acme_lan\ndesc: x\nattributes:\n  id: { type: Integr, behaviour: namevar }\n\
         \x20 name: { type: String, behavior: namvar }\ncli:\n  gett: {}\n",
    );
    write(
        "types/acme_port.yaml",
        "name: acme_port\ndesc: x\nattributes:\n  name: { type: String, behaviour: namevar }\n\
         cli:\n  get:\n    command: show port\n    textfsm: |\n      Value NAME (\\S+)\n\n      Start\n\
         \x20   resource: { name: NAME, speed: 1 }\n  create: |\n    port {{ name }}\n\
         \x20   {% if sped %}\n    speed\n    {% endif %}\n",
    );
    write("types/acme_acl.yaml", "name: [\n");
    let error = Family::load(folder.path())
        .expect_err("much is wrong")
        .to_string();
    let told: Vec<String> = error
        .replace(&format!("{}/", folder.path().display()), "")
        .lines()
        .map(str::to_owned)
        .collect();
    let expected = [
        "family.yaml:2:1: unknown key `description`; expected one of name, desc, protocol, dialect, \
         facts",
        "family.yaml:1:1: missing key `desc`",
        "family.yaml:4:12: at dialect: unknown key `promt`, did you mean `prompt`?",
        "family.yaml:3:11: at protocol: there is no protocol `shh_cli`; did you mean `ssh_cli`?",
        "family.yaml:12:21: at facts[0].facts.os.name: `VERSOIN` is not known here; did you mean \
         `VERSION`?; known are VERSION",
        "family.yaml:12:47: at facts[0].facts.os.release.full: unexpected end of input, expected \
         identifier",
        "types/acme_acl.yaml:1:7: at name: unclosed bracket '['",
        "types/acme_port.yaml:12:36: at cli.get.resource.speed: `acme_port` has no attribute \
         `speed`; expected one of name",
        "types/acme_port.yaml:15:5: at cli.create: `sped` is not known here; known are name, is, \
         should",
        "types/acme_vlan.yaml:4:15: at attributes.id.type: the type of `acme_lan.id` references an \
         unresolved type 'Integr': only Puppet's own data types are known here",
        "types/acme_vlan.yaml:5:9: at attributes.name: `namvar` is not a valid behaviour value",
        "types/acme_vlan.yaml:7:3: at cli: unknown key `gett`; did you mean `get`?",
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_family_needs_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Family::load(folder.path()).expect_err("it is empty");
    assert!(matches!(error, Error::File { what: "read", .. }));
}
