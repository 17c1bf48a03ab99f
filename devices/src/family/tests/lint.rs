//! Tests of lint: what it finds, and that the built-in families are clean.

use super::folder;
use super::*;

#[test]
fn the_built_in_families_are_clean() {
    let mut found = Vec::new();
    // `cisco_ios` is being rewritten.
    for built_in in all().filter(|family| family.name() != "cisco_ios") {
        let findings = built_in.read().lint().expect("it is read");
        found.extend(
            findings
                .iter()
                .map(|finding| format!("{} [{}]", finding.problem, finding.rule)),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

const FAMILY: &str = r"name: acme
desc: ACME.
protocol: ssh_cli
dialect: { leave_config: end, newline: lf, enter_config: configure }
facts:
- command: show version
  textfsm: |
    Value VERSION (\S+)
    Value Required MODEL (\S+)
    Value SERIAL (\S+)

    Start
      ^${MODEL} ${VERSION} ${SERIAL} -> Record
  facts: { os.release.full: VERSION }
";

const TYPE: &str = r"name: acme_port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  mtu: { type: 'Optional[Integer]', desc: Its MTU. }
  text: { type: 'Optional[String]', desc: Its text. }
  mode: { type: 'Optional[String]' }
  # lint: not-read
  quiet: { type: 'Optional[String]', desc: Nothing reads it. }
canonicalize:
  name: name
  text: text ~ '.'
cli:
  get:
    command: show port
    textfsm: |
      Value NAME (\S+)
      Value MTU (\d+)
      Value TEXT (\S+)

      Start
        ^${NAME} ${MTU} ${TEXT} -> Record
    resource: { name: NAME, mtu: MTU, text: TEXT }
  create: |
    port {{ name }}
    {% if text is changed(is.text) and text != '.' %}
     text {{ text }}
    {% endif %}
    {% if quiet is changed(is.quiet) and quiet != '' %}
     quiet {{ quiet }}
    {% endif %}
";

#[test]
fn every_rule_finds_its_own() {
    let folder = folder(&[
        ("family.yaml", FAMILY),
        ("types/acme_port.yaml", TYPE),
        ("old.textfsm", "Value A (.)\n\nStart\n"),
        (
            "cases/set/case.yaml",
            "desc: x\ntype: acme_port\nchanges:\n- { title: p1, should: { text: a, quiet: b } }\n",
        ),
        ("cases/set/show ports.txt", ""),
    ]);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let findings = family.lint().expect("it is read");
    let found: Vec<String> = findings
        .iter()
        .map(|finding| {
            let text = format!("{} {}", finding.rule, finding.problem);
            text.replace(&format!("{}/", folder.path().display()), "")
        })
        .collect();
    let expected = [
        "unused-file cases/set/show ports.txt:1:1: nothing reads this output: expected `show port.txt`",
        "dead-key family.yaml:4:40: at dialect.newline: `lf` is the default: leave the key out",
        "no-case family.yaml:6:3: at facts: no case tests the facts: write one without `type` (`devgate family record` makes one of a device)",
        "unused-value family.yaml:10:5: at facts[0].textfsm: nothing uses the value `SERIAL`: use it, or leave it out",
        "unused-file old.textfsm:1:1: no `textfsm_file` names it: name it, or remove it",
        "no-case types/acme_port.yaml:1:1: no case tests what `acme_port` reads: write one with `type: acme_port` and the outputs of its commands",
        "no-example types/acme_port.yaml:1:1: there is no `example`: `type show` and messages about titles show it (`example: { TITLE: { attribute: value } }`)",
        "not-written types/acme_port.yaml:5:8: at attributes.mtu: no change writes `mtu`: write it, or declare `behaviour: read_only`",
        "clears-nothing types/acme_port.yaml:6:9: at attributes.text: `text: \"\"` is permitted, but where the device has a value it changes nothing: type a line that clears it, or do not permit it",
        "no-example types/acme_port.yaml:7:9: at attributes.mode: `mode` has no `desc`: say in a sentence what it is",
        "not-read types/acme_port.yaml:7:9: at attributes.mode: no `get` reads `mode`, so every run would set it: read it, or declare `behaviour: parameter`",
        "not-written types/acme_port.yaml:7:9: at attributes.mode: no change writes `mode`: write it, or declare `behaviour: read_only`",
        "clears-nothing types/acme_port.yaml:9:10: at attributes.quiet: `quiet: \"\"` is permitted, but where the device has a value it changes nothing: type a line that clears it, or do not permit it",
        "dead-key types/acme_port.yaml:11:9: at canonicalize.name: it leaves the value as it is: leave the key out",
        "not-idempotent types/acme_port.yaml:12:9: at canonicalize.text: the canonical form of \"a\" is \"a.\", and that of this \"a..\": make it the same",
    ];
    assert_eq!(found, expected);
}
