//! Tests of sources with recorded answers.

use devgate_schemas::Value;
use serde_json::{Value as Json, json};

use super::*;
use crate::file_node::YamlFile;

fn read(yaml: &str, protocol_kind: ProtocolKind) -> (Option<Source>, Vec<String>) {
    let file = YamlFile::parse("family.yaml", yaml).expect("it is YAML");
    let mut problems = Problems::new();
    let no_file = |_: &str| Ok(String::new());
    let source = Source::read(
        &file.top(),
        protocol_kind,
        &["facts"],
        &no_file,
        &mut problems,
    );
    (source, problems.iter().map(ToString::to_string).collect())
}

fn source(yaml: &str, protocol_kind: ProtocolKind) -> Source {
    let (source, problems) = read(yaml, protocol_kind);
    assert_eq!(problems, [""; 0]);
    source.expect("nothing is wrong")
}

/// Returns the rows in these answers.
fn rows(source: &Source, recorded: &[(&str, &str)]) -> Result<Json> {
    let mut answers = Answers::default();
    let find = |query: &str| {
        recorded
            .iter()
            .find(|(name, _)| *name == query)
            .map(|(_, text)| *text)
    };
    source.replay(&mut answers, find)?;
    let rows = source.rows(&answers, &|_| true)?;
    Ok(rows
        .iter()
        .map(|row| Value::Hash(row.values().clone()).to_json())
        .collect())
}

const VRFS: &str = r"
each:
  command: show vrf
  textfsm: |
    Value Required VRF (\S+)

    Start
      ^${VRF} -> Record
command: show ip route vrf {{ VRF }}
textfsm: |
  Value Required PREFIX (\S+)

  Start
    ^${PREFIX} -> Record
";

#[test]
fn a_command_is_asked_for_each_row_of_another() {
    let source = source(VRFS, ProtocolKind::Commands);
    assert_eq!(
        source.queries(),
        ["show vrf", "show ip route vrf {{ VRF }}"]
    );
    let answers = [
        ("show vrf", "red\nblue\n"),
        ("show ip route vrf red", "10.0.0.0/8\n"),
        ("show ip route vrf blue", "10.0.0.0/8\n10.1.0.0/16\n"),
    ];
    let expected = json!([
        { "PREFIX": "10.0.0.0/8", "VRF": "red" },
        { "PREFIX": "10.0.0.0/8", "VRF": "blue" },
        { "PREFIX": "10.1.0.0/16", "VRF": "blue" },
    ]);
    assert_eq!(rows(&source, &answers).expect("rows"), expected);
    let known = |known: usize| {
        let find = |query: &str| {
            let mut answers = answers[..known].iter();
            answers
                .find(|(name, _)| *name == query)
                .map(|(_, text)| *text)
        };
        let unanswered = source.unanswered(find).into_iter();
        unanswered.map(|one| one.query).collect::<Vec<_>>()
    };
    assert_eq!(known(0), ["show vrf"]);
    assert_eq!(
        known(1),
        ["show ip route vrf red", "show ip route vrf blue"]
    );
    assert_eq!(known(3), [""; 0]);
    let evil = rows(&source, &[("show vrf", "red|redirect\n")]);
    let error = evil.expect_err("it would be another command").to_string();
    assert!(
        error.contains("at command: `VRF`: a value with '|' does not name something"),
        "{error}"
    );
}

const HOSTS: &str = r"
command: show version
textfsm: |
  Value Required HOST (\S+)

  Start
    ^host ${HOST} -> Record
join:
  - command: show hosts
    textfsm: |
      Value Required DOMAIN (\S+)

      Start
        ^domain ${DOMAIN} -> Record
";

#[test]
fn rows_come_from_two_commands() {
    let source = source(HOSTS, ProtocolKind::Commands);
    let joined = |hosts| {
        rows(
            &source,
            &[("show version", "host r1\n"), ("show hosts", hosts)],
        )
    };
    let expected = json!([{ "HOST": "r1", "DOMAIN": "example.net" }]);
    assert_eq!(joined("domain example.net\n").expect("rows"), expected);
    assert_eq!(
        joined("").expect("rows"),
        json!([{ "HOST": "r1", "DOMAIN": null }])
    );
    let error = joined("domain a\ndomain b\n")
        .expect_err("which one")
        .to_string();
    assert!(
        error.contains("`show hosts`, row 2: expected one row, or `on`"),
        "{error}"
    );
}

#[test]
fn the_output_of_a_command_is_data() {
    let values = "rows: interfaces/*\nvalues: { NAME: '@key', MTU: mtu }\n";
    let piped = source(
        &format!("command: show interfaces | json\n{values}"),
        ProtocolKind::Commands,
    );
    let asked = source(
        &format!("ask: show interfaces\n{values}"),
        ProtocolKind::CommandApi,
    );
    let output = r#"{ "interfaces": { "Ethernet1": { "mtu": 9214 }, "Ethernet2": {} } }"#;
    let expected =
        json!([{ "NAME": "Ethernet1", "MTU": 9214 }, { "NAME": "Ethernet2", "MTU": null }]);
    for source in [piped, asked] {
        assert_eq!(source.queries(), ["show interfaces | json"]);
        assert_eq!(
            rows(&source, &[("show interfaces | json", output)]).expect("rows"),
            expected
        );
        assert_eq!(rows(&source, &[]).expect("no answer"), json!([]));
        let error = rows(&source, &[("show interfaces | json", "% no")]).expect_err("no JSON");
        assert!(
            error.to_string().contains("neither JSON nor XML"),
            "{error}"
        );
    }
    let xml = source(
        "command: show interfaces | display xml\nrows: interface-information/*\nvalues: { NAME: name, KIND: '@key' }\n",
        ProtocolKind::Commands,
    );
    let output = "<rpc-reply><interface-information><physical-interface><name>\nge-0/0/0\n</name>\
                  </physical-interface></interface-information></rpc-reply>";
    assert_eq!(
        rows(&xml, &[("show interfaces | display xml", output)]).expect("rows"),
        json!([{ "NAME": "ge-0/0/0", "KIND": "physical-interface" }])
    );
}

#[test]
fn what_a_device_may_refuse_needs_no_answer() {
    for (optional, missing) in [("", Some("show hosts")), ("    optional: true\n", None)] {
        let source = source(&format!("{HOSTS}{optional}"), ProtocolKind::Commands);
        assert_eq!(source.missing(&|query| query == "show version"), missing);
        let unanswered = source.unanswered(|_| None);
        let is_optional: Vec<bool> = unanswered.iter().map(|one| one.is_optional).collect();
        assert_eq!(is_optional, [false, missing.is_none()]);
        let found = rows(&source, &[("show version", "host r1\n")]);
        assert_eq!(
            found.expect("rows"),
            json!([{ "HOST": "r1", "DOMAIN": null }])
        );
    }
}

#[test]
fn rpcs_and_posts_are_asked() {
    let rpc = source(
        "ask: rpc <get-system-information/>\nrows: '**/system-information'\nvalues: { MODEL: hardware-model }\n",
        ProtocolKind::Netconf,
    );
    let element = "<system-information><hardware-model>ex</hardware-model></system-information>";
    for answer in [
        element.to_owned(),
        format!("<rpc-reply>{element}</rpc-reply>"),
        format!(
            "<multi-routing-engine-results><multi-routing-engine-item>{element}\
                 </multi-routing-engine-item></multi-routing-engine-results>"
        ),
    ] {
        let recorded = [("rpc <get-system-information/>", answer.as_str())];
        assert_eq!(
            rows(&rpc, &recorded).expect("rows"),
            json!([{ "MODEL": "ex" }])
        );
    }
    let post = source(
        "each: { ask: /vrfs, rows: vrfs, values: { VRF: . } }\n\
         ask: { path: /jsonrpc, body: { method: \"'get'\", params: { vrf: VRF } } }\n\
         rows: result\nvalues: { PREFIX: prefix }\n",
        ProtocolKind::Rest,
    );
    let query = r#"POST /jsonrpc {"method":"get","params":{"vrf":"red"}}"#;
    let answers = [
        ("/vrfs", r#"{ "vrfs": ["red"] }"#),
        (query, r#"{ "result": [{ "prefix": "10.0.0.0/8" }] }"#),
    ];
    let expected = json!([{ "PREFIX": "10.0.0.0/8", "VRF": "red" }]);
    assert_eq!(rows(&post, &answers).expect("rows"), expected);
}

#[test]
fn what_is_wrong_is_reported_with_its_location() {
    for (yaml, protocol_kind, expected) in [
        (
            "command: a",
            ProtocolKind::Commands,
            "family.yaml:1:1: missing key `textfsm`, or",
        ),
        (
            "ask: a\nvalues: {}",
            ProtocolKind::Commands,
            "family.yaml:1:6: at ask: this protocol has no data",
        ),
        (
            "command: a\nask: a\nvalues: {}",
            ProtocolKind::CommandApi,
            "family.yaml:2:6: at ask: `command` and `ask` exclude each other",
        ),
        (
            "command: a\ntextfsm: x\nvalues: {}",
            ProtocolKind::Commands,
            "family.yaml:2:10: at textfsm: expected `values`, or a `command` with TextFSM",
        ),
        (
            "command: a\nvalues: {}",
            ProtocolKind::Rest,
            "family.yaml:1:1: unknown key `command`",
        ),
        (
            "ask: { path: /, methd: GET }\nvalues: {}",
            ProtocolKind::Rest,
            "did you mean `method`?",
        ),
        (
            "ask: { path: / }\nvalues: {}",
            ProtocolKind::Netconf,
            "at ask: expected a text, found a mapping",
        ),
        (
            "ask: /\nrows: a\nvalues: { A: ../../b }",
            ProtocolKind::Rest,
            "at values.A: `../../b` leads out of the answer: `rows` has 1 levels",
        ),
        (
            "ask: /\nrows: ../a\nvalues: {}",
            ProtocolKind::Rest,
            "at rows: `../a` is no path of rows",
        ),
        (
            "ask: /\noptional: x\nvalues: {}",
            ProtocolKind::Rest,
            "at optional: expected true or false",
        ),
        (
            "each: { command: a, values: { A: a } }\ncommand: 'show {{ B }}'\nvalues: {}",
            ProtocolKind::Commands,
            "family.yaml:2:10: at command: `B` is not known here",
        ),
    ] {
        let (_, problems) = read(yaml, protocol_kind);
        assert!(
            problems.iter().any(|one| one.contains(expected)),
            "{expected}: {problems:#?}"
        );
    }
}
