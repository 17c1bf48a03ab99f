//! Tests of the built-in families, with every file and every case, and of valid and invalid families of
//! modules.

mod harmless;
mod like;
mod lint;
mod on_device;
mod parts;
mod patterns;
mod recordings;
mod skeletons;
mod sources;
mod types_of;

use std::env;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use devgate_schemas::Value;
use devgate_transports::{Connect, Context, RetryBudget, Transport};

use super::expected::pretty;
use super::recording::{outputs_in, similar};
use super::session::Session;
use super::*;
use crate::UpdateExpected;
use crate::declared::DeclaredType;
use crate::fake::{EventLog, FakeSession};
use crate::source::has_command_line;
use crate::{Error, ResourceType, Result};

fn built_in(name: &str) -> Family {
    let found = all().find(|family| family.name() == name);
    found.expect("it is built in").read()
}

#[test]
fn every_case_of_every_built_in_family_comes_out_as_expected() {
    let update = env::var_os("UPDATE").is_some();
    let refresh = if update {
        UpdateExpected::Yes
    } else {
        UpdateExpected::No
    };
    let mut wrong = Vec::new();
    for built_in in all() {
        let family = built_in.read();
        assert_eq!(family.name(), built_in.name());
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("families")
            .join(family.name());
        let on_disk = Family::load(&folder).unwrap_or_else(|error| panic!("{error}"));
        // What is read later is the same.
        let types = |family: &Family| -> Vec<String> {
            let types = family.types().map(|kind| kind.schema().name().to_owned());
            types.collect()
        };
        assert_eq!(types(&family), types(&on_disk));
        assert!(family.fact_commands().eq(on_disk.fact_commands()));
        let cases = on_disk
            .test(refresh, Comparison::Whole)
            .unwrap_or_else(|error| panic!("{error}"));
        for case in &cases {
            if let Err(difference) = &case.outcome {
                wrong.push(format!("{}/{}: {difference}", family.name(), case.name));
            }
        }
        // Types that are another family's, in the same form, have their cases there.
        let others = family.folder.of_types().into_iter().skip(1);
        let others = others.filter_map(|other| Family::read(other).ok());
        let mut others = others.filter(|other| {
            has_command_line(other.protocol()) == has_command_line(family.protocol())
        });
        let types = match others.next() {
            Some(_) => &[][..],
            None => &family.types,
        };
        for kind in types {
            let name = kind.schema().name();
            let of_type = cases
                .iter()
                .filter(|case| case.name.starts_with(name))
                .count();
            assert!(of_type >= 2, "{name} has {of_type} cases, and needs two");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Creates a folder on disk with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().expect("it has one")).expect("made");
        fs::write(file, text).expect("written");
    }
    folder
}

#[test]
fn all_problems_of_a_family_are_reported_at_once_with_their_locations() {
    let folder = folder(&[
        (
            "family.yaml",
            r"name: acme
description: x
protocol: shh_cli
dialect: { promt: { exec: x } }
facts:
- command: show version
  textfsm: |
    Value VERSION (\S+)

    Start
      ^V ${VERSION} -> Record
  facts: { os.name: VERSOIN, os.release.full: VERSION | }
",
        ),
        (
            "types/acme_vlan.yaml",
            "name: acme_lan
desc: x
attributes:
  id: { type: Integr, behaviour: namevar }
  name: { type: String, behavior: namvar }
cli:
  gett: {}
",
        ),
        (
            "types/acme_port.yaml",
            r"name: acme_port
desc: x
attributes:
  name: { type: String, behaviour: namevar }
cli:
  get:
    command: show port
    textfsm: |
      Value NAME (\S+)

      Start
    resource: { name: NAME, speed: 1 }
  create: |
    port {{ name }}
    {% if sped %}
    speed
    {% endif %}
",
        ),
        ("types/acme_acl.yaml", "name: [\n"),
    ]);
    let error = Family::load(folder.path())
        .expect_err("much is wrong")
        .to_string();
    let error = error.replace(&format!("{}/", folder.path().display()), "");
    let expected = "\
family.yaml:2:1: unknown key `description`; expected one of name, desc, protocol, types_of, connection_info, groups, names, dialect, facts, checkpoint, textfsm_platform, rest
family.yaml:1:1: missing key `desc`
family.yaml:4:12: at dialect: unknown key `promt`; did you mean `prompt`?
family.yaml:3:11: at protocol: there is no protocol `shh_cli`; did you mean `ssh_cli`?
family.yaml:12:21: at facts[0].facts.os.name: `VERSOIN` is not known here; did you mean `VERSION`?; known are VERSION
family.yaml:12:47: at facts[0].facts.os.release.full: unexpected end of input, expected identifier
types/acme_acl.yaml:1:7: at name: unclosed bracket '['
types/acme_port.yaml:12:36: at cli.get.resource.speed: `acme_port` has no attribute `speed`; expected one of name
types/acme_port.yaml:15:5: at cli.create: `sped` is not known here; known are name, is, should, facts
types/acme_vlan.yaml:4:15: at attributes.id.type: the type of `acme_lan.id` references an unresolved type 'Integr': only Puppet's own data types are known here
types/acme_vlan.yaml:5:9: at attributes.name: `namvar` is not a valid behaviour value
types/acme_vlan.yaml:7:3: at cli: unknown key `gett`; did you mean `get`?";
    assert_eq!(error, expected);
}

#[test]
fn a_family_needs_its_file() {
    let error = Family::load(folder(&[]).path()).expect_err("it is empty");
    assert!(matches!(error, Error::File { what: "read", .. }));
}

#[test]
fn a_family_of_a_module_is_tested_and_its_expectations_refreshed() {
    let folder = folder(&[
        (
            "family.yaml",
            "{name: acme, desc: ACME, protocol: ssh_cli, dialect: {enter_config: configure}}",
        ),
        (
            "types/acme_vlan.yaml",
            r"name: acme_vlan
desc: A VLAN.
attributes:
  id: { type: Integer, behaviour: namevar, desc: Its number. }
title_patterns: ['\A(?<id>\d+)\z']
cli:
  get:
    command: show vlan | brief
    textfsm_file: vlan.textfsm
    resource: { id: ID }
  create: vlan {{ id }}
",
        ),
        (
            "vlan.textfsm",
            "Value ID (\\d+)\n\nStart\n  ^${ID} -> Record\n\nEOF\n",
        ),
        ("cases/one/case.yaml", "desc: One VLAN.\ntype: acme_vlan\n"),
        ("cases/one/show vlan _ brief.txt", "VLANs\n10 users\n"),
    ]);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let outcome = |refresh| {
        let cases = family
            .test(refresh, Comparison::Whole)
            .unwrap_or_else(|error| panic!("{error}"));
        cases
            .into_iter()
            .map(|case| case.outcome)
            .next()
            .expect("there is a case")
    };
    let missing = outcome(UpdateExpected::No).expect_err("nothing is expected yet");
    assert!(missing.contains("cases/one/resources.json"), "{missing}");
    assert_eq!(outcome(UpdateExpected::Yes), Ok(()));
    assert_eq!(outcome(UpdateExpected::No), Ok(()));
    let expected = folder.path().join("cases/one/resources.json");
    let text = fs::read_to_string(&expected).expect("it was written");
    fs::write(&expected, text.replace("10", "20")).expect("written");
    let difference = outcome(UpdateExpected::No).expect_err("it differs");
    assert_eq!(
        difference,
        "line 3: expected `    \"id\": 20`, found `    \"id\": 10`"
    );
    let output = folder.path().join("cases/one/show vlan _ brief.txt");
    fs::rename(&output, folder.path().join("cases/one/show vlan.txt")).expect("renamed");
    let difference = outcome(UpdateExpected::No).expect_err("nothing is read");
    let expected =
        "there is no cases/one/show vlan _ brief.txt with the answer to `show vlan | brief`";
    assert!(difference.ends_with(expected), "{difference}");
}

#[tokio::test]
async fn a_command_that_is_refused_loses_no_facts_but_its_own() {
    let family = built_in("frr");
    let output = "FRRouting 8.4.4 (r1.example.org).\nstatic 00:07:20 00:06:10 00:06:10 1/1 0/0\n";
    let inner = FakeSession::with_output(output, "show interface");
    let session = Session::new(Box::new(inner), Arc::clone(&family.facts));
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let facts = session
        .facts(&Context::new("r1", &events, &retry_budget))
        .await
        .expect("some facts");
    let fact = |path| facts.get(path).and_then(Value::as_str);
    assert_eq!(fact("os.release.full"), Some("8.4.4"));
    assert_eq!(fact("networking.domain"), Some("example.org"));
    assert_eq!(fact("hostname"), Some("r1"));
    assert_eq!(fact("networking.interfaces"), None);
    let expected =
        "warning: facts of `show interface` are omitted: fake:22 refuses `show interface`: % no";
    assert_eq!(events.into_lines(), [expected]);
}

/// Returns the files in a page: each code block that begins with its path.
fn files_in(page: &str) -> Vec<(&str, &str)> {
    let blocks = page.split("```").skip(1).step_by(2);
    let file = |block: &'_ str| -> Option<(usize, usize)> {
        let start = block.find("\n# ")? + 3;
        Some((start, start + block[start..].find('\n')?))
    };
    let files = blocks.filter_map(|block| {
        let (start, end) = file(block)?;
        Some((&block[start..end], &block[end + 1..]))
    });
    files.collect()
}

#[test]
fn the_example_in_the_readme_works() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"));
    let folder = folder(&files_in(&readme.expect("it is there")));
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let resources = r#"[
  {
    "id": 10,
    "name": "users",
    "ensure": "present"
  },
  {
    "id": 20,
    "ensure": "present"
  }
]
"#;
    fs::write(folder.path().join("cases/vlans/resources.json"), resources).expect("written");
    let recorded = outputs_in(&folder.path().join("cases/facts")).expect("it has outputs");
    let output = |command: &str| similar(&recorded, command);
    let facts = family.facts_of(output, |problem| panic!("{problem}"));
    assert_eq!(
        serde_json::json!(facts),
        serde_json::json!({
            "os": {"name": "AcmeOS", "release": {"full": "1.2"}},
            "system_uptime": {"seconds": 93_780},
            "networking": {"interfaces": {"e1": {"mtu": 1500}, "e1.10": {"mtu": 1400}}},
            "operatingsystem": "AcmeOS",
            "operatingsystemrelease": "1.2",
            "uptime_seconds": 93_780,
        })
    );
    let facts = pretty(&serde_json::json!({ "facts": facts }));
    fs::write(folder.path().join("cases/facts/facts.json"), facts).expect("written");
    let cases = family
        .test(UpdateExpected::No, Comparison::Whole)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(cases.len(), 3);
    for case in cases {
        assert_eq!(case.outcome, Ok(()), "{}", case.name);
    }
    assert_eq!(family.lint().expect("it is read"), []);
}

#[test]
fn a_family_extends_the_connection_info_of_its_protocol() {
    let folder = folder(&[(
        "family.yaml",
        "name: acme
desc: ACME
protocol: ssh_cli
connection_info:
  port: { default: 8022 }
  site: { type: 'Optional[String[1]]', desc: Where it stands. }
  rack: { type: 'Optional[String[1]]', desc: In which rack. }
groups:
  - all_or_none_of: [site, rack]
",
    )]);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(family.protocol(), "ssh_cli");
    let read = |pairs: serde_json::Value| {
        let Value::Hash(pairs) = Value::from(pairs) else {
            panic!("a hash")
        };
        let raw = devgate_schemas::RawConnectionInfo::new(pairs);
        family.schema().read(raw, |_, _| {})
    };
    let info = read(serde_json::json!({"host": "h"})).expect("it fits");
    assert_eq!(info.integer("port"), Some(8022));
    let wrong = read(serde_json::json!({"host": "h", "rack": "r1"})).expect_err("half a group");
    assert!(
        wrong.to_string().contains("`rack` is given without `site`"),
        "{wrong}"
    );
}

#[test]
fn what_contradicts_the_protocol_is_refused_with_its_location() {
    let folder = folder(&[(
        "family.yaml",
        "name: acme
desc: ACME
protocol: ssh_cli
connection_info:
  port: { type: String }
  password: { sensitive: false }
groups: [{ exactly_one: [user, password] }]
",
    )]);
    let error = Family::load(folder.path()).expect_err("much is wrong");
    let error = error.to_string();
    for (location, message) in [
        (
            "family.yaml:5:17",
            "`String` admits what the protocol does not take as `port`",
        ),
        ("family.yaml:6:26", "its `sensitive` cannot be changed"),
        ("family.yaml:7:9", "did you mean `exactly_one_of`?"),
    ] {
        let found = error.lines().find(|line| line.contains(message));
        assert!(found.is_some_and(|line| line.contains(location)), "{error}");
    }
}
