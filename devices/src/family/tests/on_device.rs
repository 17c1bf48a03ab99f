//! Tests of what depends on a device: facts, tables of names, words that mean no value.

use devgate_schemas::{Facts, Hash, Resource, Value};
use devgate_transports::{Mode, Resources};
use serde_json::json;

use super::*;
use crate::{Change, CurrentState, InSync, ResourceFilter, SecretVisibility};

const FAMILY: &str = r"name: acme
desc: ACME
protocol: ssh_cli
dialect: { enter_config: configure }
names:
  interface:
    - Ethernet
    - { '(?i)port (\d+)': 'Ethernet\1' }
  speed: { '(\d+)000(?: ?mbps)?': '\1g' }
facts:
  - command: show version
    textfsm: |
      Value MODEL (\S+)
      Value MAJOR (\d+)

      Start
        ^Model ${MODEL}
        ^Release ${MAJOR}
    facts: { dmi.product.name: MODEL, os.release.major: MAJOR }
";

const PORT: &str = r"name: acme_port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  mtu: { type: 'Optional[Variant[Integer, Enum[unset]]]', desc: Its MTU., unset: unset }
  speed:
    type: 'Optional[String]'
    desc: Its speed.
    when: facts.dmi.product.name is startingwith('X-') and facts.os.release.major | integer > 1
  poe: { type: 'Optional[Boolean]', desc: Power., when: facts.dmi.product.name is matching('(?i)p$') }
canonicalize: { name: name | interface, speed: speed | speed, mtu: mtu | abs }
cli:
  get:
    - command: show ports
      textfsm: |
        Value NAME (\S+)
        Value MTU (\d*)
        Value SPEED (\S+)

        Start
          ^${NAME} mtu ${MTU} speed ${SPEED} -> Record
      let: { FAST: SPEED | speed, FASTER: FAST ~ '' }
      resource: { name: NAME, mtu: MTU, speed: FASTER }
    - command: show power
      when: facts.dmi.product.name is endingwith('p')
      textfsm: |
        Value NAME (\S+)
        Value POE (\S+)

        Start
          ^${NAME} ${POE} -> Record
      resource: { name: NAME, poe: POE == 'on' }
  mode: interface {{ name }}
  lines:
    - { attribute: mtu, set: 'mtu {{ value }}', clear: no mtu }
    - attribute: speed
      set: >-
        {{ 'speed' if facts.os.release.major | integer > 5 else 'rate' }}
        {{ value if value != '9g' else fail('9g is no speed') }}
    - { attribute: poe, flag: power }
";

fn family(kind: &str) -> Result<Family> {
    Family::load(folder(&[("family.yaml", FAMILY), ("types/acme_port.yaml", kind)]).path())
}

fn facts(model: &str, major: &str) -> Facts {
    let mut facts = Facts::new();
    facts.set("dmi.product.name", Value::from(model));
    facts.set("os.release.major", Value::from(major));
    facts
}

fn hash(json: serde_json::Value) -> Hash {
    match Value::from(json) {
        Value::Hash(hash) => hash,
        _ => panic!("a hash"),
    }
}

fn change(is: serde_json::Value, should: serde_json::Value) -> (devgate_schemas::Name, Change) {
    let family = family(PORT).expect("it loads");
    let kind = family.types().next().expect("a type");
    let (name, should) = kind
        .schema()
        .desire(Some("port 1"), hash(should))
        .expect("it fits");
    let is = (!is.is_null()).then(|| hash(is));
    kind.canonical_change(&name, is, should).expect("canonical")
}

/// Returns the lines, or the error.
fn lines(
    facts: Option<&Facts>,
    is: serde_json::Value,
    should: serde_json::Value,
) -> std::result::Result<Vec<String>, String> {
    let family = family(PORT).expect("it loads");
    let kind = family.types().next().expect("a type");
    let (name, change) = change(is, should);
    kind.render(&name, &change, facts, SecretVisibility::Redacted)
        .map_err(|error| {
            error
                .to_string()
                .replace(&family.file().replace("family.yaml", ""), "")
        })
}

#[test]
fn facts_decide_what_is_written() {
    let wanted = || json!({"speed": "10000mbps"});
    let typed = |facts: Option<Facts>| lines(facts.as_ref(), json!(null), wanted());
    let line = |speed: &str| Ok(vec!["interface Ethernet1".to_owned(), speed.to_owned()]);
    assert_eq!(typed(Some(facts("X-1", "4"))), line(" rate 10g"));
    assert_eq!(typed(Some(facts("X-1", "6"))), line(" speed 10g"));
    let without = typed(None).expect_err("a fact is needed");
    assert!(
        without.contains("types/acme_port.yaml:38:9: at cli.lines[1].set: `facts.os`"),
        "{without}"
    );
    assert!(without.contains("give them with `--facts`"), "{without}");
}

#[test]
fn what_a_model_does_not_have_is_refused_with_the_condition() {
    assert_eq!(
        lines(Some(&facts("Y-1", "4")), json!(null), json!({"speed": "10g"})),
        Err(
            "`speed` does not exist on this device: `facts.dmi.product.name is startingwith('X-') and \
             facts.os.release.major | integer > 1` is false, `facts.dmi.product.name` is \"Y-1\", \
             `facts.os.release.major` is \"4\""
                .to_owned()
        )
    );
    let unknown = lines(Some(&Facts::new()), json!(null), json!({"poe": true}));
    let unknown = unknown.expect_err("the device is not known");
    assert!(
        unknown.ends_with("is false, `facts.dmi.product.name` is not known"),
        "{unknown}"
    );
    let other = lines(Some(&facts("Y-1", "4")), json!(null), json!({"mtu": 9000}));
    assert_eq!(
        other,
        Ok(vec![
            "interface Ethernet1".to_owned(),
            " mtu 9000".to_owned()
        ])
    );
    // Before a device is known, it has everything.
    let family = family(PORT).expect("it loads");
    let kind = family.types().next().expect("a type");
    let (name, change) = change(json!(null), json!({"speed": "10g"}));
    kind.check(&name, &change.should.expect("it is wanted"))
        .expect("it can be written");
    assert!(kind.uses_facts());
}

#[test]
fn a_family_refuses_in_its_own_words() {
    assert_eq!(
        lines(
            Some(&facts("X-1", "4")),
            json!(null),
            json!({"speed": "9000"})
        ),
        Err("9g is no speed: nothing was sent".to_owned())
    );
}

#[test]
fn a_word_means_no_value() {
    let typed = |is, should| lines(None, is, should).expect("lines");
    assert_eq!(
        typed(json!({"mtu": 9000}), json!({"mtu": "unset"})),
        ["interface Ethernet1", " no mtu"]
    );
    assert_eq!(
        typed(json!({}), json!({"mtu": "unset"})),
        ["interface Ethernet1"]
    );
    assert_eq!(
        typed(json!({"mtu": "unset"}), json!({"mtu": 1})),
        ["interface Ethernet1", " mtu 1"]
    );
}

#[tokio::test]
async fn a_word_for_no_value_is_in_sync_with_nothing() {
    let family = family(PORT).expect("it loads");
    let kind = family.types().next().expect("a type");
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let ctx = Context::new("sw1", &events, &retry_budget);
    let (name, change) = change(json!(null), json!({"mtu": "unset"}));
    let should = change.should.expect("it is wanted");
    let mut provider = kind.provider();
    let mut is = Resource::new();
    let verdict = provider.insync(&ctx, &name, "mtu", &is, &should).await;
    assert_eq!(verdict.expect("a verdict"), InSync::Yes);
    is.set("mtu", Value::from(9000));
    let verdict = provider.insync(&ctx, &name, "mtu", &is, &should).await;
    assert_eq!(verdict.expect("a verdict"), InSync::ByValue);
}

#[test]
fn facts_decide_what_is_read() {
    let family = family(PORT).expect("it loads");
    let kind = &family.types[0];
    let read = |facts: Option<&Facts>| {
        let output = |command: &str| match command {
            "show ports" => Some("Port 1 mtu 1500 speed 10000\n"),
            _ => Some("e1 on\n"),
        };
        let output = |command: &str| output(command).map(|text| text.trim_start_matches("Port "));
        json!(kind.resources(output, facts).expect("it is read"))
    };
    assert_eq!(
        read(Some(&facts("Y-1", "4"))),
        json!([{"name": "1", "mtu": 1500}])
    );
    assert_eq!(
        read(Some(&facts("X-1p", "4"))),
        json!([{"name": "1", "mtu": 1500, "speed": "10g"}, {"name": "Ethernet1", "poe": true}])
    );
    assert_eq!(read(None), read(Some(&facts("X-1p", "4"))));
}

#[tokio::test]
async fn a_device_without_the_type_has_none_and_takes_none() {
    let kind = PORT.replace(
        "desc: A port.\n",
        "desc: A port.\nwhen: facts.os.release.major == '4'\n",
    );
    let family = family(&kind).expect("it loads");
    let kind = family.types().next().expect("a type");
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let session = FakeSession {
        output: "1 mtu 1500 speed 10000\n",
        ..FakeSession::default()
    };
    let facts = [facts("X-1", "4"), facts("X-1", "5")];
    let resources = Resources::new(kind.schema(), Mode::Noop);
    let mut found = Vec::new();
    for facts in &facts {
        let ctx = Context::new("sw1", &events, &retry_budget);
        let ctx = ctx.with_transport(&session);
        let ctx = ctx.with_facts(Some(facts));
        let ctx = ctx.for_resources(&resources);
        let rows = kind.provider().get(&ctx, ResourceFilter::All).await;
        found.push(rows.expect("it is read").len());
    }
    assert_eq!(found, [1, 0]);
    assert_eq!(
        session.typed(),
        ["> show ports"],
        "and nothing is asked without the type"
    );
    let (name, change) = change(json!(null), json!({"mtu": 1}));
    let refused = kind.render(&name, &change, Some(&facts[1]), SecretVisibility::Redacted);
    assert_eq!(
        refused.expect_err("it is not there").to_string(),
        "type `acme_port` does not exist on this device: `facts.os.release.major == '4'` is false, \
         `facts.os.release.major` is \"5\""
    );
    let change = Change {
        is: CurrentState::Absent,
        ..change
    };
    kind.render(&name, &change, Some(&facts[0]), SecretVisibility::Redacted)
        .expect("it is there");
}

#[test]
fn mistakes_are_found_when_a_family_is_loaded() {
    let mistake = |from: &str, to: &str| {
        assert!(PORT.contains(from), "{from}");
        let error = family(&PORT.replace(from, to))
            .expect_err("refused")
            .to_string();
        error
            .split("acme_port.yaml:")
            .nth(1)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    for (from, to, message) in [
        (
            "when: facts.dmi.product.name is matching('(?i)p$')",
            "when: name == 'x'",
            "at attributes.poe.when: `name` is not known here; known are facts",
        ),
        (
            "when: facts.dmi.product.name is matching('(?i)p$')",
            "when: true",
            "at attributes.poe.when: expected a condition over `facts`",
        ),
        (
            "desc: Power.,",
            "desc: Power., default: true,",
            "at attributes.poe.when: an attribute with a `default`",
        ),
        (
            "unset: unset }",
            "unset: none }",
            "at attributes.mtu.unset: `none` is no value of `mtu`",
        ),
        (
            "FASTER: FAST ~ ''",
            "SPEED: FAST",
            "at cli.get[0].let.SPEED: `SPEED` stands for something else here",
        ),
        (
            "name | interface",
            "name | interfce",
            "at canonicalize.name: there is no filter `interfce`; did you mean `interface`?",
        ),
    ] {
        let error = mistake(from, to);
        assert!(error.contains(message), "{error}");
    }
    let without_table = FAMILY.replace("interface:", "interfaces:");
    let files = [
        ("family.yaml", &*without_table),
        ("types/acme_port.yaml", PORT),
    ];
    let error = Family::load(folder(&files).path())
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("the family has no table of names for `interface`"),
        "{error}"
    );
    let taken = FAMILY
        .replace("speed:", "lower:")
        .replace("'(\\d+)000", "'(");
    let error = Family::load(folder(&[("family.yaml", &taken)]).path())
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("family.yaml:9:10: at names.lower: there is a filter `lower` already"),
        "{error}"
    );
    assert!(error.contains("family.yaml:9:"), "{error}");
}

#[test]
fn a_case_gives_the_facts_of_its_device() {
    let case = "desc: x\ntype: acme_port\nfacts: { dmi: { product: { name: X-1 } }, os: { release: { major: '6' } } }\n\
                changes:\n- { title: port 1, should: { speed: '10000' } }\n";
    let folder = folder(&[
        ("family.yaml", FAMILY),
        ("types/acme_port.yaml", PORT),
        ("cases/one/case.yaml", case),
        ("cases/one/lines.txt", "interface Ethernet1\n speed 10g\n"),
        ("cases/two/case.yaml", &case.replace("X-1", "Y-1")),
        (
            "cases/two/error.txt",
            "`speed` does not exist on this device: `facts.dmi.product.name is startingwith('X-') \
          and facts.os.release.major | integer > 1` is false, `facts.dmi.product.name` is \"Y-1\", \
          `facts.os.release.major` is \"6\"\n",
        ),
    ]);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    for case in family
        .test(UpdateExpected::No, Comparison::Whole)
        .expect("it runs")
    {
        assert_eq!(case.outcome, Ok(()), "{}", case.name);
    }
}
